"""Conversation access, and what the host reports."""

from __future__ import annotations

import pytest
from assignments_kit import OWNER, Opener, World, role
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.knowledge import ConversationGrant
from lorebank.errors import Forbidden, InvalidInput
from lorebank.vaults.assignments.grants import REVOKED_NOTE, UNKNOWN_MARK

KEY = "agent:main:telegram:group:7"


def access(world: World, key: str, agent: str = "main") -> str | None:
    grant = world.facts.data.grant_for(agent, key)
    return None if grant is None else grant.access


@pytest.mark.parametrize("wrong", ["save", "write", "read-and-save ", "", "READ", "owner"])
def test_1_3_25_there_is_no_grant_to_save_only(wrong: str, world: World) -> None:
    with pytest.raises(InvalidInput, match="no grant to save only"):
        world.grants.set(OWNER, "main", KEY, wrong)
    assert world.registry.grants() == []


def test_1_3_26_a_grant_covers_its_key_and_what_extends_it_with_a_colon(world: World) -> None:
    world.grants.set(OWNER, "main", KEY, "read")
    assert access(world, KEY) == access(world, KEY + ":topic:1") == access(world, KEY + ":") == "read"
    for other in (KEY + "1", KEY + "foo:1", KEY[:-1], KEY.upper(), "x:" + KEY, ""):
        assert access(world, other) is None
    assert access(world, KEY, "research") is None


@given(st.text(":ab", min_size=1, max_size=5), st.text(":ab", max_size=5))
def test_covering_is_equality_or_a_prefix_with_a_colon(key: str, other: str) -> None:
    covers = ConversationGrant("a", key, "read", "o", 1).covers(other)
    assert covers == (other == key or other[: len(key) + 1] == key + ":")


@pytest.mark.parametrize(("wide", "narrow"), [("read", "read-and-save"), ("read-and-save", "read")])
def test_1_3_27_the_most_specific_grant_wins_even_a_narrower_one(
    wide: str, narrow: str, world: World
) -> None:
    for key, kind in ((KEY, wide), (KEY + ":t", narrow)):
        world.grants.set(OWNER, "main", key, kind)
    assert access(world, KEY + ":t:x") == access(world, KEY + ":t") == narrow
    assert access(world, KEY + ":tx") == access(world, KEY) == wide


@pytest.mark.statement("1.3.31", "1.3.35")
def test_1_3_31_grants_are_kept_in_the_registry_and_hold_at_once(world: World, open_world: Opener) -> None:
    epoch = world.facts._epoch.value
    made = world.grants.set(OWNER, "main", KEY, "read")
    assert made.granted_by == "owner" and access(world, KEY) == "read"
    assert world.facts._epoch.value == epoch + 1 and not world.config.exists()
    world.grants.set(OWNER, "main", KEY, "read-and-save")
    assert access(world, KEY) == "read-and-save"
    again = open_world(None)
    assert access(again, KEY) == "read-and-save"
    assert again.grants.drop(OWNER, "main", KEY) and not again.grants.drop(OWNER, "main", KEY)
    assert access(again, KEY) is None and "cannot be taken back" in REVOKED_NOTE


def test_1_3_33_a_grant_that_no_known_conversation_matches_is_marked_and_works(world: World) -> None:
    world.grants.set(OWNER, "main", KEY, "read")
    (line,) = world.grants.granted(OWNER, "main")
    assert line.mark == UNKNOWN_MARK == "No known conversation" and access(world, KEY) == "read"
    other = {"agent": "main", "sessionKey": KEY + "0", "kind": "group"}
    world.host.report(["main"], [other])
    assert world.grants.granted(OWNER, "main")[0].mark == UNKNOWN_MARK
    world.host.report(["main"], [other, {"agent": "main", "sessionKey": KEY + ":topic", "kind": "channel"}])
    assert world.grants.granted(OWNER, "main")[0].mark is None
    assert world.grants.granted(OWNER, "research") == []


def test_a_report_gives_nobody_anything(world: World) -> None:
    world.host.report(["main"], [{"agent": "main", "sessionKey": KEY, "kind": "group", "label": "Family"}])
    assert access(world, KEY) is None and not world.tree()


def test_group_and_channel_conversations_are_offered_with_their_grant(world: World) -> None:
    kinds = {"a:1": "direct", "a:2": "group", "a:3": "channel"}
    rows = [{"agent": "main", "sessionKey": key, "kind": kind} for key, kind in kinds.items()]
    world.host.report(["main", "other"], [*rows, {"agent": "other", "sessionKey": "b", "kind": "group"}])
    world.grants.set(OWNER, "main", "a:2", "read")
    found = world.grants.conversations(OWNER, "main")
    assert [(line.conversation.session_key, line.grant and line.grant.access) for line in found] == [
        ("a:2", "read"),
        ("a:3", None),
    ]


@pytest.mark.statement("1.3.34")
def test_1_3_34_grants_are_for_agents_within_the_role(world: World) -> None:
    mine = role("main")
    world.grants.set(mine, "main", KEY, "read")
    for attempt in (
        lambda: world.grants.set(mine, "other", KEY, "read"),
        lambda: world.grants.drop(mine, "other", KEY),
        lambda: world.grants.granted(mine, "other"),
        lambda: world.grants.conversations(mine, "other"),
    ):
        with pytest.raises(Forbidden):
            attempt()
    assert [grant.agent for grant in world.registry.grants()] == ["main"]


@pytest.mark.parametrize("key", ["", " ", "a\nb", "x" * 1025, "\ud800"])
def test_keys_that_cannot_be_are_refused(key: str, world: World) -> None:
    with pytest.raises(InvalidInput):
        world.grants.set(OWNER, "main", key, "read")


@pytest.mark.parametrize(
    ("conversation", "word"),
    [
        ({"agent": "other", "sessionKey": "k", "kind": "group"}, "one of the agents"),
        ({"agent": "main", "sessionKey": "k", "kind": "room"}, "kind must be one of"),
        ({"agent": "main", "kind": "group"}, "sessionKey"),
        ({"agent": "main", "sessionKey": "k", "kind": "group", "label": 7}, "label"),
        ({"agent": "main", "sessionKey": "", "kind": "group"}, "must not be empty"),
    ],
)
def test_a_wrong_report_is_refused_as_a_whole(
    conversation: dict[str, object], word: str, world: World
) -> None:
    world.host.report(["main"], [])
    with pytest.raises(InvalidInput, match=word):
        world.host.report(["main", "new"], [conversation])
    assert world.facts.data.known == {"main"}
