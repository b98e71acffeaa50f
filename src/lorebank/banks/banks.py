"""Making, listing, changing and deleting whole banks, and their other names."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lorebank.access.grant import Grant
from lorebank.access.resolve import Resolver
from lorebank.banks import config as configs
from lorebank.banks.config import BankConfig
from lorebank.clock import Micros
from lorebank.config import Settings
from lorebank.errors import Conflict, Corrupt, Forbidden, NotFound, Unauthenticated, Unavailable
from lorebank.ids import BankId, StoreId
from lorebank.storage.ports import Banks, Counts, Page
from lorebank.storage.rows import BankRow

_CHANGES = threading.Lock()
"""Changes of a bank's settings read the old ones first, so they go one at a time."""
_COUNTING = ("bank:recall", "bank:stats")
"""Who may do one of these may know how much there is."""
_UNREADABLE = (Corrupt, Forbidden, NotFound, Unauthenticated, Unavailable)
"""One bank that cannot be read, or not any more, must not hide the others of a list."""


@dataclass(frozen=True, slots=True)
class ListedBank:
    """One bank of a listing; `counts` is None where the store cannot be read by this caller now.

    `profiled` tells whether the caller may read the bank's profile; otherwise he gets its name alone.
    """

    row: BankRow
    profiled: bool
    counts: Counts | None
    primary_alias: str | None
    matched_aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BankListing:
    """A page of banks and the number of all that match."""

    banks: Sequence[ListedBank]
    total: int


def listing(banks: Banks, resolver: Resolver, grant: Grant, text: str | None, page: Page) -> BankListing:
    """Banks whose id, name or an alias contains `text`, by bank id."""
    found = banks.listing(grant, text or None, page)
    return BankListing([_listed(banks, resolver, grant, row, text) for row in found.rows], found.total)


def _listed(banks: Banks, resolver: Resolver, grant: Grant, row: BankRow, text: str | None) -> ListedBank:
    bank = BankId(row.bank_id)
    counts = _counted(banks, resolver, grant, bank)
    own = resolver.within_list(grant, "bank:read", bank)
    try:
        aliases = [] if own is None else banks.aliases(own)
    except _UNREADABLE:
        own, aliases = None, []
    wanted = (text or "").casefold()
    matched = tuple(alias for alias, _ in aliases if wanted and wanted in alias.casefold())
    shown = next((alias for alias, primary in aliases if primary), None)
    return ListedBank(row, own is not None, counts, shown, matched)


def _counted(banks: Banks, resolver: Resolver, grant: Grant, bank: BankId) -> Counts | None:
    """The numbers of what the caller may see of the bank."""
    own = next((g for action in _COUNTING if (g := resolver.within_list(grant, action, bank))), None)
    if own is None:
        return None
    try:
        with banks.open(own).read() as reader:
            return reader.counts()
    except _UNREADABLE:
        return None


def row_of(banks: Banks, grant: Grant) -> BankRow:
    """The bank's registry row as it is now; `NotFound` when there is no such bank."""
    return banks.open(grant).bank


def settings_of(row: BankRow, settings: Settings, strategy: str | None = None) -> BankConfig:
    """The settings in force for a bank, or for an item of it with this strategy."""
    return configs.resolve(settings.bank_defaults, row.config, strategy)


def checked(updates: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Settings that would do for a new bank; `BadRequest` that names the one that does not."""
    valid = configs.validate_updates(updates, settings.limits)
    configs.merge({}, valid, settings.bank_defaults, settings.limits)
    return valid


def create_or_update(
    banks: Banks, grant: Grant, settings: Settings, name: str | None, updates: Mapping[str, Any], now: Micros
) -> BankRow:
    """Make the bank when missing, and apply a new name (None: leave it) and changed settings.

    Everything is checked before the bank is made. Raises `BadRequest` for settings that do not fit.
    """
    valid = checked(updates, settings)
    banks.create(grant, name, now)
    return _apply(banks, grant, settings, name, valid, now)


def update(
    banks: Banks, grant: Grant, settings: Settings, name: str | None, updates: Mapping[str, Any], now: Micros
) -> BankRow:
    """The same for a bank that must exist; `NotFound` otherwise."""
    return _apply(banks, grant, settings, name, configs.validate_updates(updates, settings.limits), now)


def reset_config(banks: Banks, grant: Grant, settings: Settings, now: Micros) -> BankRow:
    """Remove every override of the bank."""
    with _CHANGES:
        row_of(banks, grant)
        return banks.update(grant, _changes(None, {}, settings), now)


def _apply(
    banks: Banks, grant: Grant, settings: Settings, name: str | None, updates: Mapping[str, Any], now: Micros
) -> BankRow:
    with _CHANGES:
        row = row_of(banks, grant)
        if not updates and (name is None or name == row.name):
            return row
        merged = configs.merge(row.config, updates, settings.bank_defaults, settings.limits)
        return banks.update(grant, _changes(name, merged, settings), now)


def _changes(name: str | None, overrides: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The registry columns; mission and disposition repeat what the overrides say, for listings."""
    config = configs.resolve(settings.bank_defaults, overrides)
    changes = {"config": overrides, "mission": config.reflect_mission, "disposition": config.disposition}
    return changes if name is None else changes | {"name": name}


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted bank: its store, and how many memories, entities and documents went. None where a
    damaged store could not be opened or counted any more."""

    store_id: StoreId | None
    removed: int | None


def delete(banks: Banks, grant: Grant) -> Deleted:
    """Delete a bank with everything in it; `NotFound` when there is no such bank."""
    store_id, removed = None, None
    try:
        handle = banks.open(grant)
        store_id = handle.store_id
        with handle.read() as reader:
            counts = reader.counts()
        removed = sum(counts.memories.values()) + counts.entities + counts.documents
    except (Corrupt, Unavailable):  # it goes all the same
        pass
    banks.delete(grant)
    return Deleted(store_id, removed)


# other names


def add_alias(banks: Banks, grant: Grant, alias: str, primary: bool) -> None:
    """Let the bank answer to `alias` too; `Conflict` when that names a bank or stands for one already."""
    if any(known == alias for known, _ in banks.aliases(grant)):
        raise Conflict(f"alias '{alias}' exists already; PATCH it to change whether it is primary")
    banks.put_alias(grant, alias, primary)
    _one_primary(banks, grant, alias, primary)


def set_primary(banks: Banks, grant: Grant, alias: str, primary: bool) -> None:
    """Make an alias the shown one, or no longer; `NotFound` when the bank has no such alias."""
    if all(known != alias for known, _ in banks.aliases(grant)):
        raise NotFound(f"Alias '{alias}' not found")
    banks.put_alias(grant, alias, primary)
    _one_primary(banks, grant, alias, primary)


def _one_primary(banks: Banks, grant: Grant, alias: str, primary: bool) -> None:
    for other, was_primary in banks.aliases(grant) if primary else ():
        if was_primary and other != alias:
            banks.put_alias(grant, other, False)


def remove_alias(banks: Banks, grant: Grant, alias: str) -> None:
    """Remove an alias; `NotFound` when the bank has no such alias."""
    if not banks.delete_alias(grant, alias):
        raise NotFound(f"Alias '{alias}' not found")
