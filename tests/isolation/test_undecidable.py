"""Where no decision can be made nothing is let through: 503, and a row in the audit log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from access_admin import Admin, document, statement
from access_world import SETTINGS, ask_of
from live_server import Client, Server
from matrix_rows import ROW_OF
from planted import HIDDEN, VISIBLE, Planted, plant, shown
from wire_walk import path_of, send

from lorebank.http.routes.all import BINDINGS

_BROKEN: dict[str, tuple[str, str]] = {
    "a document that is no JSON": ("UPDATE policies SET document = ? WHERE id = ?", "{"),
    "a document of another version": (
        "UPDATE policies SET document = ? WHERE id = ?",
        json.dumps(document(statement("bank:*")) | {"version": "2031-01-01"}),
    ),
    "a statement without actions": (
        "UPDATE policies SET document = ? WHERE id = ?",
        json.dumps(document({"effect": "allow", "banks": ["*"]})),
    ),
    "an unknown effect": (
        "UPDATE policies SET document = ? WHERE id = ?",
        json.dumps(document(statement("bank:*", effect="permit"))),
    ),
    "a policy that is gone": ("DELETE FROM policies WHERE ? != '' AND id = ?", "x"),
}
_HOLDERS = ("user", "member", "robot")


def _name(number: int, holder: str) -> str:
    return f"{holder}-{number}"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str], Planted]]:
    """A server on a directory in which policies were damaged while it was stopped: keys by caller."""
    with Server(tmp_path_factory.mktemp("broken"), dict(SETTINGS)).start() as server:
        root = server.client()
        admin = Admin(root)
        planted = plant(root, "vault")
        keys: dict[str, str] = {}
        for number in range(len(_BROKEN)):
            keys |= _holders(admin, number)
        server.stop()
        _damage(server.data_dir / "registry.sqlite")
        server.start()
        yield server, keys, planted


def _holders(admin: Admin, number: int) -> dict[str, str]:
    """Callers with all rights, and beside them a policy that will break: own, a group's, a scope."""
    everything = statement("bank:*", "iam:*", "template:*")
    admin.policy(f"breaks-{number}", everything)
    user, member, robot = (_name(number, holder) for holder in _HOLDERS)
    keys = {user: admin.user(user, everything), member: admin.user(member, everything)}
    admin.attach(f"breaks-{number}", "user", user)
    admin.group(f"group-{number}")
    admin.attach(f"breaks-{number}", "group", f"group-{number}")
    admin.add_member(f"group-{number}", member)
    admin.user(f"owner-{number}", everything)
    return keys | {robot: admin.account(robot, f"owner-{number}", f"breaks-{number}")}


def _damage(registry: Path) -> None:
    database = sqlite3.connect(registry)
    with database:
        for number, (command, text) in enumerate(_BROKEN.values()):
            changed = database.execute(command, (text, f"breaks-{number}")).rowcount
            assert changed == 1
    database.close()


@pytest.mark.parametrize("holder", _HOLDERS)
@pytest.mark.parametrize("what", _BROKEN)
def test_every_operation_is_denied(
    broken: tuple[Server, dict[str, str], Planted], what: str, holder: str
) -> None:
    server, keys, planted = broken
    name = _name(list(_BROKEN).index(what), holder)
    client = server.client(keys[name])
    names = planted.open
    for binding in BINDINGS:
        row = ROW_OF[binding.operation]
        if row.opened_by & {"anybody", "everybody", "users", "agent"}:
            continue
        status, told = send(client, binding, path_of(binding, names), ask_of(binding.operation, names))
        assert status == 503, (binding.operation, status, told[:300])
        assert not shown(told, (*VISIBLE, *HIDDEN)), binding.operation
    assert client.get("/v1/default/banks")["banks"] == [], "and nothing is listed"
    principal = f"sa:{name}" if holder == "robot" else f"user:{name}"
    rows = server.client().get("/v1/lorebank/audit-logs", principal=principal, outcome="failure")
    assert rows["total"] > 100


def test_others_are_served_as_before(broken: tuple[Server, dict[str, str], Planted]) -> None:
    root = broken[0].client()
    assert len(root.memories("vault")) == 4
    assert root.get("/ext/hindclaw/users")


def test_a_broken_policy_can_be_mended(broken: tuple[Server, dict[str, str], Planted]) -> None:
    """The administrator puts a good document in its place; its holders work again."""
    server, keys, _ = broken
    client = server.client(keys["user-0"])
    assert client.request("GET", "/ext/hindclaw/groups").status == 503
    Admin(server.client()).put_policy("breaks-0", statement("bank:recall"))
    assert client.request("GET", "/ext/hindclaw/groups").status == 200


def test_nobody_is_taken_for_somebody_else_by_a_damaged_directory(
    broken: tuple[Server, dict[str, str], Planted],
) -> None:
    server, keys, _ = broken
    for key in ("hc_u_user-0_" + "0" * 32, "", "Bearer", keys["user-0"][:-1], keys["user-0"].upper()):
        client = Client(server.port, key)
        assert client.request("GET", "/v1/default/banks").status == 401
        client.close()
