"""Which item goes into which document."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from lorebank.banks.retain.drafts import drafts, with_document_ids
from lorebank.banks.retain.items import Item


def ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"made-{next(numbers)}"


def test_items_without_any_document_id_share_one_generated_document() -> None:
    made = drafts([Item("a"), Item("b")], (), ids())
    assert [(d.document_id, len(d.items), d.named) for d in made] == [("made-1", 2, False)]


def test_an_item_without_an_id_gets_its_own_document_where_another_names_one() -> None:
    made = drafts([Item("a"), Item("b", document_id="x"), Item("c")], (), ids())
    assert [(d.document_id, d.named) for d in made] == [("made-1", False), ("x", True), ("made-2", False)]


def test_a_repeated_document_id_is_folded_into_one_document() -> None:
    made = drafts(
        [Item("a", document_id="x"), Item("b", document_id="y"), Item("c", document_id="x")], (), ids()
    )
    assert [(d.document_id, [i.content for i in d.items]) for d in made] == [("x", ["a", "c"]), ("y", ["b"])]


def test_a_document_is_appended_to_only_when_all_its_items_say_so() -> None:
    both = [Item("a", document_id="x", append=True), Item("b", document_id="x", append=True)]
    mixed = [Item("a", document_id="x", append=True), Item("b", document_id="x")]
    assert drafts(both, (), ids())[0].way == "append"
    assert drafts(mixed, (), ids())[0].way == "replace"


def test_document_tags_are_merged_into_each_items_tags_sorted_and_once() -> None:
    made = drafts([Item("a", tags=("b", "z")), Item("c")], ("z", "a"), ids())
    assert [item.tags for item in made[0].items] == [("a", "b", "z"), ("a", "z")]


def test_a_shared_generated_id_is_told() -> None:
    assert with_document_ids([Item("a"), Item("b")], ids())[1] == "made-1"
    assert with_document_ids([Item("a", document_id="x")], ids())[1] is None
