"""Turns that wait: with `retain_every_n_turns` a conversation is stored only every so many turns of the user.

What waits is kept in the bank itself, changed only in the transaction that also stores or queues, so
that a kill neither loses a turn nor stores it twice. It goes with the bank, when all memories are
cleared, and with its document. Only a retain of the same principal in the same conversation stores it:
whose right is gone never does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lorebank.access.grant import Grant
from lorebank.banks.extract.roles import user_turns
from lorebank.banks.retain.granted import kept
from lorebank.banks.retain.items import Item, from_json, to_json
from lorebank.storage.ports import BankReader, BankWriter
from lorebank.tags import TagFilter, matches

HELD_CHARS = 200_000
"""Conversations are stored earlier once so much of them waits."""
_INDEX = "waiting"
"""The bank's meta entry that lists the conversations of which something waits."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """An item of a request: what may be kept of it, if anything, and how many turns of the user it has
    (None: it is no conversation, and never waits)."""

    item: Item | None
    turns: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to store now, and what waits then. Made on what waited before (`base`).

    `name` is the conversation's meta entry, None where no part of it came.
    """

    now: tuple[Item, ...]
    name: str | None = None
    base: Mapping[str, Any] | None = None
    then: Mapping[str, Any] | None = None
    held: tuple[Item, ...] = ()
    """What of `now` had waited."""

    def still_right(self, reader: BankReader) -> bool:
        """Whether nothing has changed since the plan was made."""
        return self.name is None or bool(reader.meta(self.name) == self.base)

    def apply(self, writer: BankWriter) -> None:
        """Write down what waits now, in the transaction that stores or queues `now`."""
        if self.name is not None and self.then != self.base:
            _put(writer, self.name, self.then)


def arrived(grant: Grant, items: Iterable[Item]) -> list[Arrived]:
    """The items as far as the grant lets them be kept."""
    return [Arrived(kept(grant, item), user_turns(item.content)) for item in items]


def plan(reader: BankReader, grant: Grant, came: Sequence[Arrived]) -> Plan:
    """Store everything, or let the conversation wait and store the rest."""
    everything = tuple(one.item for one in came if one.item is not None)
    talk = [one for one in came if one.turns is not None]
    if not talk:
        return Plan(everything)
    name = _name(grant)
    base: Mapping[str, Any] | None = reader.meta(name)
    wanted = grant.parameters.retain_every_n_turns or 1
    if base is None and wanted == 1:
        return Plan(everything, name)
    turns = _turns(base) + sum(one.turns or 0 for one in talk)
    waiting = _after([*_items(base)], (one.item for one in talk if one.item is not None))
    if turns >= wanted or sum(len(item.content) for item in waiting) > HELD_CHARS:
        before = _replaced(_items(base), everything)
        held = tuple(left for item in before if (left := kept(grant, item)) is not None)
        return Plan((*held, *everything), name, base, None, held)
    others = tuple(one.item for one in came if one.turns is None and one.item is not None)
    then = {"turns": turns, "items": [to_json(item) for item in waiting]}
    return Plan(others, name, base, then)


def forget_all(writer: BankWriter, visible: TagFilter | None) -> None:
    """Drop what waits, as far as it is visible."""
    _drop(writer, lambda item: _seen(item, visible))


def forget_document(writer: BankWriter, visible: TagFilter | None, document_id: str) -> bool:
    """Drop what waits for a document, as far as it is visible; whether anything did."""
    return _drop(writer, lambda item: item.document_id == document_id and _seen(item, visible))


def _drop(writer: BankWriter, gone: Callable[[Item], bool]) -> bool:
    dropped = False
    for name in writer.meta(_INDEX) or ():
        items = _items(writer.meta(name))
        left = [item for item in items if not gone(item)]
        if len(left) < len(items):
            dropped = True
            turns = sum(user_turns(item.content) or 0 for item in left)
            _put(writer, name, {"turns": turns, "items": list(map(to_json, left))} if left else None)
    return dropped


def _put(writer: BankWriter, name: str, entry: Mapping[str, Any] | None) -> None:
    writer.set_meta(name, entry)
    listed = set(writer.meta(_INDEX) or ())
    changed = listed | {name} if entry is not None else listed - {name}
    if changed != listed:
        writer.set_meta(_INDEX, sorted(changed) or None)


def _name(grant: Grant) -> str:
    """Where the conversation's turns wait: by principal, agent, provider, channel and topic."""
    of = grant.principal.circumstances
    told = json.dumps([grant.principal.name, of.agent, of.provider, of.channel, of.topic])
    return f"{_INDEX}:{hashlib.sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _turns(entry: Mapping[str, Any] | None) -> int:
    return 0 if entry is None else int(entry["turns"])


def _items(entry: Mapping[str, Any] | None) -> list[Item]:
    return [] if entry is None else [from_json(data) for data in entry["items"]]


def _after(waiting: list[Item], more: Iterable[Item]) -> list[Item]:
    for item in more:
        waiting = [*_replaced(waiting, (item,)), item]
    return waiting


def _replaced(waiting: Iterable[Item], more: Iterable[Item]) -> list[Item]:
    """Without what `more` replaces: a document that is sent whole again holds what waits of it."""
    anew = {item.document_id for item in more if item.document_id is not None and not item.append}
    return [item for item in waiting if item.document_id not in anew]


def _seen(item: Item, visible: TagFilter | None) -> bool:
    return visible is None or matches(visible, item.tags)
