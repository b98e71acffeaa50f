"""Tables that begin from those of the view before say the same as tables made anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.search.index import PassageIndex
from lorebank.search.passage import Passage
from lorebank.search.snapshot import Snapshot
from lorebank.vaults.find.facets import NOBODY, Facets, facets_of
from lorebank.vaults.find.names import Names, names_of
from lorebank.vaults.record.values import Record
from lorebank.vaults.store.values import Entry, Stamp


@dataclass
class Drawn:
    """As much of a view as the tables look at."""

    entries: dict[str, Entry]
    snapshot: Snapshot
    carry: dict[str, Any]
    memo: dict[str, Any] = field(default_factory=dict)


records = st.builds(
    lambda id, kind, title, alias, lifecycle, meta, entities: Record(
        path="",
        id=id,
        revision=1,
        kind=kind,
        title=title,
        recorded_at="2026-11-30T08:00:00Z",
        updated_at="2026-11-30T08:00:00Z",
        lifecycle=lifecycle,
        aliases=(alias,),
        entities=entities,
        meta=meta,
        text_terms=title,
    ),
    st.sampled_from("abc"),
    st.sampled_from(["page", "claim", "relationship"]),
    st.sampled_from(["Ann", "ANN", "Bob", "a"]),
    st.sampled_from(["ann", "c", "x"]),
    st.sampled_from(["active", "superseded"]),
    st.sampled_from(
        [{}, {"valid_from": "2020"}, {"from": "a", "to": "b"}, {"claim_kind": "fact", "to": "a"}]
    ),
    st.sampled_from([(), ("a",), ("a", "b", "a")]),
)
changes = st.lists(st.tuples(st.sampled_from([f"{n}.md" for n in range(8)]), st.none() | records), max_size=5)


@settings(max_examples=60)
@given(st.lists(changes, min_size=1, max_size=6))
def test_carried_tables_equal_new_ones(rounds: list[list[tuple[str, Record | None]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("facets", "names"):  # so that few records count as many
            patch.setattr(f"lorebank.vaults.find.{module}.FEW", 1)
        _compare(rounds)


def _compare(rounds: list[list[tuple[str, Record | None]]]) -> None:
    index, entries, carry, keys = PassageIndex(), {}, {}, 0
    for number, batch in enumerate(rounds):
        entries, gone = dict(entries), []
        for path, record in batch:
            had = entries.pop(path, None)
            gone += [had.key] if had is not None else []
            if record is not None:
                keys += 1
                entries[path] = Entry(keys, path, Stamp(0, 0, 0, 0), "", record, 1)
        entries = dict(sorted(entries.items()))
        index.apply(
            [Passage(e.key, e.key, "world", e.record.text_terms) for e in entries.values()], gone, number + 1
        )
        if number % 2:
            index.compact()
        carried, anew = Drawn(entries, index.snapshot(), carry), Drawn(entries, index.snapshot(), {})
        assert _facts(facets_of(carried), carried) == _facts(facets_of(anew), anew)  # type: ignore[arg-type]
        assert _tables(names_of(carried)) == _tables(names_of(anew))  # type: ignore[arg-type]


def _facts(found: Facets, view: Drawn) -> list[Any]:
    numbers = {code: name for name, code in found.types.items()}
    rows = zip(
        found.kind.tolist(),
        found.lifecycle.tolist(),
        [numbers.get(code) for code in found.type.tolist()],
        found.since.tolist(),
        found.until.tolist(),
        found.dated.tolist(),
        [None if value != value else value for value in found.recorded.tolist()],
        [None if entry is None else entry.path for entry in found.entries],
        strict=True,
    )
    assert sum(entry is not None for entry in found.entries) == len(view.entries)
    return [row if row[0] != NOBODY else None for row in rows]


def _tables(found: Names) -> list[Any]:
    return [
        found.by_name.keys(),
        {key: [one.path for one in found.of_id(key)] for key in found.by_id},
        {key: [one.path for one in found.claims_about(key)] for key in found.about},
        {key: [one.path for one in found.relations_of(key)] for key in found.ends},
        [[(match, one.path) for match, one in found.called(name)] for name in sorted(found.by_name)],
    ]
