"""What request models make of nulls, presence, and the several forms that clients send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import InvalidInput
from lorebank.limits import Limits
from lorebank.service.requests.banks import CreateBankRequest
from lorebank.service.requests.base import RequestModel, ignored, parse
from lorebank.service.requests.document import read_json
from lorebank.service.requests.memories import UpdateDocumentRequest, UpdateMemoryRequest
from lorebank.service.requests.recall import RecallRequest
from lorebank.service.requests.retain import DryRunExtractRequest, RetainRequest
from lorebank.tags import And, Leaf

LIMITS = Limits()


def recall(**fields: Any) -> RecallRequest:
    return parse(RecallRequest, {"query": "x"} | fields, LIMITS)


def item(**fields: Any) -> Any:
    return parse(RetainRequest, {"items": [{"content": "x"} | fields]}, LIMITS).items[0]


@pytest.mark.parametrize("model", [RecallRequest, RetainRequest, CreateBankRequest, DryRunExtractRequest])
def test_null_stands_for_the_default_of_every_optional_field(model: type[RequestModel]) -> None:
    required = {"query": "x", "items": [{"content": "x"}], "content": "x"}
    needed = {name: required[name] for name, one in model.model_fields.items() if one.is_required()}
    nulls = {one.alias or name: None for name, one in model.model_fields.items() if name not in needed}
    assert nulls
    made = parse(model, needed | nulls, LIMITS)
    assert made == parse(model, needed, LIMITS)


def test_every_optional_field_of_an_item_may_be_null() -> None:
    names = ["timestamp", "context", "metadata", "document_id", "entities", "resolve_entities", "tags"]
    names += ["observation_scopes", "strategy", "update_mode"]
    assert item(**dict.fromkeys(names)) == item()
    assert item(resolve_entities=None).resolve_entities is True


def test_entities_are_included_unless_set_to_null() -> None:
    given_forms: list[dict[str, Any]] = [
        {},
        {"include": None},
        {"include": {}},
        {"include": {"chunks": None}},
    ]
    for fields in given_forms:
        options = recall(**fields).include.entities
        assert options is not None and options.max_tokens == 500
    assert recall(include={"entities": None}).include.entities is None
    assert recall(include={"entities": {"max_tokens": None}}).include.entities is not None
    assert recall(include={"chunks": {}}).include.chunks is not None


def test_a_cleared_date_differs_from_one_that_was_not_sent() -> None:
    cleared = parse(UpdateMemoryRequest, {"occurred_start": None}, LIMITS)
    assert cleared.model_fields_set == {"occurred_start"} and cleared.occurred_start is None
    assert parse(UpdateMemoryRequest, {"text": "x"}, LIMITS).model_fields_set == {"text"}


def test_tags_arrive_in_three_forms_and_are_made_distinct() -> None:
    assert item(tags=["b", "a", "b"]).tags == ("b", "a")
    assert item(tags='["b", "a"]').tags == ("b", "a")
    assert item(tags="plain tag").tags == ("plain tag",)
    assert item(tags="[not json").tags == ("[not json",)
    assert item(tags=[]).tags == ()
    assert item(tags=["cafe\u0301"]).tags == ("caf\u00e9",)


def test_content_blocks_of_text_are_joined() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert item(content=blocks).content == "one\n\ntwo"


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (None, None),
        ("", None),
        ("unset", "unset"),
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
        ("2026-11-29T08:30:00Z", datetime(2026, 11, 29, 8, 30, tzinfo=UTC)),
        ("2026-11-29T08:30:00.25", datetime(2026, 11, 29, 8, 30, 0, 250_000, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_a_time_now_or_unset(sent: Any, meant: Any) -> None:
    assert item(timestamp=sent).timestamp == meant


def test_a_timestamp_keeps_its_offset() -> None:
    assert item(timestamp="2026-11-29T01:00:00+09:00").timestamp.utcoffset() == timedelta(hours=9)


@given(st.datetimes(timezones=st.just(UTC) | st.timezones()))
def test_a_time_goes_through_exactly(when: datetime) -> None:
    if when.utcoffset() is None or not 2 <= when.year <= 9998:
        return
    assert item(timestamp=when.isoformat()).timestamp == datetime.fromisoformat(when.isoformat())


def test_async_is_the_name_on_the_wire() -> None:
    assert parse(RetainRequest, {"items": [{"content": "x"}], "async": True}, LIMITS).asynchronous is True
    data = {"items": [{"content": "x"}], "asynchronous": True}
    assert parse(RetainRequest, data, LIMITS).asynchronous is False
    assert ignored(RetainRequest, data) == ("asynchronous",)


def test_the_retired_type_is_dropped_in_silence() -> None:
    assert recall(types=["world", "opinion"]).types == ["world"]
    assert recall(types=["opinion"]).types == []
    assert recall(types=[]).types is None and recall(types=None).types is None


def test_tags_and_groups_become_one_filter() -> None:
    assert recall().tag_filter is None and recall(tags=[]).tag_filter is None
    assert recall(tags=[], tags_match="exact").tag_filter == Leaf((), "exact")
    assert recall(tags=["b", "a"], tags_match="all").tag_filter == Leaf(("a", "b"), "all")
    assert recall(tag_groups=[{"tags": ["a"]}]).tag_filter == And((Leaf(("a",), "any_strict"),))
    assert recall(tag_groups=[]).tag_filter is None


def test_dispositions_of_older_clients_are_rounded() -> None:
    sent = {"disposition": {"skepticism": 2.6, "literalism": 1, "empathy": 5}}
    disposition = parse(CreateBankRequest, sent, LIMITS).disposition
    assert disposition is not None and disposition.skepticism == 3


def test_unknown_names_are_told_with_their_path() -> None:
    data = {"items": [{"content": "x", "mood": 1, "metadata": {"free": "x"}}], "document_tags": [], "v": 2}
    assert ignored(RetainRequest, data) == ("items.mood", "v")
    many = {f"f{i}": 1 for i in range(500)}
    assert len(ignored(RecallRequest, many)) == 50


def test_an_update_without_a_field_is_refused() -> None:
    for model in (UpdateMemoryRequest, UpdateDocumentRequest):
        with pytest.raises(InvalidInput, match="no field to update"):
            parse(model, {"unknown": 1}, LIMITS)


def test_a_repeated_key_counts_with_its_last_value() -> None:
    assert read_json(b'{"a": 1, "a": 2}', LIMITS) == {"a": 2}


def test_brackets_inside_text_are_no_nesting() -> None:
    text = "[" * 500 + '\\"' + "{" * 500
    assert read_json(f'{{"query": "{text}"}}'.encode(), LIMITS)["query"] == text.replace('\\"', '"')


@given(st.integers(1, 80))
def test_nesting_is_allowed_up_to_the_limit(depth: int) -> None:
    body = b"[" * depth + b"]" * depth
    if depth <= LIMITS.json_depth:
        assert isinstance(read_json(body, LIMITS), list)
    else:
        with pytest.raises(InvalidInput, match="64 levels"):
            read_json(body, LIMITS)
