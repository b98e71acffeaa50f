"""Every limit and every kind of bad input: refused with the field's name, and nothing is run."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from lorebank.limits import Limits

BANK = "/v1/default/banks/team"
RETAIN, RECALL = f"{BANK}/memories", f"{BANK}/memories/recall"
Loc = list[Any]


def nested(depth: int) -> Any:
    node: Any = {"tags": ["a"]}
    for _ in range(depth - 1):
        node = {"not": node}
    return node


def item(**fields: Any) -> dict[str, Any]:
    return {"items": [{"content": "x"} | fields]}


ITEM: Loc = ["body", "items", 0]

# limit, its value in the test, method, path, body, where the error is, what it says
TOO_MUCH: list[tuple[str, int, str, str, Any, Loc, str]] = [
    ("content_chars", 100, "POST", RETAIN, item(content="x" * 101), [*ITEM, "content"], "100 characters"),
    ("items", 2, "POST", RETAIN, {"items": [{"content": "x"}] * 3}, ["body", "items"], "2 items"),
    ("tags", 2, "POST", RETAIN, item(tags=["a", "b", "c"]), [*ITEM, "tags"], "2 tags"),
    (
        "tags",
        2,
        "POST",
        RETAIN,
        {"items": [{"content": "x"}], "document_tags": ["a", "b", "c"]},
        ["body", "document_tags"],
        "2 tags",
    ),
    ("tags", 2, "POST", RECALL, {"query": "x", "tags": ["a", "b", "c"]}, ["body", "tags"], "2 tags"),
    (
        "tags",
        2,
        "POST",
        RECALL,
        {"query": "x", "tag_groups": [{"tags": ["a", "b", "c"]}]},
        ["body", "tag_groups"],
        "2 tags",
    ),
    ("tag_bytes", 8, "POST", RETAIN, item(tags=["ok", "ü" * 5]), [*ITEM, "tags"], "tag 1"),
    ("id_bytes", 16, "POST", RETAIN, item(document_id="ü" * 9), [*ITEM, "document_id"], "16 bytes"),
    ("context_chars", 10, "POST", RETAIN, item(context="x" * 11), [*ITEM, "context"], "10 characters"),
    (
        "metadata_entries",
        1,
        "POST",
        RETAIN,
        item(metadata={"a": "1", "b": "2"}),
        [*ITEM, "metadata"],
        "1 entries",
    ),
    ("metadata_bytes", 64, "POST", RETAIN, item(metadata={"a": "x" * 60}), [*ITEM, "metadata"], "64 bytes"),
    (
        "entities",
        1,
        "POST",
        RETAIN,
        item(entities=[{"text": "a"}, {"text": "b"}]),
        [*ITEM, "entities"],
        "1 entities",
    ),
    ("query_chars", 100, "POST", RECALL, {"query": "x" * 101}, ["body", "query"], "100 characters"),
    ("page_size", 10, "GET", f"{BANK}/memories/list?limit=11", None, ["query", "limit"], "between 0 and 10"),
    ("page_size", 10, "GET", f"{BANK}/documents?limit=-1", None, ["query", "limit"], "between 0 and 10"),
    ("offset", 1000, "GET", "/v1/default/banks?offset=1001", None, ["query", "offset"], "between 0 and 1000"),
    (
        "max_tokens",
        256,
        "POST",
        RECALL,
        {"query": "x", "max_tokens": 257},
        ["body", "max_tokens"],
        "0 and 256",
    ),
    (
        "max_tokens",
        256,
        "POST",
        RECALL,
        {"query": "x", "include": {"chunks": {"max_tokens": 257}}},
        ["body", "include", "chunks", "max_tokens"],
        "0 and 256",
    ),
    ("json_depth", 8, "POST", RECALL, {"query": "x", "z": [[[[[[[[1]]]]]]]]}, ["body"], "8 levels"),
    (
        "tag_group_depth",
        2,
        "POST",
        RECALL,
        {"query": "x", "tag_groups": [nested(3)]},
        ["body", "tag_groups"],
        "2 levels",
    ),
    (
        "tag_group_nodes",
        2,
        "POST",
        RECALL,
        {"query": "x", "tag_groups": [{"tags": ["a"]}] * 3},
        ["body", "tag_groups"],
        "too many nodes",
    ),
    (
        "config_bytes",
        1024,
        "PATCH",
        f"{BANK}/config",
        {"updates": {"a": "x" * 1100}},
        ["body", "updates"],
        "1024 bytes",
    ),
    ("name_chars", 10, "PUT", BANK, {"name": "x" * 11}, ["body", "name"], "10 characters"),
    ("mission_chars", 10, "PUT", BANK, {"mission": "x" * 11}, ["body", "mission"], "10 characters"),
]
ELSEWHERE = {
    "body_bytes": "test_a_body_over_its_limit_is_not_read_to_its_end",
    "files": "test_uploads",
    "file_bytes": "test_uploads",
    "attachment_bytes": "tests/vault_find/test_vault_find_requests.py",
    "query_tokens": "cut by recall, never refused",
}


def test_every_limit_has_a_row() -> None:
    named = {row[0] for row in TOO_MUCH} | set(ELSEWHERE)
    assert named == {field.name for field in dataclasses.fields(Limits)}


@pytest.mark.parametrize("row", TOO_MUCH, ids=[f"{i}-{row[0]}" for i, row in enumerate(TOO_MUCH)])
async def test_more_than_a_limit_is_refused_by_field(make_stage: Any, row: Any) -> None:
    name, value, method, path, body, loc, says = row
    stage = make_stage(**{name: value})
    async with stage.client() as client:
        answer = await client.request(method, path, json=body)
    assert answer.status_code == 422, answer.text
    detail = answer.json()["detail"]
    assert detail[0]["loc"] == loc and says in detail[0]["msg"]
    assert set(detail[0]) == {"loc", "msg", "type"} and not stage.calls


# path, body as bytes or JSON, where
WRONG: list[tuple[str, str, Any, Loc]] = [
    ("POST", RETAIN, {}, ["body", "items"]),
    ("POST", RETAIN, {"items": []}, ["body", "items"]),
    ("POST", RETAIN, {"items": "x"}, ["body", "items"]),
    ("POST", RETAIN, [], ["body"]),
    ("POST", RETAIN, {"items": [{}]}, [*ITEM, "content"]),
    ("POST", RETAIN, {"items": ["text"]}, ITEM),
    ("POST", RETAIN, item(content=None), [*ITEM, "content"]),
    ("POST", RETAIN, item(content=5), [*ITEM, "content"]),
    ("POST", RETAIN, item(content=[{"type": "image", "source": {}}]), [*ITEM, "content"]),
    ("POST", RETAIN, item(content=[{"type": "sound"}]), [*ITEM, "content"]),
    ("POST", RETAIN, item(content="a\x00b"), [*ITEM, "content"]),
    ("POST", RETAIN, item(metadata={"a": 1}), [*ITEM, "metadata", "a"]),
    ("POST", RETAIN, item(metadata={"a": "\x00"}), [*ITEM, "metadata", "a"]),
    ("POST", RETAIN, item(tags=[1]), [*ITEM, "tags", 0]),
    ("POST", RETAIN, item(tags=["a", " "]), [*ITEM, "tags"]),
    ("POST", RETAIN, item(tags=["a\nb"]), [*ITEM, "tags"]),
    ("POST", RETAIN, item(document_id=" "), [*ITEM, "document_id"]),
    ("POST", RETAIN, item(document_id="a\nb"), [*ITEM, "document_id"]),
    ("POST", RETAIN, item(entities=[{"type": "X"}]), [*ITEM, "entities", 0, "text"]),
    ("POST", RETAIN, item(update_mode="merge"), [*ITEM, "update_mode"]),
    ("POST", RETAIN, item(timestamp="yesterday"), [*ITEM, "timestamp"]),
    ("POST", RETAIN, item(timestamp="0000-01-01"), [*ITEM, "timestamp"]),
    ("POST", RETAIN, item(timestamp="10000-01-01"), [*ITEM, "timestamp"]),
    ("POST", RETAIN, item(timestamp="2026-02-30"), [*ITEM, "timestamp"]),
    ("POST", RETAIN, item(timestamp="0001-01-01T00:00:00+05:00"), [*ITEM, "timestamp"]),
    ("POST", RETAIN, item(timestamp=17), [*ITEM, "timestamp"]),
    ("POST", RETAIN, item() | {"async": "perhaps"}, ["body", "async"]),
    ("POST", RECALL, {"query": ""}, ["body", "query"]),
    ("POST", RECALL, {"query": "?! …"}, ["body", "query"]),
    ("POST", RECALL, {"query": "x", "budget": "huge"}, ["body", "budget"]),
    ("POST", RECALL, {"query": "x", "max_tokens": 10**40}, ["body", "max_tokens"]),
    ("POST", RECALL, {"query": "x", "max_tokens": -1}, ["body", "max_tokens"]),
    ("POST", RECALL, {"query": "x", "types": ["world", "rumour"]}, ["body", "types", 1]),
    ("POST", RECALL, {"query": "x", "tags_match": "some"}, ["body", "tags_match"]),
    ("POST", RECALL, {"query": "x", "tags": ["a"], "tag_groups": [{"tags": ["a"]}]}, ["body"]),
    ("POST", RECALL, {"query": "x", "tag_groups": [{"and": {}}]}, ["body", "tag_groups"]),
    ("POST", RECALL, {"query": "x", "min_scores": {"final": "high"}}, ["body", "min_scores", "final"]),
    (
        "POST",
        RECALL,
        {"query": "x", "temporal_window": {"start": "2026-01-01"}},
        ["body", "temporal_window", "end"],
    ),
    (
        "POST",
        RECALL,
        {"query": "x", "temporal_window": {"start": "2026-01-02", "end": "2026-01-01"}},
        ["body", "temporal_window"],
    ),
    (
        "POST",
        RECALL,
        {"query": "x", "include": {"source_facts": {"max_tokens_per_observation": -2}}},
        ["body", "include", "source_facts", "max_tokens_per_observation"],
    ),
    ("POST", RECALL, b"", ["body"]),
    ("POST", RECALL, b"{", ["body"]),
    ("POST", RECALL, b'{"query": "x"} x', ["body"]),
    ("POST", RECALL, b"\xff\xfe", ["body"]),
    ("POST", RECALL, b"[" * 100_000, ["body"]),
    ("POST", RECALL, b'{"a":' * 100_000, ["body"]),
    ("POST", RECALL, b'{"query": "\\ud800"}', ["body", "query"]),
    ("POST", RECALL, b'{"query": "x", "min_scores": {"final": NaN}}', ["body", "min_scores", "final"]),
    ("POST", RECALL, b'{"query": "x", "min_scores": {"final": -Infinity}}', ["body", "min_scores", "final"]),
    ("POST", RECALL, b'{"query": "x", "min_scores": {"final": 1e999}}', ["body", "min_scores", "final"]),
    ("POST", RECALL, b'{"query": "x", "z": ' + b"9" * 5000 + b"}", ["body"]),
    ("PATCH", f"{BANK}/memories/m", {}, ["body"]),
    ("PATCH", f"{BANK}/memories/m", {"reason": "x"}, ["body"]),
    ("PATCH", f"{BANK}/memories/m", {"occurred_start": "soon"}, ["body", "occurred_start"]),
    ("PATCH", f"{BANK}/memories/m", {"state": "lost"}, ["body", "state"]),
    ("PATCH", f"{BANK}/documents/d", {}, ["body"]),
    ("PATCH", f"{BANK}/documents/d", {"observation_scopes": "mine"}, ["body", "observation_scopes"]),
    ("PUT", BANK, {"disposition_empathy": 6}, ["body", "disposition_empathy"]),
    ("PUT", BANK, {"disposition": {"empathy": 3}}, ["body", "disposition", "skepticism"]),
    ("PATCH", f"{BANK}/config", {}, ["body", "updates"]),
    ("PATCH", f"{BANK}/config", {"updates": []}, ["body", "updates"]),
    ("POST", f"{BANK}/aliases", {"alias": "a\tb"}, ["body", "alias"]),
    ("GET", f"{BANK}/memories/list?limit=many", None, ["query", "limit"]),
    ("GET", f"{BANK}/memories/list?type=rumour", None, ["query", "type"]),
    ("GET", f"{BANK}/memories/list?q=%00", None, ["query", "q"]),
    ("GET", f"{BANK}/memories/list?q=%ff", None, ["query"]),
    ("GET", f"{BANK}/memories/list?start_date=soon", None, ["query", "start_date"]),
    ("GET", f"{BANK}/memories/list?start_date=2026-02-01&end_date=2026-01-01", None, ["query"]),
    ("GET", f'{BANK}/entities?tags=a&tag_groups=[{{"tags":["b"]}}]', None, ["query"]),
    ("GET", f"{BANK}/entities?tag_groups=[", None, ["query", "tag_groups"]),
    ("GET", f"{BANK}/operations?limit=101", None, ["query", "limit"]),
    ("GET", f"{BANK}/operations?limit=0", None, ["query", "limit"]),
    ("GET", f"{BANK}/documents/d/chunks?limit=1001", None, ["query", "limit"]),
    ("GET", f"{BANK}/stats?refresh=maybe", None, ["query", "refresh"]),
    ("GET", f"{BANK}/stats/memories-timeseries?period=always", None, ["query", "period"]),
    ("POST", f"{BANK}/clone", None, ["query", "target_bank_id"]),
    ("POST", f"{BANK}/clone?target_bank_id=%20", None, ["query", "target_bank_id"]),
]


@pytest.mark.parametrize(
    "row", WRONG, ids=[f"{i}-{row[1].split('/')[-1][:20]}" for i, row in enumerate(WRONG)]
)
async def test_bad_input_is_refused_by_field(stage: Any, row: Any) -> None:
    method, path, body, loc = row
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    async with stage.client() as client:
        answer = await client.request(method, path, content=content)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"][0]["loc"] == loc
    assert not stage.calls


async def test_what_was_sent_is_not_repeated_in_the_error(stage: Any) -> None:
    secret = "my-password-is-tulip"
    bodies = [item(timestamp=secret), item(update_mode=secret), item(tags=secret + "\n"), {"items": secret}]
    async with stage.client() as client:
        answers = [await client.post(RETAIN, json=body) for body in bodies]
    assert all(answer.status_code == 422 and secret not in answer.text for answer in answers)


async def test_a_thousand_wrong_items_are_told_in_a_short_answer(stage: Any) -> None:
    async with stage.client() as client:
        answer = await client.post(RETAIN, json={"items": [{"content": 1}] * 1000})
    assert len(answer.json()["detail"]) == 20


async def test_a_body_over_its_limit_is_not_read_to_its_end(make_stage: Any) -> None:
    stage = make_stage(body_bytes=1024)
    parts = [b" " * 500] * 100
    streamed = await stage.exact("POST", RECALL, body=parts)
    announced = await stage.exact("POST", RECALL, headers={"content-length": "1025"}, body=parts)
    fitting = await stage.exact("POST", RECALL, body=[b'{"query":"x"}' + b" " * 1011])
    assert streamed.status == announced.status == 413
    assert streamed.parts_read == 3 and announced.parts_read == 0
    assert (
        "1024 bytes" in streamed.json()["detail"] and "LOREBANK_LIMIT_BODY_BYTES" in streamed.json()["detail"]
    )
    assert fitting.status == 200


async def test_a_limit_is_the_largest_value_that_is_allowed(make_stage: Any) -> None:
    stage = make_stage(content_chars=100, tags=2, items=1, tag_bytes=8, id_bytes=16)
    async with stage.client() as client:
        body = item(content="x" * 100, tags=["ü" * 4, "b"], document_id="ü" * 8)
        answer = await client.post(RETAIN, json=body)
    assert answer.status_code == 200, answer.text
