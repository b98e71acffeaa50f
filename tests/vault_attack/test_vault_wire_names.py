"""Names that cannot be seen or cannot stand in a path, dates that are none, and keys that are sent twice."""

from __future__ import annotations

import pytest

from lorebank.access.audience import run_of_host
from lorebank.errors import BadRequest, InvalidInput
from lorebank.http.routes.knowledge import BINDINGS
from lorebank.ids import check_agent_id
from lorebank.limits import Limits
from lorebank.service.requests.base import parse
from lorebank.service.requests.document import read_json
from lorebank.service.requests.knowledge_operator import EndInvocationRequest
from lorebank.service.requests.parameters import decode_segment, read_query
from lorebank.vaults.find.dates import asked
from lorebank.vaults.record.checks import date_text, is_title, line_range


@pytest.mark.parametrize("name", [".", ".."])
def test_an_agent_that_no_path_can_name_is_refused(name: str) -> None:
    with pytest.raises(BadRequest, match="path"):
        check_agent_id(name, "agent")


@pytest.mark.parametrize("name", ["a/b", "...", ".a", "%2e", "ä"])
def test_other_odd_names_of_agents_are_fine(name: str) -> None:
    assert check_agent_id(name, "agent") == name
    assert decode_segment("a%2Fb", "agent_id") == "a/b"


@pytest.mark.parametrize(
    "title", ["\u200b", " \u202e\u2060 ", "\u3164", "\u2800", "\u00ad", "\ufeff", "  ", ""]
)
def test_a_title_that_shows_nothing_is_none(title: str) -> None:
    assert not is_title(title)


@pytest.mark.parametrize("title", ["a\u200db", "\U0001f469\u200d\U0001f4bb", "-", "\u4e2d", "1"])
def test_a_title_that_shows_anything_is_one(title: str) -> None:
    assert is_title(title)


@pytest.mark.parametrize(
    "text", ["2026-W05", "2026-W05-3", "2026-W05-3T10:00", "\uff12\uff10\uff12\uff16", "20260130T08:30:00"]
)
def test_other_writings_are_no_dates(text: str) -> None:
    assert date_text(text) is None
    with pytest.raises(InvalidInput, match="validOn"):
        asked(text, "validOn")


@pytest.mark.parametrize(
    "text",
    ["2026", "2026-11", "2026-11-30", "2026-11-30T08:30:00Z", "2026-11-30 08:30", "2026-11-30T08:30+01:00"],
)
def test_dates_as_the_documents_name_them_are_taken(text: str) -> None:
    assert date_text(text) == text and asked(text, "validOn") is not None


def test_lines_are_written_in_plain_digits() -> None:
    assert line_range("1\u0663") is None and line_range("13-15") == (13, 15)


@pytest.mark.parametrize("body", [b'{"a":1,"a":1}', b'{"b":[{"a":1,"c":2,"\\u0061":3}]}'])
def test_a_key_that_stands_twice_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput, match="'a' 2 times"):
        read_json(body, Limits(), keys_once=True)
    assert read_json(body, Limits())
    assert read_json(b'[{"a":1},{"a":1e400000}]'.replace(b"e400000", b""), Limits(), keys_once=True)


def test_the_tools_and_operators_bodies_have_each_key_once() -> None:
    assert all(one.body is None or one.body.keys_once for one in BINDINGS)


def test_unknown_parameters_of_knowledge_requests_are_refused() -> None:
    for one in BINDINGS:
        with pytest.raises(InvalidInput, match="agent"):
            read_query(one.query, b"agent=bob", Limits())
        read_query(one.query, b"", Limits())


def test_a_run_may_be_ended_for_one_host() -> None:
    assert parse(EndInvocationRequest, {"invocation": "r", "host": "h"}, Limits()).host == "h"
    assert len({run_of_host("a", "b"), run_of_host("b", "a"), "a", "b"}) == 4
