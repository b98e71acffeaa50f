"""Who stored something is written by the server, and by nobody else."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from access_house import ROOT, House, allow
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.principal import Principal
from lorebank.banks.reserved import is_reserved
from lorebank.errors import InvalidInput

ALL = ("bank:recall", "bank:retain", "bank:documents:*", "bank:import", "bank:export", "bank:clone")
FORGED = ["user:bob", "USER:bob", " user:bob", "agent:other", "Agent:x", "ｕｓｅｒ：bob", "\u200buser:bob"]


@pytest.fixture
def anna(house: House) -> Principal:
    house.retain("team", "Root says that the bakery is closed.", who=ROOT)
    return house.user("anna", allow(*ALL, retain_tags=["role:staff", "kept"]), agent="hal")


def test_items_get_the_tags_of_request_policy_user_and_agent_once(house: House, anna: Principal) -> None:
    item = {"content": "The harp is sold.", "tags": ["music", "kept"], "document_id": "d"}
    house.retain("team", item, who=anna, document_tags=["shop", "music"])
    [memory] = house.memories("team", document_id="d")
    assert memory["tags"] == ["agent:hal", "kept", "music", "role:staff", "shop", "user:anna"]
    assert house.documents("team")["d"]["tags"] == memory["tags"]


def test_a_service_account_stores_for_its_owner_and_root_as_sent(house: House, anna: Principal) -> None:
    house.retain("team", "The robot swept the yard.", who=house.robot("sweeper", "anna"))
    assert [m["tags"] for m in house.memories("team")] == [[], ["kept", "role:staff", "user:anna"]]


def test_waiting_items_keep_the_tags_that_were_decided_when_they_came(house: House, anna: Principal) -> None:
    house.retain("team", "The boat left.", who=anna, **{"async": True})
    house.user("anna", allow(*ALL, retain_tags=["later"]))
    assert house.run_jobs("team") == ["completed"]
    assert house.memories("team")[-1]["tags"] == ["agent:hal", "kept", "role:staff", "user:anna"]


@pytest.mark.parametrize("tag", FORGED)
def test_a_forged_tag_is_refused_and_its_field_named(house: House, anna: Principal, tag: str) -> None:
    before = house.memories("team")
    for background in (False, True):
        more = {"async": background}
        with pytest.raises(InvalidInput, match=r"items\[1\]\.tags.*reserved") as caught:
            house.retain("team", "Fine.", {"content": "Forged.", "tags": [tag]}, who=anna, **more)
        assert caught.value.fields[0].loc == ("body", "items", 1, "tags")
        with pytest.raises(InvalidInput, match=r"document_tags.*reserved"):
            house.retain("team", "Forged.", who=anna, document_tags=["fine", tag], **more)
        with pytest.raises(InvalidInput, match=r"observation_scopes.*reserved"):
            scoped = {"content": "Forged.", "observation_scopes": [["fine"], [tag]]}
            house.retain("team", scoped, who=anna, **more)
    with pytest.raises(InvalidInput, match=r"files_metadata\[0\]\.tags.*reserved"):
        house.send_file("team", "Forged.", who=anna, tags=[tag])
    assert house.memories("team") == before and house.run_jobs("team") == []


def test_no_bank_is_made_for_a_forged_tag(house: House, anna: Principal) -> None:
    with pytest.raises(InvalidInput, match="reserved"):
        house.retain("new", {"content": "Forged.", "tags": ["user:bob"]}, who=anna)
    assert [b["bank_id"] for b in house.call("list_banks", who=ROOT)["banks"]] == ["team"]


def test_ones_own_marks_may_be_sent_and_who_may_reserve_sends_any(house: House, anna: Principal) -> None:
    house.retain("team", {"content": "The harp is sold.", "tags": ["user:anna", "agent:hal"]}, who=anna)
    assert house.memories("team")[-1]["tags"] == ["agent:hal", "kept", "role:staff", "user:anna"]
    carl = house.user("carl", allow("bank:retain"), allow("bank:tags:reserved"))
    house.retain("team", {"content": "The lute is sold.", "tags": ["user:bob"]}, who=carl)
    assert house.memories("team")[-1]["tags"] == ["user:bob", "user:carl"]


def test_file_retains_are_marked_too(house: House, anna: Principal) -> None:
    house.send_file("team", "The lighthouse was painted red.", who=anna, tags=["coast"])
    assert house.run_jobs("team") == ["completed"]
    assert house.memories("team")[-1]["tags"] == ["agent:hal", "coast", "kept", "role:staff", "user:anna"]


def test_updating_a_document_neither_forges_nor_removes_marks(house: House, anna: Principal) -> None:
    house.retain("team", {"content": "The harp is sold.", "document_id": "d"}, who=anna)
    carl = house.user("carl", allow("bank:documents:*"))
    with pytest.raises(InvalidInput, match=r"tags.*reserved"):
        house.call("update_document", "team", {"tags": ["x", "user:bob"]}, who=carl, document_id="d")
    scopes = {"observation_scopes": [["user:bob"]]}
    with pytest.raises(InvalidInput, match=r"observation_scopes.*reserved"):
        house.call("update_document", "team", scopes, who=carl, document_id="d")
    house.call("update_document", "team", {"tags": ["x", "user:anna"]}, who=carl, document_id="d")
    assert house.memories("team", document_id="d")[0]["tags"] == ["agent:hal", "user:anna", "x"]
    house.call("update_document", "team", {"tags": []}, who=carl, document_id="d")
    assert house.documents("team")["d"]["tags"] == ["agent:hal", "user:anna"]
    house.call("update_document", "team", {"tags": []}, who=ROOT, document_id="d")
    assert house.documents("team")["d"]["tags"] == []


def test_labels_make_no_marks_for_who_may_not_set_them(house: House, anna: Principal) -> None:
    labels = [
        {"key": "user", "tag": True, "type": "multi-values", "values": [{"value": "bob"}, {"value": "anna"}]},
        {"key": "topic", "tag": True, "type": "multi-values", "values": [{"value": "harp"}]},
    ]
    house.call("update_bank_config", "team", {"updates": {"entity_labels": labels}}, who=ROOT)
    house.retain("team", {"content": "Bob and Anna sold the harp.", "document_id": "d"}, who=anna)
    [mine] = house.memories("team", document_id="d")
    assert [t for t in mine["tags"] if ":" in t] == ["agent:hal", "role:staff", "topic:harp", "user:anna"]
    assert "user:bob" in mine["entities"]
    house.retain("team", {"content": "Bob and Anna sold the harp.", "document_id": "e"}, who=ROOT)
    [its] = house.memories("team", document_id="e")
    assert its["tags"] == ["topic:harp", "user:anna", "user:bob"]


def test_reprocessing_by_somebody_else_keeps_the_marks(house: House, anna: Principal) -> None:
    house.retain("team", {"content": "The harp is sold.", "document_id": "d"}, who=anna)
    carl = house.user("carl", allow("bank:documents:*", "bank:recall"))
    house.call("reprocess_document", "team", who=carl, document_id="d")
    assert house.run_jobs("team") == ["completed"]
    assert house.memories("team", document_id="d")[0]["tags"] == [
        "agent:hal",
        "kept",
        "role:staff",
        "user:anna",
    ]


def exported(house: House, bank: str) -> bytes:
    operation = house.call("export_bank_transfer", bank, who=ROOT)["operation_id"]
    assert house.run_jobs(bank) == ["completed"]
    return house.download(house.operation(bank, operation)["result_metadata"]["download_url"], ROOT)


@pytest.mark.parametrize("mode", ["restore", "merge"])
def test_an_archive_brings_no_marks_of_others(house: House, anna: Principal, mode: str) -> None:
    house.retain("source", {"content": "The harp is sold.", "tags": ["user:bob"]}, who=ROOT)
    archive = exported(house, "source")
    house.retain("there", "Something is here.", who=anna)
    target = "there" if mode == "merge" else "copy"
    params: dict[str, Any] = {"mode": mode, "target_bank_id": target}
    for who, ended in ((anna, "reserved tag 'user:bob'"), (ROOT, "completed")):
        house.call("import_bank_transfer", "there", archive, who=who, **params)
        [told] = house.run_jobs("there")
        assert ended in told
        if who is anna and mode == "merge":
            assert house.texts("there") == ["Something is here."]
    assert house.memories(target)[-1]["tags"] == ["user:bob"]
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        assert json.loads(packed.read("manifest.json"))["bank_id"] == "source"


def test_ones_own_archive_and_clone_are_fine_and_a_clone_brings_no_marks(
    house: House, anna: Principal
) -> None:
    house.retain("mine", "The harp is sold.", who=anna)
    house.call("import_bank_transfer", "mine", exported(house, "mine"), who=anna, target_bank_id="again")
    house.call("clone_bank", "mine", who=anna, target_bank_id="double")
    house.retain("mine", "Carl has the lute.", who=house.user("carl", allow("bank:retain")))
    house.call("clone_bank", "mine", who=anna, target_bank_id="never")
    assert [told[:9] for told in house.run_jobs("mine")][:1] == ["completed"]
    banks = {b["bank_id"] for b in house.call("list_banks", who=ROOT)["banks"]}
    assert "again" in banks and "never" not in banks


TAGS = st.text(max_size=6)


@given(TAGS, st.sampled_from(["user:", "agent:"]), st.sampled_from(["", " ", "\u3000", "\u00ad", "\ufeff"]))
def test_marks_are_seen_through_case_width_and_white_space(rest: str, prefix: str, around: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) for c in prefix)
    for form in (prefix, prefix.upper(), prefix.title(), wide, wide.upper()):
        assert is_reserved(around + form + rest)
    for plain in ("users", "user", "agentic:x", "role:user:x", "super" + prefix):
        assert not is_reserved(plain)
