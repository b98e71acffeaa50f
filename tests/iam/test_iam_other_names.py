"""A policy cannot name a bank by a name under which nothing is decided, and no such name is made later."""

from __future__ import annotations

import unicodedata

import pytest
from iam_server import Server, allow, document, path

BANK = "/v1/default/banks/human-resources"


@pytest.fixture
def bank(server: Server) -> str:
    server.done("PUT", BANK, {})
    return BANK


def test_a_policy_that_names_an_alias_is_refused(server: Server, bank: str) -> None:
    server.done("POST", f"{bank}/aliases", {"alias": "hr"}, status=201)
    deny = {"effect": "deny", "actions": ["bank:recall"], "banks": ["x", "hr"]}
    told = server.refused(
        422, "POST", path("policies"), {"id": "p", "display_name": "p", "document": document(deny)}
    )
    assert "'hr' is another name of the bank 'human-resources'" in told
    server.policy("q", allow("bank:recall", banks=["human-resources"]))
    assert "another name" in server.refused(422, "PUT", path("policies", "q"), {"document": document(deny)})
    server.done("DELETE", f"{bank}/aliases/hr")
    server.done("PUT", path("policies", "q"), {"document": document(deny)})


@pytest.mark.parametrize("name", ["hr", unicodedata.normalize("NFD", "général")])
def test_a_name_that_a_policy_denies_does_not_become_an_alias(server: Server, bank: str, name: str) -> None:
    server.policy("p", {"effect": "deny", "actions": ["bank:recall"], "banks": ["a", name]})
    alias = {"alias": unicodedata.normalize("NFC", name)}
    assert "a policy restricts a bank" in server.refused(409, "POST", f"{bank}/aliases", alias)
    server.done("DELETE", path("policies", "p"), status=204)
    server.done("POST", f"{bank}/aliases", alias, status=201)


def test_a_name_with_a_bank_policy_does_not_become_an_alias(server: Server, bank: str) -> None:
    server.done("PUT", path("banks", "shop", "policy"), {"document": {"version": "2026-03-24"}})
    server.refused(409, "POST", f"{bank}/aliases", {"alias": "shop"})
