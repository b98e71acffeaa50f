"""The list of banks as each caller sees it, a caller's own rights on a bank, and what stays closed."""

from __future__ import annotations

from typing import Any

import pytest
from access_house import ROOT, House, allow, talk

from lorebank.access.actions import ACTIONS
from lorebank.access.principal import UNMAPPED, Circumstances, Principal
from lorebank.errors import Forbidden, NeedsLLM
from lorebank.service.table import OPERATIONS

SECRET = "The vault code is canary1234."


@pytest.fixture
def stocked(house: House) -> House:
    """Two banks, one with a mission, an alias and four memories, one of them in the vault."""
    house.retain("hr", *(f"Desk {n} is free." for n in range(3)), who=ROOT)
    house.retain("hr", {"content": SECRET, "tags": ["vault"], "document_id": "d"}, who=ROOT)
    profile = {"name": "People", "reflect_mission": "Know the desks.", "disposition_empathy": 5}
    house.call("update_bank", "hr", profile, who=ROOT)
    house.call("create_bank_alias", "hr", {"alias": "staff", "primary": True}, who=ROOT)
    house.retain("lab", "The lamp is on.", who=ROOT)
    return house


def listed(house: House, who: Principal, **params: Any) -> dict[str, dict[str, Any]]:
    found = house.call("list_banks", who=who, **params)
    rows = {row["bank_id"]: row for row in found["banks"]}
    assert found["total"] == len(rows)
    return rows


def test_a_list_shows_numbers_and_profile_only_with_the_right_to_them(stocked: House) -> None:
    new = listed(stocked, ROOT)["lab"]
    for action in ("bank:retain", "bank:reflect", "bank:list"):
        row = listed(stocked, stocked.user("anna", allow(action, banks=["hr"])))
        assert list(row) == ["hr"] and row["hr"]["name"] == "People"
        told = {
            k: row["hr"][k]
            for k in ("mission", "disposition", "display_alias", "fact_count", "last_write_at")
        }
        plain = {"display_alias": None, "fact_count": 0, "last_write_at": None}
        assert told == {"mission": new["mission"], "disposition": new["disposition"]} | plain
    profiled = listed(stocked, stocked.user("anna", allow("bank:read", banks=["hr"])))["hr"]
    assert (profiled["mission"], profiled["display_alias"], profiled["fact_count"]) == (
        "Know the desks.",
        "staff",
        0,
    )
    counted = listed(stocked, stocked.user("anna", allow("bank:stats", "bank:list", banks=["hr"])))["hr"]
    assert (counted["mission"], counted["fact_count"]) == (new["mission"], 4)
    whole = listed(stocked, stocked.user("anna", allow("bank:recall", banks=["hr"])))["hr"]
    assert (whole["mission"], whole["fact_count"]) == ("Know the desks.", 4)


def test_counts_of_a_list_are_of_what_the_caller_sees(stocked: House) -> None:
    groups = [{"not": {"tags": ["vault"]}}]
    anna = stocked.user("anna", allow("bank:recall", "bank:stats", recall_tag_groups=groups))
    assert {bank: row["fact_count"] for bank, row in listed(stocked, anna).items()} == {"hr": 3, "lab": 1}
    assert listed(stocked, anna, q="STAFF")["hr"]["matched_aliases"] == ["staff"]
    assert listed(stocked, stocked.user("bert")) == {}


def test_a_list_is_one_row_of_the_audit_log(stocked: House) -> None:
    anna = stocked.user("anna", allow("bank:recall"))
    before = stocked.audited()
    assert len(listed(stocked, anna)) == 2
    assert stocked.audited() == before + 1


# own rights


def test_own_rights_name_every_action_and_what_the_main_ones_are_worth(stocked: House) -> None:
    groups = [{"tags": ["open"], "match": "any_strict"}]
    anna = stocked.user(
        "anna",
        allow("bank:recall", recall_budget="low", recall_max_tokens=100, recall_tag_groups=groups),
        allow(
            "bank:retain",
            retain_roles=["user"],
            retain_tags=["x"],
            retain_every_n_turns=3,
            retain_strategy="s",
        ),
        allow(
            "bank:reflect", recall_budget="mid", llm_model="m", llm_provider="p", exclude_providers=["fax"]
        ),
        agent="hal",
    )
    told = stocked.call("get_bank_access", "hr", who=anna)
    actions = told.pop("actions")
    assert set(actions) == {action for action in ACTIONS if action.startswith("bank:")}
    yes = {action for action, allowed in actions.items() if allowed}
    assert {"bank:recall", "bank:memories:get", "bank:access"} < yes and "bank:delete" not in yes
    assert told == {
        "bank_id": "hr",
        "principal": {"kind": "user", "id": "anna", "user": "anna"},
        "recall": {"budget": "low", "max_tokens": 100, "tag_groups": groups},
        "retain": {
            "roles": ["user"],
            "tags": ["agent:hal", "user:anna", "x"],
            "every_n_turns": 3,
            "strategy": "s",
        },
        "reflect": {"budget": "mid", "llm_model": "m", "llm_provider": "p"},
        "exclude_providers": ["fax"],
    }


