"""Tag groups of policies as one filter."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st
from policy_kit import GROUPS, allow, document

from lorebank.access.policy.tag_filter import distinct, key_of, tag_filter
from lorebank.access.policy.values import TagGroup
from lorebank.tags import MAX_NODES, matches, parse_tag_groups, to_sql


def read(*groups: TagGroup) -> tuple[TagGroup, ...]:
    """The groups as a document carries them."""
    return (
        document(allow("bank:recall", recall_tag_groups=list(groups)))
        .statements[0]
        .parameters.recall_tag_groups
        or ()
    )


def test_every_group_must_match() -> None:
    found = tag_filter(read(*GROUPS[:2]))
    assert matches(found, {"d:sales"})
    assert matches(found, set())
    assert not matches(found, {"d:sales", "secret"})
    assert not matches(found, {"d:hr"})


def test_no_groups_hide_nothing() -> None:
    assert matches(tag_filter(()), {"secret"})


def test_more_groups_than_a_request_may_have_still_make_a_filter() -> None:
    groups = tuple({"not": {"tags": [f"t{n}"], "match": "any_strict"}} for n in range(MAX_NODES * 3))
    found = tag_filter(groups)
    assert matches(found, {"other"})
    assert not matches(found, {f"t{MAX_NODES * 3 - 1}"})
    assert len(to_sql(found, "tags")[1]) == MAX_NODES * 3


def test_a_group_is_what_was_written() -> None:
    (group,) = read({"tags": ["b", "a", "b"], "note": "mine"})
    assert group == {"tags": ["b", "a", "b"], "note": "mine"}
    assert json.loads(json.dumps(group)) == group


def test_copies_of_groups_work_as_well() -> None:
    statement = document(allow("bank:recall", recall_tag_groups=list(GROUPS))).statements[0]
    groups = statement.parameters.recall_tag_groups or ()
    for copied in (copy.deepcopy(groups), asdict(statement.parameters)["recall_tag_groups"], GROUPS):
        assert [key_of(one) for one in copied] == [key_of(one) for one in groups]
        assert tag_filter(tuple(copied)) == tag_filter(groups)


def test_groups_are_the_same_whatever_the_order_of_their_keys() -> None:
    assert distinct(({"tags": ["a"], "match": "any"}, {"match": "any", "tags": ["a"]})) == (
        {"tags": ["a"], "match": "any"},
    )


@given(
    st.lists(st.sampled_from(GROUPS), max_size=4), st.sets(st.sampled_from(("d:sales", "secret", "x", "y")))
)
def test_the_filter_is_that_of_the_wire(groups: list[TagGroup], tags: set[str]) -> None:
    asked = matches(parse_tag_groups(list(groups), "tag_groups"), tags)
    assert matches(tag_filter(tuple(groups)), tags) is asked
    assert matches(tag_filter(read(*groups)), tags) is asked
    assert matches(tag_filter(distinct(groups)), tags) is asked
