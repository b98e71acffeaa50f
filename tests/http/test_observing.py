"""Metrics, log lines and the API description."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lorebank.config import Settings
from lorebank.http.logs import JsonFormatter, TerminalFormatter, TextFormatter, configure
from lorebank.metrics import MAX_SERIES, Counter, Metrics

BANK = "/v1/default/banks/team"
SECRET = "where-is-the-tulip"


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


async def test_metrics_count_requests_by_operation(stage: Any) -> None:
    async with stage.client() as client:
        await client.post(f"{BANK}/memories/recall", json={"query": "x"})
        await client.post(f"{BANK}/memories/recall", json={"query": ""})
        answer = await client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(answer.text)
    for status in ("200", "422"):
        labels = (("operation", "recall_memories"), ("status", status))
        assert found["lorebank_operation_seconds_count", labels] == 1
    wrong = (("code", "invalid_input"), ("operation", "recall_memories"))
    assert found["lorebank_errors_total", wrong] == 1


def test_histograms_are_cumulative_and_gauges_are_read_when_asked_for() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.001, 0.03, 100.0):
        metrics.arms.observe(seconds, 'se"man\\tic\n')
    metrics.gauge("lorebank_open_stores", "Stores that are open.", lambda: 3)
    metrics.gauge("lorebank_memory_bytes", "Memory by use.", lambda: {"b": 2, "a": 1.5}, label="use")
    found = samples(metrics.render())
    arm = ("arm", 'se"man\\tic\n')
    assert found["lorebank_recall_arm_seconds_bucket", (arm, ("le", "0.001"))] == 2
    assert found["lorebank_recall_arm_seconds_bucket", (arm, ("le", "0.04"))] == 3
    assert found["lorebank_recall_arm_seconds_bucket", (arm, ("le", "+Inf"))] == 4
    assert found["lorebank_recall_arm_seconds_sum", (arm,)] == pytest.approx(100.0315)
    assert found["lorebank_open_stores", ()] == 3
    assert found["lorebank_memory_bytes", (("use", "a"),)] == 1.5


def test_the_number_of_series_is_bounded() -> None:
    counter = Counter("c", "c", ("name",))
    for i in range(MAX_SERIES + 50):
        counter.add(str(i))
    assert len(list(counter.samples())) <= MAX_SERIES + 1
    assert counter.value("other") == 50


async def test_a_request_is_logged_without_what_was_asked(
    stage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="lorebank.http")
    async with stage.client() as client:
        await client.post(f"{BANK}/memories/recall?z={SECRET}", json={"query": SECRET, SECRET: 1})
        await client.get(f"/v1/default/banks/{SECRET}/documents/{SECRET}")
        await client.get(f"/{SECRET}")
        await client.post(f"{BANK}/memories", json={"items": [{"content": SECRET, "timestamp": SECRET}]})
    lines = [
        formatter.format(one) for one in caplog.records for formatter in (TextFormatter(), JsonFormatter())
    ]
    assert len(lines) == 8 and not any(SECRET in line for line in lines)
    first = json.loads(lines[1])
    assert first["operation"] == "recall_memories" and first["status"] == 200 and first["method"] == "POST"
    assert first["route"] == "/v1/default/banks/{bank_id}/memories/recall" and first["ms"] >= 0
    assert len(first["request_id"]) == 16
    assert "status=404" in lines[4] and "error=invalid_input" in lines[6]


async def test_a_terminal_sees_a_request_in_few_words_and_no_health_checks(
    stage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="lorebank.http")
    async with stage.client() as client:
        await client.get("/health/live")
        await client.post(f"{BANK}/memories/recall", json={"query": ""})
    (line,) = (TerminalFormatter().format(one) for one in caplog.records)
    time, method, route, status, ms, unit, error = line.split()
    assert (method, status, unit, error) == ("POST", "422", "ms", "invalid_input")
    assert route == "/v1/default/banks/{bank_id}/memories/recall"
    assert len(time) == 8 and int(ms) >= 0


def test_logging_is_set_up_from_the_settings() -> None:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    try:
        configure(Settings(log_level="warning", log_format="json"))
        assert root.level == logging.WARNING
        assert isinstance(root.handlers[0].formatter, JsonFormatter)
        configure(Settings())
        assert len(root.handlers) == 1 and isinstance(root.handlers[0].formatter, TextFormatter)
    finally:
        root.handlers[:] = before
        root.setLevel(level)


async def test_the_description_has_every_route_and_the_real_models(stage: Any) -> None:
    async with stage.client(key=None) as client:
        document = (await client.get("/openapi.json")).json()
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    bound = {(one.method, one.shown_path) for one in stage.app.bindings}
    assert described == bound
    recall = document["paths"]["/v1/default/banks/{bank_id}/memories/recall"]["post"]
    reference = recall["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    model = document["components"]["schemas"][reference.rpartition("/")[2]]
    assert model["required"] == ["query"] and "tag_groups" in model["properties"]
    assert json.dumps(document).count("#/components/schemas/") > 10
    listing = document["paths"]["/v1/default/banks/{bank_id}/memories/list"]["get"]["parameters"]
    assert {"limit", "tags", "start_date"} <= {one["name"] for one in listing if one["in"] == "query"}


async def test_the_description_says_what_each_argument_of_a_knowledge_tool_means(stage: Any) -> None:
    async with stage.client(key=None) as client:
        document = (await client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    tools = [one["post"] for path, one in document["paths"].items() if "/knowledge/tools/" in path]
    names = [
        schema["$ref"].rpartition("/")[2]
        for tool in tools
        for kind, content in tool["requestBody"]["content"].items()
        if "$ref" in (schema := content["schema"]) and kind == "application/json"
    ]
    assert len(names) == len(tools) - 1, "a file comes as a form"
    for name in (*names, "AttachFileRequest"):
        arguments = schemas[name]["properties"]
        assert arguments and all(one.get("description") for one in arguments.values()), name
    answers = schemas["AnswerReviewRequest"]["properties"]["outcome"]["enum"]
    assert answers == ["enqueued", "skipped", "unavailable", "failed"]
