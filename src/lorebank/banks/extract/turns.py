"""Turns of a conversation made into memories: what is dropped, merged and split.

One memory a turn, `Speaker: words`, the words kept as they were said. A very short answer joins the
question before it, because it means nothing alone; the two make one memory and no other. A long turn is
split at sentence borders, each part with the speaker. System prompts are dropped; tool output is cut to its
beginning (the chunk keeps all).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from lorebank.banks.extract.chatter import is_bare_answer, is_chatter, is_small, words_of
from lorebank.banks.extract.drafts import Draft, in_parts, size_in_words
from lorebank.banks.extract.source import Conversation, Turn
from lorebank.banks.extract.split import pieces
from lorebank.banks.extract.transcript import ROLES

MAX_TURN_WORDS = 120
MAX_TOOL_SIGNS = 800
SHORT_ANSWER_WORDS = 3
_MAX_QUESTION_WORDS = 60
_SMALL_WORDS = 4
_QUESTION_MARKS = "?？؟"
_FIRST_PERSON = re.compile(
    r"\b(?:I|I['’](?:m|ve|ll|d)|we|We|my|My|ich|Ich|mein|ben|Ben)\b|我|私|俺|僕|저는|제가|나는|내가|ฉัน|ผม|أنا|لقد"
)
AGENT_ROLES = frozenset(("assistant", "ai", "bot", "agent", "model"))
TOOL_ROLES = frozenset(("tool", "function"))
SYSTEM_ROLES = frozenset(("system", "developer"))


def drafts_of(conversation: Conversation, agent_name: str | None) -> tuple[list[Draft], int]:
    """The memories of a conversation, and how many turns were dropped."""
    people = name_words(speakers(conversation))
    drafts: list[Draft] = []
    dropped = 0
    question: Draft | None = None
    for index, turn in enumerate(conversation.turns):
        if turn.role in SYSTEM_ROLES or not turn.text:
            dropped += 1
            continue
        draft = _draft(index, turn, agent_name)
        if question and question.speaker != draft.speaker and _needs_question(turn.text, people):
            drafts[-1] = replace(question, text=f"{question.text}\n{draft.text}")
            question = None
        elif _is_empty(turn.text, people):
            dropped += 1
            question = None
        else:
            drafts += _split(draft, turn)
            question = drafts[-1] if _asks(turn.text) else None
    return drafts, dropped


def speakers(conversation: Conversation) -> tuple[str, ...]:
    """The names of the people who speak, each once; roles such as "user" are no names."""
    names = dict.fromkeys(turn.speaker for turn in conversation.turns if turn.speaker)
    return tuple(name for name in names if name.lower() not in ROLES)


def name_words(names: Iterable[str]) -> frozenset[str]:
    """The lower-case words of names, for spotting them in greetings."""
    return frozenset(word for name in names for word in words_of(name))


def _draft(index: int, turn: Turn, agent_name: str | None) -> Draft:
    speaker = turn.speaker
    if not speaker and turn.role:
        speaker = agent_name if agent_name and turn.role in AGENT_ROLES else turn.role.capitalize()
    text = f"{speaker}: {turn.text}" if speaker else turn.text
    first_person = _FIRST_PERSON.search(turn.text) is not None
    return Draft(text, index, speaker, turn.role, turn.at, first_person)


def _ends_in_question(text: str) -> bool:
    """Whether a question mark is among the signs behind the last word. Not by a pattern, which would try
    every mark of a long row of them up to its end."""
    for sign in reversed(text):
        if sign in _QUESTION_MARKS:
            return True
        if sign.isalnum() or sign == "_":
            return False
    return False


def _asks(text: str) -> bool:
    return _ends_in_question(text) and size_in_words(text) <= _MAX_QUESTION_WORDS


def _needs_question(text: str, people: frozenset[str]) -> bool:
    """Whether a turn that follows a question means something only together with it."""
    if _ends_in_question(text):
        return False
    return is_bare_answer(text) or (size_in_words(text) <= SHORT_ANSWER_WORDS and not _is_empty(text, people))


def _is_empty(text: str, people: frozenset[str]) -> bool:
    """Chatter, or a few words that only point at other words ("what about you?", "I did too")."""
    if is_chatter(text, people):
        return True
    asks = _ends_in_question(text)
    return (asks or size_in_words(text) <= _SMALL_WORDS) and is_small(text, people)


def _split(draft: Draft, turn: Turn) -> list[Draft]:
    if draft.role in TOOL_ROLES:
        return [replace(draft, text=_joined(draft.speaker, pieces(turn.text, MAX_TOOL_SIGNS)[0].rstrip()))]
    if size_in_words(turn.text) <= MAX_TURN_WORDS:
        return [draft]
    return [replace(draft, text=_joined(draft.speaker, part)) for part in in_parts(turn.text, MAX_TURN_WORDS)]


def _joined(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text
