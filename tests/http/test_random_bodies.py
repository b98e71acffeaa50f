"""Whatever is sent, the answer is never a server error."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lorebank.errors import InvalidInput
from lorebank.http.routes.all import BINDINGS
from lorebank.limits import Limits
from lorebank.service.requests.parameters import read_path, read_query
from lorebank.service.requests.queries import ListMemoriesQuery, Query

BANK = "/v1/default/banks/team"
TEXT = st.text(max_size=12) | st.sampled_from(
    ["any", "exact", "unset", "2026-11-29", "replace", "\x00", '["a"]']
)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
FIELDS = [
    "items", "content", "timestamp", "context", "metadata", "document_id", "entities", "tags", "strategy",
    "observation_scopes", "update_mode", "async", "document_tags", "operation_id", "query", "types", "budget",
    "max_tokens", "trace", "query_timestamp", "include", "tags_match", "tag_groups", "min_scores", "and",
    "or", "not", "match", "resolve", "temporal_window", "start", "end", "chunks", "source_facts",
    "type", "text",
]  # fmt: skip
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | TEXT, inner, max_size=5)
    ),
    max_leaves=15,
)
BODY = st.dictionaries(st.sampled_from(FIELDS), VALUE, max_size=6)


@pytest.mark.parametrize("path", ["memories", "memories/recall"])
def test_random_json_never_ends_in_a_server_error(make_stage: Any, path: str) -> None:
    stage = make_stage()

    with asyncio.Runner() as runner:

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(body=BODY, valid=st.booleans())
        def check(body: dict[str, Any], valid: bool) -> None:
            if valid:
                body = {"items": [{"content": "x"}], "query": "x"} | body
            raw = json.dumps(body).encode("utf-8", "surrogatepass")
            answer = runner.run(stage.exact("POST", f"{BANK}/{path}", body=[raw]))
            assert answer.status in (200, 400, 422), answer.body
            assert json.loads(answer.body)

        check()


@given(query=st.binary(max_size=60) | st.text("limit=&tags%0afqstype+;", max_size=40).map(str.encode))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_query_strings_are_read_or_refused(query: bytes) -> None:
    try:
        params, _ = read_query(ListMemoriesQuery, query, Limits())
    except InvalidInput as exc:
        assert exc.fields[0].loc[0] == "query"
    else:
        assert 0 <= params["limit"] <= 1000


ODD = ["", "%20", "0", "-1", "null", "[]", "[1]", "9999-12-31T23:59:59-14:00", "x&{name}=", "%F0%9F%90%9A"]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("model", sorted({one.query for one in BINDINGS}, key=lambda one: one.__name__))
def test_odd_values_of_every_parameter_are_read_or_refused(model: type[Query], value: str) -> None:
    for name in model.model_fields:
        try:
            params, _ = read_query(model, f"{name}={value.format(name=name)}".encode(), Limits())
        except InvalidInput as exc:
            assert exc.fields[0].loc[0] == "query"
        else:
            assert name in params


@given(raw=st.text(max_size=30) | st.binary(max_size=20).map(lambda b: "".join(f"%{c:02x}" for c in b)))
def test_random_path_segments_are_read_or_refused(raw: str) -> None:
    try:
        found = read_path({"document_id": raw}, Limits())["document_id"]
    except InvalidInput as exc:
        assert "document_id" in exc.message
    else:
        assert found.encode("utf-8") and found.strip()
