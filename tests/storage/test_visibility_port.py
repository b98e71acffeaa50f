"""What a grant's filter hides is nowhere: not in lists, counts, totals or look-ups, nor in any value."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage_kit import ALL, NOW, Engine, chunk, document, memory, open_engine

from lorebank.errors import Conflict, Forbidden, Unavailable
from lorebank.storage.ports import BankHandle, BankReader, DocumentQuery, MemoryQuery
from lorebank.storage.rows import DocumentEvent, FactType, Link
from lorebank.tags import And, Leaf, Not, Or, TagFilter, matches

TAGS = ("red", "green", "blue")
SETS = [(), ("red",), ("green",), ("red", "green"), ("blue",), ("green", "red", "blue")]
LEAVES = st.builds(
    Leaf,
    st.lists(st.sampled_from(TAGS), max_size=2).map(tuple),
    st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
)
FILTERS: st.SearchStrategy[TagFilter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda p: And(tuple(p))),
        st.lists(inner, min_size=1, max_size=2).map(lambda p: Or(tuple(p))),
        inner.map(Not),
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def colourful() -> Iterator[Engine]:
    """A bank in which every row carries a canary: `m3q` in whatever belongs to memory 3 alone."""
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(Path(folder) / "data")
        handle = engine.bank()
        types: tuple[FactType, FactType] = ("world", "experience")
        with handle.write() as writer:
            for i, tags in enumerate(SETS):
                writer.put_document(document(f"doc d{i}q", tags=tags, text=f"text d{i}q"))
                writer.add_document_event(DocumentEvent(f"doc d{i}q", "retain", NOW + i))
            writer.put_chunks([chunk(f"chunk d{i}q", f"doc d{i}q") for i in range(len(SETS))])
            keys = writer.add_memories(
                [
                    memory(
                        f"text m{i}q",
                        tags=tags,
                        context=f"context m{i}q",
                        fact_type=types[i % 2],
                        # Its document may be hidden where the memory is not.
                        document_id=f"doc d{(i + 1) % 6}q",
                        chunk_id=f"chunk d{(i + 1) % 6}q",
                        entities=((f"Name m{i}q", "PERSON"), ("Everyone", "PERSON")),
                        mentioned_at=NOW + i,
                    )
                    for i, tags in enumerate(SETS)
                ],
                NOW,
            )
            writer.put_links([Link(a, b, "semantic", 0.5) for a in keys for b in keys if a != b])
            rests = memory("text m0q again", fact_type="observation", source_keys=tuple(keys), tags=())
            writer.add_memories([rests], NOW)
        yield engine
        engine.directory.close()


def everything(reader: BankReader) -> Iterator[Any]:
    """The results of every reading method that a caller's grant filters."""
    page = reader.memories(MemoryQuery(), ALL)
    yield page
    memory_ids = [m.id for m in page.rows]
    every_key = list(range(1, len(SETS) + 2))
    yield from (reader.memory(id) for id in memory_ids)
    yield from (reader.memory_history(id) for id in memory_ids)
    yield reader.memories_by_key(every_key)
    yield reader.memories(MemoryQuery(text="q"), ALL)
    yield reader.memories(MemoryQuery(tags=Leaf(TAGS, "any")), ALL)
    yield reader.memories(MemoryQuery(tags=Leaf(("redd",), "any", "fuzzy")), ALL)
    yield reader.documents(DocumentQuery(), ALL)
    yield reader.documents(DocumentQuery(text="text"), ALL)
    entities = reader.entities(None, ALL)
    yield entities
    yield reader.entities(Leaf(("red",)), ALL)
    for entity in entities.rows:
        yield reader.entity(entity.id, None)
        yield reader.entity_memories(entity.id, None, 99)
        yield reader.memories(MemoryQuery(entity_id=entity.id), ALL)
    yield reader.entity_names()
    yield reader.entities_of(every_key)
    yield reader.missing_vectors("m", 99)
    yield list(reader.dump_memories())
    for i in range(len(SETS)):
        yield reader.document(f"doc d{i}q")
        yield reader.document_events(f"doc d{i}q", ALL)
        yield reader.chunks(f"doc d{i}q", ALL)
        yield reader.chunk(f"chunk d{i}q")
        yield reader.chunks_by_id([f"chunk d{i}q"])
    ids = [f"doc d{i}q" for i in range(len(SETS))]
    yield reader.documents_matching_text(ids, "text")


