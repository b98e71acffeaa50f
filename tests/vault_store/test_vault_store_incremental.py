"""A view that grew by small changes is the one that somebody who reads everything gets."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from store_world import World, made_id, page, put, world

from lorebank import clock
from lorebank.access.audience import PRIVATE
from lorebank.search.snapshot import Snapshot
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.evidence.verdicts import KeptVerdicts
from lorebank.vaults.store.catalogue import Catalogue
from lorebank.vaults.store.values import Descriptor, View

SHA = "ab" * 32


def picture(view: View) -> Any:
    """Everything that a view says, without keys and revisions."""
    entries = [(path, one.sha256, one.record) for path, one in view.entries.items()]
    ids = {made_id(n): _path(view, n) for n in range(12)}
    return entries, list(view.findings), dict(view.descriptors), ids, terms(view.snapshot, view)


def _path(view: View, number: int) -> str | None:
    found = view.by_id(made_id(number))
    return None if found is None else found.path


def terms(snapshot: Snapshot, view: View) -> list[tuple[str, list[str]]]:
    """What the index has, by path."""
    found = []
    for entry in view.entries.values():
        slot = snapshot.slot_of(entry.key)
        if slot is not None:
            found.append((entry.path, sorted(snapshot.tagsets.tags(snapshot.columns.tagset[slot]))))
    assert snapshot.passages == len(found)
    return found


def _read_anew(stores: World, vault: str) -> View:
    with stores.vaults.pool.using(vault) as runtime:
        empty: Any = _NoState()
        catalogue = Catalogue(PRIVATE, runtime.tree, empty, KeptVerdicts(), clock.now)
        return catalogue.refresh(record=False, dirty=None)[0]


class _NoState:
    """A database that knows nothing."""

    def catalogue(self, folder: str) -> list[object]:
        return []

    def verdict(self, key: str) -> None:
        return None

    def last_revisions(self, folder: str) -> dict[str, int]:
        return {}


def _change(chance: random.Random, folder: Path) -> None:
    files = sorted(folder.rglob("*.md"))
    number, name = chance.randrange(12), f"{chance.choice(['people', 'concepts'])}/{chance.randrange(12)}.md"
    match chance.randrange(8):
        case 0 if files:
            chance.choice(files).unlink()
        case 1 if files:
            target = folder / name
            target.parent.mkdir(exist_ok=True)
            chance.choice(files).rename(target)
        case 2:
            put(folder, name, b"---\nbroken\n")
        case 3:
            source = Descriptor(made_id(chance.randrange(4)), content_path(SHA), SHA, 1, "import")
            path = folder / descriptor_path(SHA, source.id)
            if path.exists():
                path.unlink()
            else:
                put(folder, descriptor_path(SHA, source.id), encode(source, PRIVATE))
        case 4 if files:
            first, second = chance.choice(files), chance.choice(files)
            content = first.read_bytes()
            first.write_bytes(second.read_bytes())
            second.write_bytes(content)
        case _:
            more: dict[str, Any] = {}
            if chance.random() < 0.5:
                more["dependencies"] = [made_id(chance.randrange(12))]
            if chance.random() < 0.5:
                more["entities"] = [made_id(chance.randrange(12))]
            if chance.random() < 0.3:
                more["evidence"] = [{"source": made_id(chance.randrange(4))}]
            more["type"] = chance.choice(["person", "concept", "unheard"])
            put(folder, name, page(number, f"Page {chance.randrange(99)}", **more))


@pytest.mark.parametrize("watch", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_small_changes_lead_to_the_same_view(tmp_path: Path, seed: int, watch: bool) -> None:
    chance = random.Random(seed)
    with world(tmp_path, watch=watch) as stores:
        handle = stores.open()
        for _ in range(20):
            for _ in range(chance.choice([1, 1, 1, 4])):
                _change(chance, stores.private())
            with handle.reading() as view:
                assert picture(view) == picture(_read_anew(stores, handle.vault))
    with world(tmp_path, watch=watch) as stores, stores.open().reading() as again:
        before, after = view.entries, again.entries
        assert [(p, e.key, e.revision) for p, e in before.items()] == [
            (p, e.key, e.revision) for p, e in after.items()
        ]
