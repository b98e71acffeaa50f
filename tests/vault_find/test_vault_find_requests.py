"""Requests of the reading tools: strict names, and the form that brings a file."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lorebank.errors import InvalidInput
from lorebank.http.errors import TooLarge
from lorebank.http.exchange import Exchange
from lorebank.http.forms import read_form
from lorebank.limits import Limits
from lorebank.service.requests import knowledge_read as requests
from lorebank.service.requests.base import RequestModel, parse
from lorebank.service.requests.knowledge_read import Attachment, SearchRequest

GOOD: dict[type[RequestModel], dict[str, Any]] = {
    requests.SearchRequest: {"query": "x"},
    requests.GetRequest: {"id": "x"},
    requests.RecallRequest: {"query": "x"},
    requests.OntologyRequest: {},
    requests.ContextRequest: {},
    requests.HistoryRequest: {"id": "x"},
    requests.RestoreRequest: {"id": "x", "revision": 1, "expectedRevision": 2},
    requests.AttachFileRequest: {"requestId": "r", "sha256": "a" * 64},
}
SELECTORS = ("store", "agent", "path", "scope", "vaultId", "agentId", "partition", "sessionKey", "anything")


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("model", GOOD, ids=lambda model: model.__name__)
def test_1_1_12_no_tool_takes_a_selector(model: type[RequestModel], name: str) -> None:
    parse(model, GOOD[model], Limits())
    with pytest.raises(InvalidInput) as caught:
        parse(model, GOOD[model] | {name: "x"}, Limits())
    assert [one.loc for one in caught.value.fields] == [("body", name)]


def test_names_are_in_camel_case_and_nulls_are_defaults() -> None:
    given = {
        "query": "x",
        "kinds": ["claim"],
        "from": "2020",
        "to": None,
        "validOn": "2021-05",
        "minScore": 0.5,
        "lifecycle": None,
        "limit": 50,
    }
    ask = parse(SearchRequest, given, Limits()).ask()
    assert (ask.question.since, ask.question.until, ask.question.valid_on) == ("2020", None, "2021-05")
    assert (ask.question.kinds, ask.question.lifecycles, ask.limit) == (("claim",), ("active",), 50)


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (requests.SearchRequest, {"query": "x", "limit": 51}),
        (requests.SearchRequest, {"query": "x", "limit": 0}),
        (requests.SearchRequest, {"query": "x", "minScore": 1.1}),
        (requests.SearchRequest, {"query": "x", "min_score": 0.1}),
        (requests.SearchRequest, {"query": "x", "kinds": ["thing"]}),
        (requests.SearchRequest, {"query": "x", "lifecycle": ["candidate"]}),
        (requests.GetRequest, {}),
        (requests.GetRequest, {"id": "x", "ids": ["y"]}),
        (requests.GetRequest, {"ids": [str(place) for place in range(21)]}),
        (requests.RecallRequest, {}),
        (requests.RecallRequest, {"query": "x", "open": [1]}),
        (requests.RecallRequest, {"recallId": "x"}),
        (requests.RecallRequest, {"recallId": "x", "open": [1], "approve": [1]}),
        (requests.OntologyRequest, {"view": "definitions"}),
        (requests.OntologyRequest, {"name": "person"}),
        (requests.HistoryRequest, {"id": "x", "revision": 1, "diff": [1, 2]}),
        (requests.HistoryRequest, {"id": "x", "diff": [1]}),
        (requests.RestoreRequest, {"id": "x", "revision": 1}),
        (requests.AttachFileRequest, {"sha256": "a" * 64}),
        (requests.AttachFileRequest, {"requestId": "r", "sha256": "a" * 63}),
        (requests.AttachFileRequest, {"requestId": "r\n", "sha256": "a" * 64}),
    ],
)
def test_wrong_requests_are_refused(model: type[RequestModel], data: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        parse(model, data, Limits())


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"filePath": "/data/ann/minutes.md"}, "minutes.md"),
        ({"filePath": "C:\\data\\minutes.md"}, "minutes.md"),
        ({"filePath": "/data/ann/x.md", "filename": "y.md"}, "y.md"),
        ({"filePath": "/data/"}, None),
        ({}, None),
    ],
)
@pytest.mark.statement("3.2")
def test_a_file_path_is_a_name_only(given: dict[str, Any], name: str | None) -> None:
    request = parse(requests.AttachFileRequest, {"requestId": "r", "sha256": "a" * 64} | given, Limits())
    assert request.ask(3).filename == name


# --- the form


def part(name: str, content: bytes, filename: str | None = None) -> bytes:
    extra = "" if filename is None else f'; filename="{filename}"'
    return f'--B\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n\r\n'.encode() + content + b"\r\n"


def received(*parts: bytes, limits: Limits | None = None) -> tuple[Attachment, bytes]:
    """The request of a form and its file, read while the form is open."""
    body = b"".join(parts) + b"--B--\r\n"

    async def receive() -> dict[str, Any]:
        nonlocal body
        sent, body = body[:65_536], body[65_536:]
        return {"type": "http.request", "body": sent, "more_body": bool(body)}

    async def work() -> tuple[Attachment, bytes]:
        headers = [(b"content-type", b"multipart/form-data; boundary=B")]
        async with read_form("attachment", receive, headers, limits or Limits()) as form:
            request: Attachment = form.request(exchange())
            return request, request.file.file.read()

    return asyncio.run(work())


def exchange() -> Exchange:
    """Not looked at: unknown fields are refused, not noted."""
    return Exchange.__new__(Exchange)


REQUEST = part("request", json.dumps({"requestId": "r", "sha256": "a" * 64}).encode())


def test_a_form_brings_the_request_and_the_file_as_it_was_sent() -> None:
    content = bytes(range(256)) * 20_000
    request, got = received(REQUEST, part("file", content, "minutes.md"))
    assert got == content and request.file.size == len(content)
    assert request.ask().request_id == "r" and request.ask().size == len(content)


@pytest.mark.parametrize(
    ("parts", "loc"),
    [
        ([REQUEST], ("body", "file")),
        ([part("file", b"x", "a")], ("body", "request")),
        ([REQUEST, REQUEST, part("file", b"x", "a")], ("body", "request")),
        ([REQUEST, part("file", b"x", "a"), part("file", b"y", "b")], ("body", "file")),
        ([REQUEST, part("file", b"x", "a"), part("store", b"y")], ("body", "store")),
        (
            [part("request", b'{"requestId": "r", "sha256": "x"}'), part("file", b"x", "a")],
            ("body", "request", "sha256"),
        ),
        ([part("request", b"[]"), part("file", b"x", "a")], ("body", "request")),
    ],
)
@pytest.mark.statement("1.1.12", "3.2")
def test_any_other_form_is_refused_by_field(parts: list[bytes], loc: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        received(*parts)
    assert caught.value.fields[0].loc[: len(loc)] == loc


@pytest.mark.statement("1.8.77")
def test_a_source_may_be_larger_than_other_uploads() -> None:
    few = Limits(file_bytes=2_048, body_bytes=2_048, attachment_bytes=200_000)
    assert len(received(REQUEST, part("file", b"x" * 150_000, "a"), limits=few)[1]) == 150_000
    with pytest.raises(TooLarge, match="ATTACHMENT"):
        received(REQUEST, part("file", b"x" * 250_000, "a"), limits=few)