@settings(max_examples=60, deadline=None)
@given(FILTERS)
def test_hidden_rows_are_nowhere(colourful: Engine, filter: TagFilter) -> None:
    colourful.rules.filters["guest"] = filter
    seen = [i for i, tags in enumerate(SETS) if matches(filter, tags)]
    # A document is visible where its memory is too: its text says the same.
    whole = [i for i in seen if (i - 1) % 6 in seen]
    with colourful.bank("Team", "guest").read() as reader:
        results = list(everything(reader))
        found = re.findall(r"([md])(\d)q", repr(results))
        counts, pairs = reader.counts(), reader.entity_pairs(None, 1, 99)
        tags = dict(reader.tags(None, ALL).rows)
        buckets = reader.time_buckets("mentioned_at", 0, "day")
        on_documents = {i: reader.fact_types_of_document(f"doc d{i}q") for i in range(len(SETS))}
        by_document = {
            i: reader.memories(MemoryQuery(document_id=f"doc d{i}q"), ALL).total for i in range(len(SETS))
        }
        links = reader.links_between(range(1, len(SETS) + 1))
    assert {int(i) for kind, i in found if kind == "m"} == set(seen)
    assert {int(i) for kind, i in found if kind == "d"} == set(whole)
    observation = int(matches(filter, ()))
    assert sum(counts.memories.values()) == len(seen) + observation
    assert counts.documents == len(whole)
    assert counts.entities == len(seen) + bool(seen)
    assert sum(counts.links.values()) == len(links) == len(seen) * (len(seen) - 1)
    assert counts.pending_vectors == len(seen) + observation
    assert sum(number for _, _, number in buckets) == len(seen)
    assert pairs.total == len(seen)
    assert tags == {tag: n for tag in TAGS if (n := sum(tag in SETS[i] for i in seen))}
    for i in range(len(SETS)):
        rests = int(i in seen and (i - 1) % 6 in seen)
        assert sum(on_documents[i].values()) == by_document[i] == rests


def test_entity_numbers_are_those_of_what_the_caller_sees(colourful: Engine) -> None:
    colourful.rules.filters["guest"] = Leaf(("blue",), "exact")
    with colourful.bank("Team", "guest").read() as reader:
        rows = {e.name: e.mention_count for e in reader.entities(None, ALL).rows}
        assert rows == {"Name m4q": 1, "Everyone": 1}
        (named,) = reader.entities_of([5]).values()
        assert [(e.name, e.mention_count, e.first_seen) for e in named] == [
            ("Name m4q", 1, NOW + 4),
            ("Everyone", 1, NOW + 4),
        ]


@pytest.fixture
def guest(engine: Engine) -> BankHandle:
    """A caller who sees only rows tagged `red`, in a bank with a green document and memory."""
    engine.rules.filters["guest"] = Leaf(("red",), "any_strict")
    with engine.bank().write() as writer:
        writer.put_document(document("hidden", tags=("green",)))
        writer.put_chunks([chunk("hidden chunk", "hidden")])
        new = memory("green", tags=("green",), document_id="hidden", chunk_id="hidden chunk")
        writer.add_memories([new], NOW)
    return engine.bank("Team", "guest")


def test_a_filtered_writer_cannot_touch_what_it_cannot_see(engine: Engine, guest: BankHandle) -> None:
    with guest.write() as writer:
        writer.edit_memory(1, {"text": "changed"}, NOW, "edited")
        assert writer.delete_memories([1]) == 0 and writer.clear_memories(None) == 0
        assert writer.remove_chunks(["hidden chunk"]) == 0 and writer.delete_document("hidden") == 0
        assert writer.retag_document("hidden", ("red",), NOW) == 0
        assert writer.find_duplicates([memory("green", tags=("green",))]) == {}
    with engine.bank().read() as reader:
        assert [m.text for m in reader.memories(MemoryQuery(), ALL).rows] == ["green"]
        kept = reader.document("hidden")
        assert kept is not None and kept.tags == ("green",) and reader.chunk("hidden chunk") is not None


def test_writing_onto_a_hidden_document_is_refused(guest: BankHandle) -> None:
    with pytest.raises(Conflict), guest.write() as writer:
        writer.put_document(document("hidden", tags=("red",)))
    with pytest.raises(Conflict), guest.write() as writer:
        writer.put_chunks([chunk("new chunk", "hidden")])


def test_a_grant_that_ended_meanwhile_returns_and_commits_nothing(engine: Engine, guest: BankHandle) -> None:
    with pytest.raises(Forbidden), guest.read() as reader:
        reader.counts()
        engine.rules.denied.add("guest")
        engine.directory.epoch.advance()
    engine.rules.denied.clear()
    seq = guest.seq()
    with pytest.raises(Forbidden), guest.write() as writer:
        writer.add_memories([memory("late")], NOW)
        engine.rules.denied.add("guest")
        engine.directory.epoch.advance()
    assert guest.seq() == seq
    with pytest.raises(Forbidden), guest.read():
        pass


def test_a_filter_that_changed_meanwhile_returns_nothing(engine: Engine, guest: BankHandle) -> None:
    with pytest.raises(Unavailable), guest.read() as reader:
        reader.counts()
        engine.rules.filters["guest"] = Leaf(("green",), "any_strict")
        engine.directory.epoch.advance()
    with guest.read() as reader:
        assert [m.text for m in reader.memories(MemoryQuery(), ALL).rows] == ["green"]


def test_a_fuzzy_filter_of_a_grant_is_applied(engine: Engine, guest: BankHandle) -> None:
    engine.rules.filters["fuzzy"] = Leaf(("Green!",), "any_strict", "fuzzy")
    with engine.bank("Team", "fuzzy").read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 1
