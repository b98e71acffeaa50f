"""Conversations written as text: `Name: words` lines, and the `[role: user] ... [user:end]` form."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time

from lorebank.banks.extract.source import Conversation, Turn
from lorebank.dates import find_dates

ROLES = frozenset(
    (
        "user",
        "assistant",
        "system",
        "human",
        "ai",
        "bot",
        "agent",
        "tool",
        "function",
        "developer",
        "customer",
        "client",
        "support",
        "operator",
        "interviewer",
        "interviewee",
        "host",
        "guest",
        "caller",
        "moderator",
        "me",
        "you",
        "model",
        "doctor",
        "patient",
        "teacher",
        "student",
        "speaker",
    )
)
# Words that stand before a colon without being anyone's name.
_NOT_A_SPEAKER = frozenset(
    (
        "note",
        "notes",
        "warning",
        "title",
        "summary",
        "todo",
        "example",
        "examples",
        "subject",
        "from",
        "to",
        "date",
        "re",
        "fwd",
        "cc",
        "bcc",
        "fact",
        "facts",
        "question",
        "answer",
        "error",
        "info",
        "debug",
        "name",
        "age",
        "city",
        "address",
        "email",
        "phone",
        "status",
        "result",
        "results",
        "output",
        "input",
        "usage",
        "version",
        "author",
        "source",
        "topic",
        "context",
        "goal",
        "goals",
        "task",
        "tasks",
        "step",
        "steps",
        "update",
        "conclusion",
        "description",
        "tip",
        "hint",
        "important",
        "remember",
        "ps",
        "fyi",
        "http",
        "https",
        "file",
        "path",
        "line",
        "type",
        "key",
        "value",
        "id",
        "tags",
        "tag",
        "category",
        "language",
        "location",
        "time",
        "when",
        "where",
        "who",
        "what",
        "why",
        "how",
        "attachment",
        "image",
        "photo",
        "link",
        "url",
        "project",
        "decision",
        "decisions",
        "action",
        "actions",
        "agenda",
        "attendees",
        "participants",
        "meeting",
        "section",
        "chapter",
        "background",
        "problem",
        "solution",
        "ingredients",
        "instructions",
        "price",
        "total",
        "reminder",
        "preference",
        "preferences",
        "session",
        "conversation",
        "transcript",
        "today",
        "yesterday",
        "tomorrow",
        "also",
        "however",
        "therefore",
        "plan",
        "idea",
        "memory",
        "user preference",
        "root cause",
        "next steps",
        "fix",
        "bug",
        "feature",
        "changes",
        "added",
        "removed",
    )
)
_STAMP = r"(?:[\[(](?P<before>[^\])\n]{4,40})[\])]\s*|(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)\s+(?:-\s+)?)?"
_NAME = r"(?P<name>[^\W\d_][^\s:\[\]()<>{}|=#*_/\\]*(?:[ ][^\W_][^\s:\[\]()<>{}|=#*_/\\]*){0,3})"
_LINE = re.compile(
    rf"^[ \t]*(?:[-*>][ \t]+)?{_STAMP}(?:\*\*|__)?{_NAME}(?:\*\*|__)?"
    r"(?:\s*[\[(](?P<after>[^\])\n]{4,40})[\])])?\s?(?::|：)(?:\*\*|__)?(?:[ \t]+|(?<=：)|$)",
    re.MULTILINE,
)
_ROLE_BLOCK = re.compile(
    r"\[role: ?(?P<role>[\w-]{1,40})\][ \t]*\n(?P<text>.*?)\n?\[(?P=role):end\]\s*", re.DOTALL
)
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([AaPp])?")
_MAX_NAME = 40


def parse_text(content: str, timestamp: datetime | None) -> Conversation | None:
    """The conversation that a text is, or None for a document or a plain sentence.

    `timestamp` is the item's; a turn's own clock time is read on its day.
    """
    if content.lstrip().startswith("[role:"):
        return _role_blocks(content)
    if ":" not in content and "：" not in content:
        return None
    marks = [m for m in _LINE.finditer(content) if _is_speaker(m)]
    return _by_lines(content, marks, timestamp) if _is_conversation(content, marks) else None


def _role_blocks(content: str) -> Conversation | None:
    start = len(content) - len(content.lstrip())
    turns: list[Turn] = []
    while match := _ROLE_BLOCK.match(content, start):
        raw = content[0 if not turns else start : match.end()]
        turns.append(Turn("", match["text"].strip(), raw, role=match["role"].lower()))
        start = match.end()
    rest = content[start:]
    if turns and rest:
        turns.append(Turn("", rest.strip(), rest))
    return Conversation("text", tuple(turns)) if turns else None


def _is_speaker(mark: re.Match[str]) -> bool:
    name = mark["name"]
    if len(name) > _MAX_NAME or name.lower() in _NOT_A_SPEAKER:
        return False
    words = name.split(" ")
    if name.lower() in ROLES or (not name[0].isascii() and name[0].lower() == name[0].upper()):
        return True  # a role, or a script without capitals
    if words[0].lower() in _NOT_A_SPEAKER:
        return False
    return name[0].isupper() and all(w[0].isupper() or w[0].isdigit() or len(w) <= 3 for w in words[1:])


def _is_conversation(content: str, marks: list[re.Match[str]]) -> bool:
    """Whether the marked lines are turns rather than the keys of a form.

    One line alone is a turn when the whole content is that line. Several are turns when a name comes back,
    when there are just two, or when roles or times stand with them.
    """
    if not marks:
        return False
    names = {m["name"].lower() for m in marks}
    head = content[: marks[0].start()].strip()
    if len(marks) == 1:
        return not head and (_certain(marks[0]) or "\n" not in content.strip())
    if head and len(head) > 400:
        return False
    return len(names) < len(marks) or len(marks) == 2 or all(_certain(m) for m in marks)


def _certain(mark: re.Match[str]) -> bool:
    return mark["name"].lower() in ROLES or bool(mark["before"] or mark["after"] or mark["clock"])


def _by_lines(content: str, marks: list[re.Match[str]], timestamp: datetime | None) -> Conversation:
    turns: list[Turn] = []
    edges = [m.start() for m in marks] + [len(content)]
    head = content[: edges[0]]
    if head.strip():
        turns.append(Turn("", head.strip(), head))
        head = ""
    for mark, stop in zip(marks, edges[1:], strict=True):
        name = mark["name"].strip()
        role = name.lower() if name.lower() in ROLES else ""
        text = content[mark.end() : stop].strip()
        at = _time(mark["before"] or mark["clock"] or mark["after"], timestamp)
        turns.append(Turn(name, text, head + content[mark.start() : stop], role, at))
        head = ""
    return Conversation("text", tuple(turns))


def _time(stamp: str | None, timestamp: datetime | None) -> datetime | None:
    """The moment that a stamp names: a date, a date and a time, or a time on the item's day."""
    if not stamp:
        return None
    found = find_dates(stamp, timestamp)
    if found and found[0].precision == "time":
        return found[0].start
    day = found[0].start if found else timestamp
    clock = _CLOCK.search(stamp)
    if day is None or (not found and clock is None):
        return None
    if clock is None:
        return day
    return _at_clock(day if day.tzinfo else day.replace(tzinfo=UTC), clock)


def _at_clock(day: datetime, clock: re.Match[str]) -> datetime | None:
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + (12 if clock[4].lower() == "p" else 0)
    try:
        moment = datetime.combine(day.date(), time(hour, int(clock[2]), int(clock[3] or 0)), day.tzinfo)
        moment.astimezone(UTC)  # OverflowError where the zone carries it out of the calendar
        return moment
    except (ValueError, OverflowError):
        return None
