"""The delta between a stored document and its new text."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from lorebank.banks.extract.chunking import chunk_of
from lorebank.banks.retain.delta import Delta, added, record, replaced
from lorebank.banks.retain.facts import Part
from lorebank.banks.retain.items import Item, from_json, parameters, to_json
from lorebank.storage.rows import Chunk, Document

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4), min_size=1, max_size=3)


def part(pieces: list[str], tags: tuple[str, ...] = ()) -> Part:
    item = Item("".join(pieces), tags=tags)
    return Part(
        item, parameters(item), tuple(chunk_of(i, p) for i, p in enumerate(pieces)), (1,) * len(pieces), ()
    )


def stored(parts: list[Part], change: Delta, kept: list[Chunk]) -> tuple[Document, list[Chunk]]:
    """What a store holds after a write."""
    chunks = {c.chunk_id: c for c in kept if c.chunk_id not in change.removed}
    chunks |= {c.chunk_id: c for c in change.moved}
    for fresh in change.fresh:
        piece = parts[fresh.part].pieces[fresh.piece]
        chunk = Chunk(f"b:d:{fresh.tail}", "d", fresh.index, piece.text, piece.hash, 1, 0)
        assert chunk.chunk_id not in chunks
        chunks[chunk.chunk_id] = chunk
    tags = tuple(sorted({tag for p in parts for tag in p.item.tags}))
    document = Document("d", "", 0, "", {}, {"items": [record(p) for p in parts]}, tags, None, 0, 0)
    return document, sorted(chunks.values(), key=lambda c: c.chunk_index)


def texts(parts: list[Part]) -> list[str]:
    return [piece.text for p in parts for piece in p.pieces]


@given(TEXTS, TEXTS)
def test_after_a_replace_the_chunks_are_the_new_texts_in_order(
    first: list[list[str]], second: list[list[str]]
) -> None:
    old, new = [part(p) for p in first], [part(p) for p in second]
    document, chunks = stored(old, added(old, 0, ()), [])
    change = replaced(new, document, chunks)
    _, after = stored(new, change, chunks)
    assert [c.text for c in after] == texts(new)
    assert [c.chunk_index for c in after] == list(range(len(after)))


@given(TEXTS)
def test_the_same_parts_again_change_nothing(pieces: list[list[str]]) -> None:
    parts = [part(p) for p in pieces]
    document, chunks = stored(parts, added(parts, 0, ()), [])
    assert replaced(parts, document, chunks) == Delta((), (), ())


def test_only_the_changed_chunk_is_extracted_again() -> None:
    old, new = [part(["a", "b", "c"])], [part(["a", "x", "c"])]
    document, chunks = stored(old, added(old, 0, ()), [])
    change = replaced(new, document, chunks)
    assert [f.piece for f in change.fresh] == [1]
    assert change.removed == (chunks[1].chunk_id,)


def test_other_tags_make_every_chunk_new() -> None:
    old, new = [part(["a", "b"])], [part(["a", "b"], tags=("t",))]
    document, chunks = stored(old, added(old, 0, ()), [])
    change = replaced(new, document, chunks)
    assert len(change.fresh) == len(change.removed) == 2


def test_a_document_that_was_tagged_anew_keeps_nothing() -> None:
    parts = [part(["a"], tags=("old",))]
    document, chunks = stored(parts, added(parts, 0, ()), [])
    retagged = Document("d", "", 0, "", {}, document.retain_params, ("new",), None, 0, 0)
    assert len(replaced(parts, retagged, chunks).removed) == 1


def test_a_stated_time_is_a_parameter_and_the_time_of_the_request_is_not() -> None:
    one, two = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    assert parameters(Item("a", when=one)) == parameters(Item("a", when=two))
    assert parameters(Item("a", when=one, stated=True)) != parameters(Item("a", when=two, stated=True))


ITEMS = st.builds(
    Item,
    content=st.text(min_size=1),
    context=st.text(),
    when=st.none() | st.datetimes(timezones=st.just(UTC)),
    stated=st.booleans(),
    metadata=st.dictionaries(st.text(), st.text(), max_size=2),
    document_id=st.none() | st.text(min_size=1),
    entities=st.lists(st.tuples(st.text(), st.text()), max_size=2).map(tuple),
    resolve_entities=st.booleans(),
    tags=st.lists(st.text(), max_size=2).map(tuple),
    observation_scopes=st.sampled_from([None, "shared", [["a"]]]),
    strategy=st.none() | st.text(),
    append=st.booleans(),
)


@given(ITEMS)
def test_an_item_comes_back_from_a_payload_as_it_was(item: Item) -> None:
    assert from_json(to_json(item)) == item