def test_own_rights_do_not_tell_which_banks_exist(stocked: House) -> None:
    bert = stocked.user("bert")
    told = [stocked.call("get_bank_access", bank, who=bert) for bank in ("hr", "staff", "no such bank")]
    assert [one.pop("bank_id") for one in told] == ["hr", "staff", "no such bank"]
    assert told[0] == told[1] == told[2]
    assert {action for action, allowed in told[0]["actions"].items() if allowed} == {"bank:access"}
    nothing = {"roles": None, "tags": [], "every_n_turns": None, "strategy": None}
    assert told[0]["retain"] == nothing and told[0]["recall"]["tag_groups"] is None


def test_robots_and_strangers_are_told_their_own(stocked: House) -> None:
    stocked.user("anna", allow("bank:recall", banks=["hr"]))
    robot = stocked.call("get_bank_access", "hr", who=stocked.robot("sweeper", "anna"))
    assert robot["principal"] == {"kind": "service_account", "id": "sweeper", "user": "anna"}
    assert robot["actions"]["bank:recall"] is True
    visitor = Principal("unmapped", UNMAPPED, Circumstances(provider="web", sender="web:7"), by_token=True)
    told = stocked.call("get_bank_access", "hr", who=visitor)
    assert told["principal"] == {"kind": "unmapped", "id": UNMAPPED, "user": None}
    assert told["actions"]["bank:recall"] is False


# what stays closed


def test_who_may_reflect_alone_gets_no_text_from_any_operation(stocked: House) -> None:
    anna = stocked.user("anna", allow("bank:reflect"))
    [memory] = stocked.memories("hr", document_id="d")
    ids = {"memory_id": memory["id"], "document_id": "d", "entity_id": memory["id"], "chunk_id": "hr:d:0"}
    bare = [operation for operation in OPERATIONS.values() if operation.action.startswith("bank:")]
    for operation in bare:
        if operation.name in ("list_banks", "get_bank_access", "reflect"):
            continue
        with pytest.raises(Forbidden, match="denied"):
            stocked.guard.run(operation.name, anna, bank_id="hr", params=ids)
    with pytest.raises(NeedsLLM):
        stocked.call("reflect", "hr", {"query": "What is the code?"}, who=anna)
    assert "canary1234" not in repr(stocked.call("list_banks", who=anna))


def test_the_input_of_a_job_is_for_who_sent_it_and_who_may_read_documents(stocked: House) -> None:
    anna = stocked.user("anna", allow("bank:retain"))
    sent = stocked.retain("hr", talk(("user", SECRET)), who=anna, **{"async": True})["operation_id"]
    for name, actions, reads in (
        ("anna", ("bank:retain",), True),
        ("bert", ("bank:operations:get",), False),
        ("carl", ("bank:operations:get", "bank:documents:get"), True),
    ):
        told = stocked.operation("hr", sent, stocked.user(name, allow(*actions)))
        assert (told["status"], "canary1234" in repr(told)) == ("pending", reads)
    unseen = stocked.operation("hr", sent, stocked.user("dora", allow("bank:retain")))
    assert unseen["status"] == "not_found"


def test_a_dry_run_tells_no_names_to_who_may_not_read_entities(stocked: House) -> None:
    named = {"content": "Zork Zweig left.", "entities": [{"text": "Zork Zweig"}]}
    stocked.retain("hr", named, who=ROOT)
    for actions, knows in ((("bank:retain",), False), (("bank:retain", "bank:recall"), True)):
        anna = stocked.user("anna", allow(*actions))
        asked = {"content": "yesterday zork zweig came back."}
        found = stocked.call("dry_run_extract_memories", "hr", asked, who=anna)
        assert ("Zork Zweig" in found["facts"][0]["entities"]) is knows
