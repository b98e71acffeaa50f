"""Requests about relink and of operators: ranges, strictness, and the tool over a handle."""

from __future__ import annotations

from typing import Any

import pytest

from lorebank.errors import Forbidden, InvalidInput, WritesDisabled
from lorebank.limits import Limits
from lorebank.service.requests import knowledge_operator as operator
from lorebank.service.requests.base import RequestModel, parse
from lorebank.vaults.relink.values import Ask
from lorebank.vaults.tools import relink
from vault_kit.memory_vault import MemoryVault


def asked(**body: Any) -> Ask:
    return parse(operator.RelinkRequest, body, Limits()).ask()


def test_nothing_said_is_a_run_of_100_claims() -> None:
    assert asked() == Ask(dry_run=False, limit=100, cursor=None, include="unlinked")
    assert asked(dryRun=True, limit=500, include="all") == Ask(True, 500, None, "all")


@pytest.mark.statement("1.1.12", "3.5", "4.1.13", "4.1.15")
@pytest.mark.parametrize(
    "body",
    [
        {"limit": 0},
        {"limit": 501},
        {"limit": "7"},
        {"limit": True},
        {"dryRun": 1},
        {"include": "everything"},
        {"include": "all"},
        {"cursor": ""},
        {"cursor": "!"},
        {"store": "x"},
        {"agent": "x"},
        {"path": "x"},
        {"scope": "x"},
    ],
    ids=str,
)
def test_4_1_13_wrong_arguments_are_refused_by_name(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(body))):
        asked(**body)


@pytest.mark.statement("4.1.16")
def test_4_1_16_it_needs_writes_a_dry_run_too() -> None:
    for dry_run in (True, False):
        with pytest.raises(Forbidden, match="right to save"):
            relink.run(MemoryVault(may_save=False), Ask(dry_run=dry_run))
    vault = MemoryVault(writes_enabled=False)
    vault.page("Mara Olsen")
    vault.claim("Mara Olsen prefers tea.", vault.source("x", origin="knowledge_remember"))
    with pytest.raises(WritesDisabled):
        relink.run(vault, Ask())


def test_the_tool_answers_with_counts_examples_and_the_cursor() -> None:
    answer = relink.run(MemoryVault(), Ask(dry_run=True))
    assert answer == {
        "dryRun": True,
        "examined": 0,
        "linked": 0,
        "ambiguous": 0,
        "no_subject": 0,
        "failed": 0,
        "tiers": {"page": 0, "hint": 0, "mention": 0},
        "examples": {"linked": [], "ambiguous": [], "no_subject": [], "failed": []},
        "nextCursor": None,
    }


WRONG: list[tuple[type[RequestModel], dict[str, Any], str]] = [
    (operator.GrantRequest, {"sessionKey": "k", "access": "save"}, "no grant to save only"),
    (operator.GrantRequest, {"sessionKey": "", "access": "read"}, "sessionKey"),
    (operator.ShareRequest, {"name": "x", "path": "/"}, "path"),
    (operator.AnswerReviewRequest, {"outcome": "not_needed"}, "outcome"),
    (operator.ResolveRequest, {"requestId": "r", "keep": "both"}, "keep"),
    (operator.ResolveRequest, {"requestId": "r", "keep": "mine", "folder": "../x"}, "folder"),
    (operator.ImportRequest, {"path": "/x", "name": "a", "agent": "b"}, "not both"),
    (operator.HostReportRequest, {"agents": ["a"], "conversations": [{"agent": "a"}]}, "sessionKey"),
    (operator.BrowseQuery, {"limit": "51"}, "limit"),
    (operator.BrowseQuery, {"kind": "source"}, "kind"),
]


@pytest.mark.parametrize(("model", "body", "said"), WRONG, ids=lambda one: getattr(one, "__name__", None))
def test_a_wrong_field_of_an_operator_is_named(model: type[RequestModel], body: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse(model, body, Limits())


def test_browsing_is_a_list_or_a_question() -> None:
    browse = parse(operator.BrowseQuery, {"q": " tea ", "kind": "claim", "limit": "5"}, Limits()).params()[
        "browse"
    ]
    ask = browse.search()
    assert (ask.question.query, ask.question.kinds, ask.question.lifecycles, ask.limit) == (
        "tea",
        ("claim",),
        (),
        5,
    )
    assert parse(operator.BrowseQuery, {}, Limits()).params()["browse"].query == ""
