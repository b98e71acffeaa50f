"""The index's tag mask agrees with the definition of tag filters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lorebank.search.tagsets import TagSets
from lorebank.tags import And, Leaf, Not, Or, TagFilter, matches

TAGS = st.sampled_from(["a", "b", "c", "user:1", "ä"])
LEAVES = st.builds(
    Leaf,
    st.lists(TAGS, max_size=3).map(tuple),
    st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
)
TREES: st.SearchStrategy[TagFilter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)


@given(TREES, st.lists(st.lists(TAGS, max_size=3).map(tuple), min_size=1, max_size=8))
def test_mask_and_definition_agree(tree: TagFilter, rows: list[tuple[str, ...]]) -> None:
    tagsets = TagSets()
    numbers = [tagsets.number(row) for row in rows]
    passing = tagsets.passing(tree, len(tagsets))
    assert [bool(passing[number]) for number in numbers] == [matches(tree, row) for row in rows]


@given(TREES, st.lists(st.lists(TAGS, max_size=3).map(tuple), min_size=2, max_size=8))
def test_sets_added_later_do_not_change_an_older_view(tree: TagFilter, rows: list[tuple[str, ...]]) -> None:
    tagsets = TagSets()
    tagsets.number(rows[0])
    before = tagsets.passing(tree, 1).tolist()
    for row in rows[1:]:
        tagsets.number(row)
    assert tagsets.passing(tree, 1).tolist() == before
