"""The wire forms of the tools that write."""

from __future__ import annotations

from typing import Any

import pytest

from lorebank.errors import InvalidInput
from lorebank.limits import Limits
from lorebank.service.requests.base import parse
from lorebank.service.requests.knowledge import (
    RememberRequest,
    SaveClaimRequest,
    SavePageRequest,
    SaveRelationshipRequest,
    SavingModel,
)
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.save_page import SectionChange

MODELS: list[tuple[type[SavingModel], dict[str, Any]]] = [
    (RememberRequest, {"text": "x"}),
    (SavePageRequest, {"title": "x", "type": "person"}),
    (SaveClaimRequest, {"text": "x", "evidence": [{"source": "s"}]}),
    (SaveRelationshipRequest, {"relation": "knows", "from": "a", "to": "b", "evidence": [{"source": "s"}]}),
]


def read(model: type[SavingModel], body: object) -> Any:
    return parse(model, body, Limits()).ask()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("model", "body"), MODELS)
@pytest.mark.parametrize(
    "name", ["store", "agent", "path", "scope", "vaultId", "sessionId", "filePath", "extra"]
)
def test_1_1_12_no_tool_takes_a_store_agent_path_or_scope(
    model: type[SavingModel], body: dict[str, Any], name: str
) -> None:
    read(model, body)
    with pytest.raises(InvalidInput) as raised:
        read(model, body | {name: "x"})
    assert raised.value.fields[0].loc == ("body", name)


def test_arguments_are_camel_case_and_the_spelling_of_records_does_too() -> None:
    camel = read(RememberRequest, {"text": "x", "claimKind": "belief", "sourcePage": "p", "requestId": "r"})
    snake = read(
        RememberRequest, {"text": "x", "claim_kind": "belief", "source_page": "p", "request_id": "r"}
    )
    assert camel == snake
    assert (camel.claim_kind, camel.source_page, camel.request_id) == ("belief", "p", "r")


def test_nested_arguments_are_strict_too() -> None:
    claim = read(SaveClaimRequest, {"text": "x", "evidence": [{"source": "s", "lines": "1-2", "quote": "q"}]})
    assert claim.evidence == (CitationInput("s", "1-2", "q"),)
    with pytest.raises(InvalidInput, match=r"evidence\.0\.store"):
        read(SaveClaimRequest, {"text": "x", "evidence": [{"source": "s", "store": "x"}]})
    page = read(SavePageRequest, {"id": "p", "section": {"heading": ["A", "B"], "text": "t"}})
    assert page.section == SectionChange(("A", "B"), "t")


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (RememberRequest, {}),
        (RememberRequest, {"text": 5}),
        (RememberRequest, {"text": "x", "validFrom": 1.5}),
        (SavePageRequest, {"id": "p", "expectedRevision": "1"}),
        (SavePageRequest, {"id": "p", "expectedRevision": 0}),
        (SavePageRequest, {"id": "p", "lifecycle": "candidate"}),
        (SavePageRequest, {"id": "p", "fields": []}),
        (SaveClaimRequest, {"evidence": {"source": "s"}}),
        (RememberRequest, []),
    ],
)
def test_wrong_forms_are_refused(model: type[SavingModel], body: object) -> None:
    with pytest.raises(InvalidInput):
        read(model, body)


def test_the_ends_of_a_relationship_are_called_from_and_to() -> None:
    found = read(SaveRelationshipRequest, MODELS[3][1])
    assert (found.source, found.target) == ("a", "b")
