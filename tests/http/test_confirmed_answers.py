"""Nothing leaves after a right was taken away: answers are confirmed right before they are sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from changing_rules import DENIED, FILE, GONE, NARROWED, ChangingRules, change

from lorebank.access.resolve import Decision
from lorebank.http.binding import bind
from lorebank.http.entrance import REFUSALS_PER_SECOND, Refusals
from lorebank.http.openapi import describe
from lorebank.service.answers import FileAnswer

BANK = "/v1/default/banks/team"


@pytest.fixture
def stage(make_stage: Any) -> Any:
    return make_stage(rules=ChangingRules())


@pytest.mark.parametrize(
    ("decision", "status"), [(GONE, 401), (DENIED, 403), (NARROWED, 503), (Decision(allowed=True), 200)]
)
async def test_an_answer_is_not_sent_when_the_right_went_meanwhile(
    stage: Any, decision: Decision, status: int
) -> None:
    def answer(call: Any) -> Any:
        change(stage, decision)
        return {"text": "canary"}

    stage.answer = answer
    found = await stage.exact("GET", f"{BANK}/stats")
    assert found.status == status
    assert (b"canary" in found.body) is (status == 200)
    assert int(found.headers["content-length"]) == len(found.body)


async def test_a_change_between_the_work_and_the_answer_is_seen(stage: Any) -> None:
    """The handler is done, but its answer has not left: the change comes from the event loop."""
    working, done = threading.Event(), threading.Event()

    def answer(call: Any) -> Any:
        working.set()
        done.wait(10)
        return {"text": "canary"}

    stage.answer = answer
    async with stage.client() as client, anyio.create_task_group() as group:
        found: list[Any] = []

        async def ask() -> None:
            found.append(await client.get(f"{BANK}/stats"))

        group.start_soon(ask)
        await anyio.to_thread.run_sync(working.wait)
        change(stage, GONE)
        done.set()
    assert found[0].status_code == 401 and "canary" not in found[0].text


async def test_a_file_ends_early_when_the_right_goes_while_it_is_sent(stage: Any) -> None:
    closed = []

    def chunks() -> Iterator[bytes]:
        try:
            yield b"one"
            change(stage, DENIED)
            yield b"canary"
            yield b"three"
        finally:
            closed.append(True)

    stage.answer = lambda call: FileAnswer(chunks(), "e.zip", "application/zip", 14)
    found = await stage.exact("GET", FILE)
    assert (found.status, found.body, found.ended) == (200, b"one", False)
    assert closed == [True]


async def test_a_file_that_may_not_be_had_any_more_is_not_begun(stage: Any) -> None:
    closed = []

    class Chunks:
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> bytes:
            return b"canary"

        def close(self) -> None:
            closed.append(True)

    def answer(call: Any) -> Any:
        change(stage, DENIED)
        return FileAnswer(Chunks(), "e.zip", "application/zip", 6)

    stage.answer = answer
    found = await stage.exact("GET", FILE)
    assert (found.status, found.ended, closed) == (403, True, [True])
    assert found.headers["content-type"] == "application/json" and b"canary" not in found.body


async def test_an_answer_without_content_has_no_body_and_no_type(make_stage: Any) -> None:
    binding = bind("DELETE", "/v1/things/{id}", "delete_thing", status=204, tags=("Things",))
    stage = make_stage(bindings=(binding,))
    stage.answer = lambda call: None
    found = await stage.exact("DELETE", "/v1/things/x", headers={"accept-encoding": "gzip"})
    assert (found.status, found.body, found.ended) == (204, b"", True)
    assert set(found.headers) == {"x-request-id"}


def test_tags_and_operation_ids_are_described() -> None:
    described = describe(
        (
            bind("GET", "/a", "get_a"),
            bind("PUT", "/a", "put_a", tags=("Templates", "Admin")),
            bind("GET", "/b", "get_a", operation_id="get_b"),
        )
    )["paths"]
    assert described["/a"]["get"]["operationId"] == "get_a" and "tags" not in described["/a"]["get"]
    assert described["/a"]["put"]["tags"] == ["Templates", "Admin"]
    assert described["/b"]["get"]["operationId"] == "get_b"


async def test_a_request_from_the_command_line_is_told_from_one_over_the_network(stage: Any) -> None:
    await stage.exact("GET", f"{BANK}/stats")
    await stage.exact("GET", f"{BANK}/stats", headers={"lorebank.transport": "cli"})
    await stage.exact("GET", f"{BANK}/stats", more={"lorebank.transport": "cli"})
    assert [one.transport for one in stage.written.events[::2]] == ["http", "http", "cli"]


# Refused credentials in the audit log


async def test_refused_credentials_do_not_fill_the_audit_log(stage: Any) -> None:
    for _ in range(REFUSALS_PER_SECOND + 30):
        answer = await stage.exact("GET", f"{BANK}/stats", headers={"authorization": "wrong"})
        assert answer.status == 401
    # A slow machine may need more than one second for these requests.
    assert len(stage.written.refused()) >= REFUSALS_PER_SECOND


def test_at_most_so_many_rows_a_second_and_the_rest_is_counted() -> None:
    clock = [10.0]
    refusals = Refusals(lambda: clock[0])
    assert [refusals.admit() for _ in range(REFUSALS_PER_SECOND)] == [0] * REFUSALS_PER_SECOND
    assert [refusals.admit() for _ in range(7)] == [None] * 7
    clock[0] = 11.0
    assert [refusals.admit(), refusals.admit()] == [7, 0]


async def test_what_was_left_out_is_told_in_the_next_row(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([0, None, 31])
    monkeypatch.setattr(Refusals, "admit", lambda self: next(answers))
    for _ in range(3):
        await stage.exact("GET", f"{BANK}/stats", headers={"authorization": "wrong"})
    assert [one.reason for one in stage.written.refused()] == [
        "the API key is not valid",
        "the API key is not valid (31 more before it were left out)",
    ]


async def test_a_refusal_stays_one_when_it_cannot_be_written(
    stage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stage.written.broken = True
    answer = await stage.exact("GET", f"{BANK}/stats", headers={"authorization": "wrong"})
    assert answer.status == 401
    assert any("audit log" in one.getMessage() for one in caplog.records)
