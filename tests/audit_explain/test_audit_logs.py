"""The audit log over the API: whose rows, which fields, which filters, and what never stands in it."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from audited import LOGS, Audited, allow, refused

from lorebank.cli.api import Api, bank_path
from lorebank.cli.wire import path

SUMMARY = {"id", "action", "transport", "bank_id", "started_at", "ended_at", "duration_ms", "metadata"}
METADATA = {"principal", "client", "outcome", "determining", "reason", "request_id", "target", "seq", "hash"}
CANARY = "Zanzibarquokka"


def logs(bank: str, *rest: str) -> str:
    return bank_path(bank, "audit-logs", *rest)


def test_a_banks_log_has_hindsights_fields_and_only_its_rows(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    server.retain("other", "Odd has a key.")
    answer = server.root.get(logs("notes"))
    assert answer.keys() == {"bank_id", "total", "limit", "offset", "items"}
    assert (answer["bank_id"], answer["limit"], answer["offset"]) == ("notes", 50, 0)
    assert answer["total"] == len(answer["items"]) > 0
    for item in answer["items"]:
        assert item.keys() == SUMMARY and item["bank_id"] == "notes"
        assert item["metadata"].keys() >= METADATA
        assert item["started_at"] <= item["ended_at"] and item["duration_ms"] >= 0
    outcomes = [(one["action"], one["metadata"]["outcome"]) for one in answer["items"]]
    assert outcomes[-2:] == [("bank:retain", "done"), ("bank:retain", "allow")]


def test_one_row_never_has_a_request_or_a_response(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    first = server.root.get(logs("notes"))["items"][-1]
    entry = server.root.get(logs("notes", first["id"]))
    assert entry == first | {"request": None, "response": None}
    assert server.root.get(f"{LOGS}/{first['id']}") == entry


def test_another_banks_row_is_not_there(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    server.retain("other", "Odd has a key.")
    foreign = server.root.get(logs("other"))["items"][0]["id"]
    for log_id in (foreign, "0", "999999", "-1", "x", "٣", "9" * 40):
        assert "not found" in refused(
            "not_found", lambda log_id=log_id: server.root.get(logs("notes", log_id))
        )
    assert "not found" in refused("not_found", lambda: server.root.get(logs("nothing")))


def test_a_refusal_tells_why_and_by_whom(server: Audited) -> None:
    intern = server.made(
        "intern",
        allow("bank:recall", "notes"),
        {"effect": "deny", "actions": ["bank:retain"], "banks": ["*"]},
    )
    refused(
        "forbidden", lambda: intern.post(bank_path("notes", "memories"), {"items": [{"content": CANARY}]})
    )
    (row,) = server.rows(principal="user:intern", outcome="deny")
    data = row["metadata"]
    assert (row["action"], row["bank_id"], data["operation"]) == ("bank:retain", "notes", "retain_memories")
    assert data["determining"] == ["of-intern#1"] and data["reason"] == "a deny statement matches"
    assert data["request_id"]
    assert server.rows(request_id=data["request_id"]) == [row]


def test_rows_are_found_by_their_operation(server: Audited) -> None:
    grants = path("v1", "lorebank", "knowledge", "agents", "main", "grants")
    server.root.put(grants, {"sessionKey": "k", "access": "read"})
    server.root.get(grants)
    given = server.rows(operation="grant_knowledge_access")
    assert [one["metadata"]["outcome"] for one in given] == ["done", "allow"]
    (listed,) = server.rows(operation="list_knowledge_grants")
    assert listed["metadata"]["outcome"] == "allow", "a read has one row"
    assert server.rows(operation="grant_knowledge") == server.rows(operation='"') == []
    server.retain("notes", "Mara moves to Oslo.")
    whole = server.root.get(logs("notes"), operation="retain_memories")
    assert whole["total"] == 2 and server.root.get(logs("notes"), operation="x")["total"] == 0


def test_no_content_is_ever_written_down(server: Audited) -> None:
    server.retain("notes", f"{CANARY} is a place that nobody has been to.", f"tag-{CANARY}")
    server.root.post(bank_path("notes", "memories", "recall"), {"query": f"What is {CANARY}?"})
    server.root.patch(bank_path("notes", "config"), {"updates": {"retain_mission": CANARY}})
    server.root.get(bank_path("notes", "memories", "list"), q=CANARY)
    refused(
        "invalid_input", lambda: server.root.post(bank_path("notes", "memories"), {"items": [{CANARY: 1}]})
    )
    server.made("canary", allow("bank:recall", "*", retain_tags=[CANARY]))
    rows = server.rows()
    assert len(rows) > 10 and CANARY not in json.dumps(rows)


def test_filters_narrow_and_ends_are_included(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    server.root.post(bank_path("notes", "memories", "recall"), {"query": "Where is Mara?"})
    short, long = (server.root.get(logs("notes"), action=name)["items"] for name in ("recall", "bank:recall"))
    assert len(short) == 1 and short == long
    assert server.root.get(logs("notes"), transport="mcp")["items"] == []
    (row,) = short
    at = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=row["metadata"]["at"])
    same = {"start_date": at.isoformat(), "end_date": at.isoformat(), "action": "recall"}
    assert server.root.get(logs("notes"), **same)["items"] == short
    later = (at + timedelta(microseconds=1)).isoformat()
    assert server.root.get(logs("notes"), action="recall", start_date=later)["items"] == []
    page = server.root.get(logs("notes"), limit=1, offset=1)
    assert page["limit"] == 1 and len(page["items"]) == 1 and page["total"] > 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": 501},
        {"offset": -1},
        {"start_date": "yesterday"},
        {"start_date": "2026-02-01", "end_date": "2026-01-01"},
    ],
)
def test_what_cannot_be_asked_is_refused(server: Audited, wrong: dict[str, Any]) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    for target in (logs("notes"), LOGS):
        message = refused("invalid_input", lambda target=target: server.root.get(target, **wrong))
        assert any(name in message for name in wrong)


def test_an_unknown_word_finds_nothing_in_a_bank_and_is_refused_for_the_server(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    assert server.root.get(logs("notes"), transport="pigeon", action="fly")["items"] == []
    for wrong in ({"transport": "pigeon"}, {"outcome": "maybe"}):
        assert next(iter(wrong)) in refused(
            "invalid_input", lambda wrong=wrong: server.root.get(LOGS, **wrong)
        )


def test_a_request_counts_once(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    for _ in range(2):
        server.root.post(bank_path("notes", "memories", "recall"), {"query": "Where is Mara?"})
    answer = server.root.get(logs("notes", "stats"), period="1d")
    assert answer.keys() == {"bank_id", "period", "trunc", "start", "buckets"}
    assert (answer["bank_id"], answer["period"], answer["trunc"]) == ("notes", "1d", "hour")
    assert len(answer["buckets"]) == 25 and answer["buckets"][0]["time"] == answer["start"]
    last = answer["buckets"][-1]
    assert last["actions"]["bank:recall"] == 2 and last["actions"]["bank:retain"] == 1
    assert all(one["total"] == sum(one["actions"].values()) for one in answer["buckets"])
    only = server.root.get(logs("notes", "stats"), action="recall")
    assert [one["total"] for one in only["buckets"]][-1] == 2
    assert (
        server.root.get(f"{LOGS}/stats", bank="notes", principal="user:nobody")["buckets"][-1]["total"] == 0
    )
    refused("invalid_input", lambda: server.root.get(logs("notes", "stats"), period="2 weeks"))


def test_who_may_read_it(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    server.retain("other", "Odd has a key.")
    reader = server.made("reader", allow("bank:audit:*", "notes"))
    assert reader.get(logs("notes"))["total"] > 0
    assert refused("forbidden", lambda: reader.get(logs("other"))) == "bank:audit:list denied"
    for target in (LOGS, f"{LOGS}/stats", f"{LOGS}/1"):
        assert refused("forbidden", lambda target=target: reader.get(target)) == "iam:audit:read denied"
    refused("forbidden", lambda: reader.post(f"{LOGS}/verify", {}))
    recaller = server.made("recaller", allow("bank:recall bank:retain bank:reflect", "*"))
    assert refused("forbidden", lambda: recaller.get(logs("notes"))) == "bank:audit:list denied"


def test_a_filter_hides_what_others_asked_for(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.", "secret")
    server.root.get(bank_path("notes", "documents", "doc-notes"))
    hidden = [{"not": {"tags": ["secret"], "match": "any_strict"}}]
    filtered = server.made("filtered", allow("bank:audit:* bank:recall", "notes", recall_tag_groups=hidden))
    assert any(one["metadata"]["target"] for one in server.root.get(logs("notes"))["items"])
    items = filtered.get(logs("notes"))["items"]
    assert items and "doc-notes" not in json.dumps(items)


def verified(api: Api, body: dict[str, Any]) -> dict[str, Any]:
    task = api.post(f"{LOGS}/verify", body)["operation_id"]
    for _ in range(500):
        state: dict[str, Any] = api.get(f"{LOGS}/verify/{task}")
        if state["status"] != "processing":
            assert state["status"] == "completed", state
            return dict(state["result_metadata"])
        time.sleep(0.01)
    raise AssertionError("the check did not end")


def test_an_auditor_needs_no_other_right_to_check_the_chain(server: Audited) -> None:
    auditor = server.made("auditor", allow("iam:audit:read"))
    first = verified(auditor, {})
    assert first["problems"] == [] and first["rows"] == first["head_seq"]
    head = {"seq": first["head_seq"], "hash": first["head_hash"]}
    assert verified(auditor, {"expect": head})["problems"] == []
    assert "another hash" in verified(auditor, {"expect": head | {"hash": "0" * 64}})["problems"][0]
    assert "not there" in verified(auditor, {"expect": head | {"seq": 10**9}})["problems"][0]
    refused("invalid_input", lambda: auditor.post(f"{LOGS}/verify", {"expect": {"seq": 1, "hash": "x"}}))
    assert auditor.get(f"{LOGS}/verify/nothing")["status"] == "not_found"


def test_the_features_tell_that_there_is_a_log(server: Audited) -> None:
    assert server.root.get("/version")["features"]["audit_log"] is True
