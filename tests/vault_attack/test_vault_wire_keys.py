"""Session keys and ids that look like one another, and UUIDs that stand for somebody else's conversation."""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.audience import Audience
from lorebank.access.audience_token import make_token, read_audience
from lorebank.access.knowledge import ConversationGrant, KnowledgeData, keys_that_cover
from lorebank.access.signed_token import TokenRules
from lorebank.errors import InvalidInput, Unauthenticated
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.assignments.grants import check_session_key

SECRET = "a-secret-of-a-host-with-more-than-32-bytes"
NOW = 1_800_000_000 * 1_000_000
COMPOSED = "agent:main:chat:caf\u00e9"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
KEYS = st.text(alphabet="a:é", min_size=1, max_size=12)


def said(**claims: object) -> Audience:
    talk = {"agent": "main", "visibility": "conversation", "session_key": "k", "session_id": "s"}
    token = make_token(talk | {"invocation": "run"} | claims, SECRET, 300, NOW)
    return read_audience(token, TokenRules((SECRET,)), NOW).audience


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SqliteKnowledgeRegistry]:
    made = SqliteKnowledgeRegistry(tmp_path / "knowledge")
    yield made
    made.close()


@pytest.mark.parametrize(("granted", "other"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])
def test_a_grant_is_reached_by_the_bytes_of_its_key_only(granted: str, other: str) -> None:
    grant = ConversationGrant("main", granted, "read", "user:root", NOW)
    data = KnowledgeData(grants={"main": (grant,)})
    mine, others = said(session_key=granted), said(session_key=other + ":thread")
    assert mine.session_key is not None and others.session_key is not None
    assert data.grant_for("main", mine.session_key) == grant
    assert data.grant_for("main", others.session_key) is None


def test_session_ids_that_differ_in_bytes_are_two_conversations(registry: SqliteKnowledgeRegistry) -> None:
    ids = [said(session_id=one).session_id for one in (COMPOSED, DECOMPOSED)]
    assert ids == [COMPOSED, DECOMPOSED]
    assert len({registry.session_uuid(one, record=True) for one in ids if one is not None}) == 2


def test_every_key_that_can_be_granted_can_be_said() -> None:
    longest = "k" * 1024
    assert said(session_key=check_session_key(longest)).session_key == longest
    with pytest.raises(InvalidInput):
        check_session_key("e\u0301" * 400)
    with pytest.raises(Unauthenticated):
        said(session_key="e\u0301" * 400)


def test_the_uuid_of_another_session_does_not_open_its_partition(registry: SqliteKnowledgeRegistry) -> None:
    talk = registry.session_uuid("telegram:1", record=True)
    for spelled in (talk, talk.upper()):
        found = registry.session_uuid(spelled, record=True)
        assert found != talk and registry.session_uuid(spelled, record=False) == found
        assert registry.session_uuid(found, record=True) not in (talk, found)
    assert registry.session_uuid("telegram:1", record=False) == talk
    theirs = str(uuid.uuid5(uuid.NAMESPACE_URL, "of the host"))
    assert registry.session_uuid(theirs, record=True) == theirs


@pytest.mark.parametrize("blank", [" ", "\u3000", "\u00a0 "])
def test_a_run_whose_end_could_not_be_reported_is_refused(blank: str) -> None:
    with pytest.raises(Unauthenticated, match="invocation"):
        said(invocation=blank)


@given(KEYS, KEYS)
def test_the_keys_that_cover_are_those_whose_grants_do(granted: str, key: str) -> None:
    covers = ConversationGrant("main", granted, "read", "o", 1).covers(key)
    assert (granted in set(keys_that_cover(key))) == covers
    lengths = [len(one) for one in keys_that_cover(key)]
    assert lengths == sorted(lengths, reverse=True)
