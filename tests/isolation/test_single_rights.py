"""Each action by itself opens its operations and shows no more; everything but it does not open them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from access_admin import Admin, statement
from access_world import World, ask_of
from live_server import Client, bank_path
from matrix_rows import ROWS, Row
from planted import HIDDEN, VISIBLE, Planted, plant, shown
from wire_walk import path_of, send

from lorebank.http.routes.all import BINDINGS
from lorebank.service.handlers import reasoning

RAW = {
    "bank:recall",
    "bank:memories:list",
    "bank:memories:get",
    "bank:memories:update",
    "bank:graph",
    "bank:documents:list",
    "bank:documents:get",
    "bank:entities:list",
    "bank:entities:get",
    "bank:tags:list",
    "bank:export",
}
"""Actions whose answers hold what the bank holds. No other answer may show a word of it."""
TARGETS = {
    "clone_bank": "bank:import",
    "import_bank_transfer": "bank:import",
    "create_bank_alias": "bank:create",
    "create_or_update_bank": "bank:update",
}
"""Operations whose callers name another bank in them, or a bank that is there already, and the action that is
needed for that."""
READING = RAW - {"bank:memories:update"} | {"bank:read", "bank:stats", "bank:config:read", "bank:audit:list"}
"""Actions whose operations must find something, or the test proves nothing."""
SENTENCES = {one.name for one in reasoning.OPERATIONS}
# What is deleted first cannot be asked for later.
_ROWS = sorted(
    (row for row in ROWS if row.action and "agent" not in row.opened_by),
    key=lambda row: row.action == "bank:delete",
)


@dataclass(frozen=True)
class Single:
    """A user whose only policy the tests rewrite, and a bank that nobody else looks at."""

    admin: Admin
    client: Client
    planted: Planted
    spare: Planted

    def may(self, *statements: Any) -> None:
        self.admin.put_policy("of-single", *statements)


@pytest.fixture(scope="module")
def single(world: World) -> Iterator[Single]:
    key = world.admin.user("single", statement("bank:list"))
    planted, spare = plant(world.root, "ware"), plant(world.root, "ware-to-lose")
    yield Single(world.admin, world.server.client(key), planted, spare)
    for bank in ("ware", "ware-clone", "ware-to-lose", "ware-to-lose-clone"):
        world.root.request("DELETE", bank_path(bank))


@pytest.mark.parametrize("row", _ROWS, ids=[row.action for row in _ROWS])
def test_an_action_alone_opens_its_row_and_shows_no_content_unless_it_reads(single: Single, row: Row) -> None:
    extra = {TARGETS[name] for name in row.operations if name in TARGETS}
    single.may(statement(row.action, *extra))
    for operation, status, told in _answers(single, row):
        assert status not in (401, 403) and status < 500, (operation, status, told[:300])
        if row.action in READING and operation not in SENTENCES:
            assert status < 300, (operation, status, told[:300])
        if row.action not in RAW:
            assert not shown(told, (*VISIBLE, *HIDDEN)), (operation, told[:300])


_CLOSED = [row for row in _ROWS if not row.opened_by & {"everybody", "users"}]
"""What nobody may do without a right to it."""


@pytest.mark.parametrize("row", _CLOSED, ids=[row.action for row in _CLOSED])
def test_everything_but_an_action_does_not_open_its_row(single: Single, row: Row) -> None:
    allow = statement("bank:*", "iam:*", "template:*", "knowledge:*")
    single.may(allow, statement(row.action, effect="deny"))
    for operation, status, told in _answers(single, row):
        assert status == 403, (operation, status, told[:300])
        assert f'"detail":"{row.action} denied"'.encode() in told
        assert not shown(told, (*VISIBLE, *HIDDEN))


@pytest.mark.parametrize("giver", ["recall", "retain"])
def test_a_deny_also_denies_what_the_action_implies(single: Single, giver: str) -> None:
    single.may(statement("bank:*"), statement(f"bank:{giver}", effect="deny"))
    for row in ROWS:
        if giver in row.opened_by:
            for operation, status, _ in _answers(single, row):
                assert status == 403, operation


def _answers(single: Single, row: Row) -> Iterator[tuple[str, int, bytes]]:
    for binding in BINDINGS:
        if binding.operation in row.operations:
            # What is taken away must not be missing when others look for it.
            names = (single.spare if binding.method == "DELETE" else single.planted).open
            ask = ask_of(binding.operation, names)
            yield binding.operation, *send(single.client, binding, path_of(binding, names), ask)
