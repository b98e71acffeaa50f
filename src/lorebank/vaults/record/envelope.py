"""The envelope: what every record says, whatever it is about. Without a right one a file is withheld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lorebank.access.audience import Partition
from lorebank.vaults.record.checks import MAX_ID_CHARS, MAX_TITLE_CHARS, is_id, is_title, utc_text
from lorebank.vaults.record.front import Notes
from lorebank.vaults.record.values import FORMAT, LIFECYCLES, RECORD_KINDS, Lifecycle, RecordKind

_MISSING = object()
_UTC_HELP = "a time in UTC such as 2026-11-30T08:30:00Z"
_SINGLE = {
    "id": (is_id, f"an opaque id: text of 1 to {MAX_ID_CHARS} printable characters (numbers in quotes)"),
    "revision": (lambda value: _whole(value), "a whole number from 1"),
    "kind": (lambda value: value in RECORD_KINDS, f"one of {', '.join(RECORD_KINDS)}"),
    "title": (is_title, f"one line of text of 1 to {MAX_TITLE_CHARS} characters (numbers in quotes)"),
    "recorded_at": (lambda value: utc_text(value) is not None, _UTC_HELP),
    "updated_at": (lambda value: utc_text(value) is not None, _UTC_HELP),
    "lifecycle": (lambda value: value in LIFECYCLES, f"one of {', '.join(LIFECYCLES)}"),
}
_LISTS = {
    "aliases": (is_title, "a list of names"),
    "tags": (is_title, "a list of words"),
    "dependencies": (is_id, "a list of ids"),
}


@dataclass(frozen=True, slots=True)
class Envelope:
    """A right envelope."""

    id: str
    revision: int
    kind: RecordKind
    title: str
    recorded_at: str
    updated_at: str
    lifecycle: Lifecycle
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    dependencies: tuple[str, ...]


def envelope_of(notes: Notes, partition: Partition) -> Envelope | None:
    """Check it; None when something is wrong, which the notes then say."""
    meta = notes.front.value
    before = len(notes.found)
    if meta.get("format") != FORMAT:
        notes.add(("format",), "envelope.format", f"'format' must be {FORMAT}")
    for key, (right, help_text) in _SINGLE.items():
        value = meta.get(key, _MISSING)
        if value is _MISSING or not _hashable(value) or not right(value):
            what = "is missing; it must be" if value is _MISSING else "must be"
            notes.add((key,), f"envelope.{key}", f"{key!r} {what} {help_text}")
    lists = {key: _list(notes, key) for key in _LISTS}
    _scope(notes, partition)
    if len(notes.found) > before:
        return None
    return Envelope(
        meta["id"],
        meta["revision"],
        meta["kind"],
        meta["title"],
        str(utc_text(meta["recorded_at"])),
        str(utc_text(meta["updated_at"])),
        meta["lifecycle"],
        lists["aliases"],
        lists["tags"],
        lists["dependencies"],
    )


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 1


def _hashable(value: Any) -> bool:
    return not isinstance(value, (list, dict))


def _list(notes: Notes, key: str) -> tuple[str, ...]:
    """An optional list of texts; nothing at all counts as empty."""
    value = notes.front.value.get(key)
    if value is None:
        return ()
    right, what = _LISTS[key]
    if not isinstance(value, list):
        notes.add((key,), f"envelope.{key}", f"{key!r} must be {what}, each on its own line after '- '")
        return ()
    for place, item in enumerate(value):
        if not right(item):
            notes.add((key, place), f"envelope.{key}", f"{key!r} must be {what}; this entry is none")
    return tuple(item for item in value if isinstance(item, str))


def _scope(notes: Notes, partition: Partition) -> None:
    """Exactly the partition's own scope: nobody relabels a record (seed 000, Partitions)."""
    scope = notes.front.value.get("scope", _MISSING)
    if scope == partition.scope:
        return
    if scope is _MISSING:
        notes.add(("scope",), "scope.missing", "'scope' is missing: which partition the record belongs to")
    elif not _is_scope(scope):
        notes.add(("scope",), "scope.invalid", "'scope' is no scope: 'visibility', and 'sessionId' with it")
    else:
        notes.add(("scope",), "scope.mismatch", "'scope' names another partition than this file is in")


def _is_scope(scope: Any) -> bool:
    if not isinstance(scope, dict):
        return False
    if scope == {"visibility": "private"}:
        return True
    return (
        set(scope) == {"visibility", "sessionId"}
        and scope["visibility"] == "conversation"
        and isinstance(scope["sessionId"], str)
    )
