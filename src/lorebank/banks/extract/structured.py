"""Conversations written as JSON: an array of turns, an object that holds one, or one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from lorebank.banks.extract.source import Conversation, Turn

TEXT_KEYS = ("content", "text", "message", "body", "value")
SPEAKER_KEYS = ("speaker", "name", "author", "sender", "from", "user")
TIME_KEYS = ("timestamp", "time", "created_at", "date", "ts", "at")
WRAPPER_KEYS = ("messages", "turns", "conversation", "dialogue", "transcript")
# Epoch numbers above this are milliseconds.
_MILLISECONDS_FROM = 100_000_000_000


def parse_structured(content: str) -> Conversation | None:
    """The conversation that JSON content holds, or None when it is not one."""
    head = content.lstrip()[:1]
    if head not in ("[", "{"):
        return None
    whole = _loads(content)
    if isinstance(whole, dict):
        whole = next((whole[k] for k in WRAPPER_KEYS if isinstance(whole.get(k), list)), [whole])
    if isinstance(whole, list):
        turns = _turns((entry, None) for entry in whole)
        return Conversation("json", turns) if turns else None
    if head != "{":
        return None
    lines = [line for line in content.splitlines() if line.strip()]
    turns = _turns((_loads(line), line) for line in lines)
    return Conversation("jsonl", turns) if turns else None


def dumps(value: object) -> str:
    """Compact JSON that keeps every script readable."""
    return json.dumps(value, ensure_ascii=False)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _turns(entries: Iterable[tuple[Any, str | None]]) -> tuple[Turn, ...] | None:
    """The turns, or None when an entry is not a turn."""
    turns = []
    for entry, line in entries:
        turn = _turn(entry, line) if isinstance(entry, dict) else None
        if turn is None:
            return None
        turns.append(turn)
    return tuple(turns) or None


def _turn(entry: Mapping[str, Any], line: str | None) -> Turn | None:
    text = next((t for t in (_text(entry.get(key)) for key in TEXT_KEYS) if t is not None), None)
    role = entry.get("role")
    names = (entry.get(key) for key in SPEAKER_KEYS)
    speaker = next((name for name in names if isinstance(name, str) and name.strip()), None)
    if not isinstance(role, str) and (text is None or speaker is None):
        return None
    # A turn with a role and no text, such as a tool call, is a turn without words.
    text = text or ""
    role = role.strip().lower() if isinstance(role, str) else ""
    at = next((t for t in (_time(entry.get(key)) for key in TIME_KEYS) if t is not None), None)
    return Turn((speaker or "").strip(), text.strip(), raw=line or dumps(entry), role=role, at=at)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(part for part in map(_block, value) if part)
    return None


def _block(block: Any) -> str:
    """The words of one content block; images, tool calls and the like have none."""
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""


def _time(value: Any) -> datetime | None:
    """An ISO time or a Unix time in seconds or milliseconds; None for anything else. Naive means UTC."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            aware.astimezone(UTC)  # OverflowError at the ends of the calendar; the zone says which day it was
            return aware
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
