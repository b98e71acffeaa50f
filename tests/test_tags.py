"""Tag filters: the match table, groups, fuzzy expansion, and SQL that agrees with Python."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.errors import InvalidInput
from lorebank.tags import (
    And,
    Leaf,
    Not,
    Or,
    TagFilter,
    both,
    encode,
    expand_fuzzy,
    matches,
    needs_fuzzy,
    parse_tag_groups,
    similarity,
    to_sql,
)

TABLE = [
    ("any", ("a", "b"), {"a"}, True),
    ("any", ("a", "b"), {"c"}, False),
    ("any", ("a", "b"), set(), True),
    ("all", ("a", "b"), {"a"}, False),
    ("all", ("a", "b"), {"a", "b", "c"}, True),
    ("all", ("a", "b"), set(), True),
    ("any_strict", ("a",), set(), False),
    ("any_strict", ("a",), {"a", "z"}, True),
    ("all_strict", ("a", "b"), {"a", "b"}, True),
    ("all_strict", ("a", "b"), set(), False),
    ("exact", ("a", "b"), {"b", "a"}, True),
    ("exact", ("a",), {"a", "b"}, False),
    ("exact", (), set(), True),
    ("exact", (), {"a"}, False),
    ("any", (), {"a"}, True),
    ("all_strict", (), set(), True),
]


@pytest.mark.parametrize(("mode", "asked", "have", "expected"), TABLE)
def test_match_table(mode: str, asked: tuple[str, ...], have: set[str], expected: bool) -> None:
    assert matches(Leaf(asked, mode), have) is expected  # type: ignore[arg-type]


def test_not_over_a_strict_leaf_lets_untagged_rows_through() -> None:
    assert matches(Not(Leaf(("a",), "any_strict")), set())
    assert not matches(Not(Leaf(("a",), "any")), set())


TAGS = st.sampled_from(["a", "b", "c", "user:anna", "ü", "日本", 'q"uote', "per%cent", "\U0001f600"])
LEAVES = st.builds(
    Leaf,
    st.lists(TAGS, max_size=3).map(tuple),
    st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
)
TREES: st.SearchStrategy[TagFilter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(TREES, st.lists(st.sets(TAGS, max_size=4), min_size=1, max_size=6))
def test_sql_agrees_with_python(tree: TagFilter, rows: list[set[str]]) -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, tags TEXT NOT NULL)")
    db.executemany("INSERT INTO t (tags) VALUES (?)", [(encode(row),) for row in rows])
    predicate, parameters = to_sql(tree, "t.tags")
    found = [r[0] for r in db.execute(f"SELECT id FROM t WHERE {predicate} ORDER BY id", parameters)]
    db.close()
    assert found == [i for i, row in enumerate(rows, 1) if matches(tree, row)]


def test_sql_of_a_thousand_parts_is_accepted_by_sqlite() -> None:
    tree = Or(tuple(Leaf((f"t{i}",), "exact") for i in range(1001)))
    predicate, parameters = to_sql(tree, "tags")
    db = sqlite3.connect(":memory:")
    row = db.execute(f"SELECT {predicate} FROM (SELECT '[\"t1000\"]' AS tags)", parameters).fetchone()
    db.close()
    assert row == (1,)


def test_both_joins_and_treats_none_as_no_restriction() -> None:
    leaf = Leaf(("a",))
    assert both(None, None) is None
    assert both(leaf, None) == leaf == both(None, leaf)
    assert both(leaf, leaf) == And((leaf, leaf))


STORED = ["kubernetes", "kubernetes-admin", "user:anna", "user:bob", "zürich"]


def test_fuzzy_finds_a_misspelt_tag_and_not_one_that_shares_a_prefix() -> None:
    assert expand_fuzzy(Leaf(("kubernets",), "any_strict", "fuzzy"), STORED[:1]) == Leaf(("kubernetes",))
    expanded = expand_fuzzy(Leaf(("user:ana",), "any_strict", "fuzzy"), STORED)
    assert expanded == Leaf(("user:anna",))
    assert similarity("user:anna", "user:bob") < 0.5 < similarity("kubernets", "kubernetes")


def test_fuzzy_all_needs_one_resembling_tag_for_each_asked() -> None:
    tree = expand_fuzzy(Leaf(("kubernets", "user:ana"), "all_strict", "fuzzy"), STORED)
    assert matches(tree, {"kubernetes", "user:anna"})
    assert not matches(tree, {"kubernetes"})


def test_fuzzy_exact_is_any_combination() -> None:
    tree = expand_fuzzy(Leaf(("kubernets",), "exact", "fuzzy"), STORED)
    assert matches(tree, {"kubernetes"})
    assert not matches(tree, {"kubernetes", "user:bob"})


def test_fuzzy_without_resemblance_stands_for_itself() -> None:
    tree = expand_fuzzy(Not(Leaf(("nothing",), "any", "fuzzy")), STORED)
    assert tree == Not(Leaf(("nothing",), "any"))
    assert not needs_fuzzy(tree)


def test_fuzzy_tags_are_few_in_all_leaves_together() -> None:
    """Each is compared with every stored tag: one question must not keep a server busy for minutes."""
    leaf = {"tags": [f"tag-{number}" for number in range(50)], "resolve": "fuzzy"}
    assert needs_fuzzy(parse_tag_groups([leaf, {"or": [leaf, {"not": leaf}]}, leaf], "tag_groups"))
    with pytest.raises(InvalidInput, match="more than 200 fuzzy tags"):
        parse_tag_groups(
            [leaf, {"or": [leaf, {"not": leaf}]}, leaf, {"tags": ["x"], "resolve": "fuzzy"}], "t"
        )
    parse_tag_groups([{**leaf, "resolve": "exact"}] * 6, "tag_groups")


def test_fuzzy_exact_with_too_many_combinations_is_refused() -> None:
    many = [f"abcdefgh{i}" for i in range(40)]
    with pytest.raises(InvalidInput, match="exact"):
        expand_fuzzy(Leaf(("abcdefgh1", "abcdefgh2"), "exact", "fuzzy"), many)


def test_groups_are_anded_and_leaves_default_to_any_strict() -> None:
    tree = parse_tag_groups(
        [
            {"tags": ["a"]},
            {"or": [{"tags": ["b"], "match": "exact", "resolve": None}, {"not": {"tags": ["c"]}}]},
        ],
        "tag_groups",
    )
    assert tree == And((Leaf(("a",)), Or((Leaf(("b",), "exact"), Not(Leaf(("c",)))))))


@pytest.mark.parametrize(
    ("data", "loc"),
    [
        ("x", ("g",)),
        ([1], ("g", 0)),
        ([{}], ("g", 0)),
        ([{"tags": ["a"], "and": []}], ("g", 0)),
        ([{"tags": "a"}], ("g", 0, "tags")),
        ([{"tags": [1]}], ("g", 0, "tags")),
        ([{"tags": ["a"], "match": "most"}], ("g", 0, "match")),
        ([{"tags": ["a"], "resolve": "loose"}], ("g", 0, "resolve")),
        ([{"and": [{"not": []}]}], ("g", 0, "and", 0, "not")),
        ([{"tags": ["a"] * 201}], ("g", 0, "tags")),
        ([{"tags": ["a"]}] * 201, ("g", 200)),
    ],
)
def test_malformed_groups_name_the_place(data: object, loc: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_tag_groups(data, "g")
    assert caught.value.fields[0].loc == loc


def test_groups_nested_too_deep_are_refused_without_recursion_trouble() -> None:
    node: object = {"tags": ["a"]}
    for _ in range(5000):
        node = {"not": node}
    with pytest.raises(InvalidInput, match="nested deeper"):
        parse_tag_groups([node], "g")
