"""The owner of the machine, on a server without keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from iam_server import Server, path, strict


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Server]:
    """A server that asks for no key."""
    made = Server(tmp_path / "data", no_auth=True)
    yield made
    made.close()


def test_the_owner_administrates_without_a_key(local: Server) -> None:
    sent = {"id": "alice", "display_name": "Alice"}
    strict(local.done("POST", path("users"), sent, key=None, status=201), "user")
    account = {"id": "robot", "owner_user_id": "alice", "display_name": "R"}
    local.done("POST", path("service-accounts"), account, key=None, status=201)
    made = local.done("POST", path("service-accounts", "robot", "keys"), key=None, status=201)
    strict(made, "made_key")
    local.done("DELETE", path("users", "alice"), key=None, status=204)


def test_the_owner_is_no_user(local: Server) -> None:
    for where in (path("me"), path("me", "api-keys"), path("me", "service-accounts")):
        assert "users" in local.refused(403, "GET", where, key=None)
