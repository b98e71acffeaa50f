"""A bank is made by what can be stored in it, never by a request that is refused."""

from __future__ import annotations

from typing import Any

import pytest
from bank_server import Server

from lorebank.errors import InvalidInput, NotFound

_OPERATION = "8f14e45f-ceea-467f-a1d4-5a3b4b7c2d10"


@pytest.mark.parametrize(
    "body",
    [
        {"items": [{"content": " "}]},
        {"items": [{"content": "tea", "strategy": "unknown"}]},
        {"items": [{"content": "tea", "tags": ["labels:pending"]}]},
        {"items": [{"content": "tea"}], "operation_id": _OPERATION},
        {"items": [{"content": "tea"}], "operation_id": "no uuid", "async": True},
        {
            "items": [{"content": "tea", "document_id": "d"}, {"content": "milk", "document_id": "d"}],
            "async": True,
        },
    ],
)
def test_a_refused_retain_leaves_no_bank_behind(server: Server, body: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        server.call("retain_memories", "new", body)
    with pytest.raises(NotFound):
        server.call("get_bank_profile", "new")


def test_an_accepted_retain_makes_the_bank(server: Server) -> None:
    server.call("retain_memories", "new", {"items": [{"content": "Alice prefers tea."}]})
    assert server.call("get_bank_profile", "new")["bank_id"] == "new"


def test_a_strategy_of_an_existing_bank_is_known_to_the_check(server: Server) -> None:
    server.call("update_bank_config", "new", {"updates": {"retain_strategies": {"raw": {}}}})
    body = {"items": [{"content": "Alice prefers tea.", "strategy": "raw"}]}
    assert server.call("retain_memories", "new", body)["success"]
