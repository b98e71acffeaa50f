"""Storing new memories does not undo what somebody else stored."""

from __future__ import annotations

import json

import pytest
from access_house import ROOT, House, allow

from lorebank.access.directory import nothing_more
from lorebank.access.principal import UNMAPPED, Circumstances, Principal
from lorebank.errors import Forbidden

STRANGER = Principal("unmapped", UNMAPPED, Circumstances(provider="web", sender="web:7"), by_token=True)
WAYS = ("replace", "append")


@pytest.fixture
def shared(house: House) -> House:
    house.retain("team", {"content": "The vault is in the cellar.", "document_id": "of-root"}, who=ROOT)
    anna = house.user("anna", allow("bank:retain"))
    house.retain("team", {"content": "Anna keeps bees.", "document_id": "of-anna"}, who=anna)
    house.user("bob", allow("bank:retain"))
    return house


def _item(document_id: str, way: str) -> dict[str, str]:
    return {"content": "The moon is cheese.", "document_id": document_id, "update_mode": way}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("document_id", ["of-root", "of-anna"])
def test_retain_alone_does_not_touch_the_documents_of_others(
    shared: House, document_id: str, way: str
) -> None:
    before = shared.memories("team")
    bob = Principal("user", "bob")
    for who in (bob, shared.robot("bobs-robot", "bob")):
        with pytest.raises(Forbidden, match="bank:documents:update denied"):
            shared.retain("team", _item(document_id, way), who=who)
        assert shared.memories("team") == before
    shared.retain("team", _item(document_id, way), who=bob, **{"async": True})
    [told] = shared.run_jobs("team")
    assert "is somebody else's" in told and shared.memories("team") == before


@pytest.mark.parametrize("way", WAYS)
def test_one_changes_what_ones_own_user_stored(shared: House, way: str) -> None:
    robot = shared.robot("annas-robot", "anna")
    shared.retain("team", _item("of-anna", way), who=robot)
    texts = [memory["text"] for memory in shared.memories("team", document_id="of-anna")]
    assert any("cheese" in text for text in texts) and (way == "append") is any("bees" in t for t in texts)


@pytest.mark.parametrize("way", WAYS)
def test_a_stranger_never_stores_over_a_document(shared: House, way: str) -> None:
    public = {"default": {"actions": ["bank:retain"]}}
    text = json.dumps({"version": "2026-03-24", "public_access": public})
    with shared.directory.access.change(nothing_more) as writer:
        writer.put_bank_policy("team", text, 5)
    shared.retain("team", {"content": "Somebody rang.", "document_id": "of-stranger"}, who=STRANGER)
    before = shared.memories("team")
    for document_id in ("of-root", "of-anna", "of-stranger"):
        with pytest.raises(Forbidden):
            shared.retain("team", _item(document_id, way), who=STRANGER)
    assert shared.memories("team") == before


@pytest.mark.parametrize("way", WAYS)
def test_who_may_update_documents_may_store_over_them(shared: House, way: str) -> None:
    editor = shared.user("editor", allow("bank:retain", "bank:documents:update"))
    shared.retain("team", _item("of-root", way), who=editor)
    assert any("cheese" in memory["text"] for memory in shared.memories("team", document_id="of-root"))


def test_a_deny_on_making_banks_holds_for_retain_too(shared: House) -> None:
    deny = {"effect": "deny", "actions": ["bank:create"], "banks": ["*"]}
    carl = shared.user("carl", allow("bank:retain"), deny)
    shared.retain("team", "Carl sings.", who=carl)
    with pytest.raises(Forbidden, match="bank:create denied"):
        shared.retain("new", "Carl sings.", who=carl)
    assert [b["bank_id"] for b in shared.call("list_banks", who=ROOT)["banks"]] == ["team"]
