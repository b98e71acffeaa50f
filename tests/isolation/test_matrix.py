"""The isolation matrix: every operation against every kind of caller, over HTTP (issue: Access)."""

from __future__ import annotations

from typing import Any

import pytest
from access_world import ATTIC, BANK, ELSEWHERE, MISSING, Caller, World, ask_of, named
from live_server import Answer, Client, bank_path, until
from matrix_rows import ROW_OF, ROWS, Row
from planted import HIDDEN, VISIBLE, shown
from wire_knowledge import FINDS_NOTHING
from wire_walk import Ask, Names, path_of

from lorebank.http.binding import Binding
from lorebank.http.routes.all import BINDINGS
from lorebank.service.handlers import iam_templates, reasoning
from lorebank.service.operations import Scope
from lorebank.service.table import OPERATIONS

_CANARIES = (*VISIBLE, *HIDDEN, *ATTIC)
_SENTENCES = {one.name for one in (*reasoning.OPERATIONS, *iam_templates.OPERATIONS)}
"""Operations that only say what this release lacks, to those who may use them."""
_HARMLESS = {"recall_memories", "dry_run_extract_memories", *_SENTENCES}
IN_BANK = (Scope.BANK, Scope.NEW_BANK, Scope.BANK_NAME)


def bindings_of(operation: str) -> list[Binding]:
    return [one for one in BINDINGS if one.operation == operation]


def test_every_operation_has_a_row_and_every_row_an_operation() -> None:
    assert not sorted(set(OPERATIONS) - set(ROW_OF)), "add these to tests/isolation/matrix_rows.py"
    assert not sorted(set(ROW_OF) - set(OPERATIONS)), "these rows name no operation"
    assert len(ROW_OF) == sum(len(row.operations) for row in ROWS), "an operation stands in two rows"


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_an_operation_needs_the_action_of_its_row(operation: str) -> None:
    assert operation in ROW_OF, f"{operation} has no row in tests/isolation/matrix_rows.py"
    assert OPERATIONS[operation].action == ROW_OF[operation].action


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_who_gets_through(world: World, operation: str) -> None:
    row = ROW_OF[operation]
    wrong = [
        f"{name}: {problem}"
        for name, caller in world.callers.items()
        for binding in bindings_of(operation)
        for problem in _problems(world, row, caller, binding)
    ]
    assert not wrong, "\n".join(wrong)


def _problems(world: World, row: Row, caller: Caller, binding: Binding) -> list[str]:
    opened = "anybody" in row.opened_by or bool(caller.holds & row.opened_by)
    # What lets the caller write is tried on a bank that nobody else looks at.
    writes = opened and binding.method != "GET" and binding.operation not in _HARMLESS
    names = (world.spare if writes else world.planted).open
    status, told = world.ask(caller, binding, names, ask_of(binding.operation, names))
    found = [f"shows {what}" for what in shown(told, _CANARIES)]
    if not caller.valid and "anybody" not in row.opened_by:
        return found + ([] if status == 401 else [f"answers {status}, not 401"])
    if not opened:
        right = status == 403 and f'"detail":"{row.action} denied'.encode() in told
        return found + ([] if right else [f"answers {status}, not 403: {told[:200]!r}"])
    if status in (401, 403) or status >= 500:
        found.append(f"answers {status}: {told[:200]!r}")
    if binding.operation not in {*_SENTENCES, *FINDS_NOTHING} and status >= 300:
        found.append(f"answers {status} to somebody who may: {told[:200]!r}")
    if caller.sees:
        found = [one for one in found if not one.startswith("shows") or binding.operation == "list_banks"]
    return found


def test_the_walk_can_see_what_it_looks_for(world: World) -> None:
    for name in ("recall only", "recall only, by token", "robot that may recall", "visitor"):
        _, told = _recall(world, name)
        assert shown(told, VISIBLE) and shown(told, HIDDEN), name


def _recall(world: World, name: str) -> tuple[int, bytes]:
    (binding,) = bindings_of("recall_memories")
    names = world.planted.open
    return world.ask(world.callers[name], binding, names, ask_of("recall_memories", names))


@pytest.mark.parametrize(
    "name", ["no rights", "retain only", "reflect only", "other bank", "unmapped sender"]
)
def test_a_list_of_banks_shows_only_what_one_may_see(world: World, name: str) -> None:
    client = world.callers[name].client
    assert client is not None
    seen = {one["bank_id"] for one in client.get("/v1/default/banks", limit=1000)["banks"]}
    wanted = {
        "no rights": set(),
        "retain only": {BANK, "spare"},
        "reflect only": {BANK, "spare"},
        "other bank": {ELSEWHERE},
        "unmapped sender": set(),
    }
    assert seen == wanted[name]


def test_who_only_retains_sees_only_operations_of_his_own(world: World) -> None:
    client = world.callers["retain only"].client
    assert client is not None
    others = world.planted.open.operation_id
    listed = client.bank(BANK, "/operations")
    assert listed["operations"] == [] and listed["total"] == 0
    assert client.operation(BANK, others)["status"] == "not_found"
    item = {"content": "Mara rakes the leaves.", "document_id": "own"}
    own = client.retain("spare", item, **{"async": True})["operation_id"]
    client.completed("spare", own)
    assert own in {one["id"] for one in client.bank("spare", "/operations")["operations"]}
    for method, rest in (("DELETE", ""), ("POST", "/retry"), ("DELETE", "/delete")):
        for bank, operation in ((BANK, others), ("spare", own)):
            path = bank_path(bank, f"/operations/{operation}{rest}")
            assert client.request(method, path).status == 403, "retain implies seeing, not changing"


GUARDED = sorted(name for name, one in OPERATIONS.items() if one.scope in IN_BANK)


@pytest.mark.parametrize("operation", GUARDED)
def test_a_refusal_does_not_tell_whether_a_bank_exists(world: World, operation: str) -> None:
    if "everybody" in ROW_OF[operation].opened_by:
        return _same_for_everybody(world, operation)
    for name in ("no rights", "other bank", "unmapped sender"):
        caller = world.callers[name]
        for binding in bindings_of(operation):
            names = world.planted.open
            there = _exact(caller.client, binding, names, ask_of(operation, names))
            missing = named(names, MISSING)
            gone = _exact(caller.client, binding, missing, ask_of(operation, missing))
            assert there.status == gone.status == 403, (name, there, gone)
            assert there.body == gone.body
            assert _told_in(there) == _told_in(gone)
    return None


def _same_for_everybody(world: World, operation: str) -> None:
    """What everybody may ask about himself must not tell either, but for the bank's name in it."""
    (binding,) = bindings_of(operation)
    names = world.planted.open
    there = _exact(world.callers["no rights"].client, binding, names, Ask())
    gone = _exact(world.callers["no rights"].client, binding, named(names, MISSING), Ask())
    assert there.status == gone.status
    assert there.body.replace(BANK.encode(), b"") == gone.body.replace(MISSING.encode(), b"")


def _exact(client: Client | None, binding: Binding, names: Names, ask: Ask) -> Answer:
    assert client is not None
    return client.request(
        binding.method,
        path_of(binding, names),
        ask.body,
        query=ask.query,
        files=list(ask.files) if ask.files else None,
        fields=ask.fields,
    )


def _told_in(answer: Answer) -> dict[str, str]:
    """The headers but for those that name the request and the second."""
    return {k.lower(): v for k, v in answer.headers.items() if k.lower() not in ("x-request-id", "date")}


def test_no_credential_at_all_is_401_everywhere(world: World) -> None:
    client = world.server.client(None)
    for binding in BINDINGS:
        if "anybody" in ROW_OF[binding.operation].opened_by:
            continue
        names = world.planted.open
        answer = _exact(client, binding, names, ask_of(binding.operation, names))
        assert answer.status == 401, (binding.operation, answer)
        assert not shown(answer.body + repr(answer.headers).encode(), _CANARIES)


def test_refusals_are_written_down_and_content_is_not(world: World) -> None:
    """After all those walks each caller's refusals are in the audit log, whose chain holds."""
    path = "/v1/lorebank/audit-logs"
    for principal in ("user:no-rights", "user:elsewhere", "sa:robot", "unmapped:web:stranger"):
        found = world.root.get(path, principal=principal, outcome="deny")
        assert found["total"] > 100, principal
    assert world.root.get(path, outcome="unauthenticated")["total"] > 100
    started = world.root.request("POST", path + "/verify", {}).ok()
    checked = f"{path}/verify/{started['operation_id']}"
    done = until(lambda: _ended(world.root.get(checked)), "the check of the audit log")
    assert done["result_metadata"]["problems"] == [], done
    files = [one for one in world.server.data_dir.iterdir() if one.name.startswith("audit")]
    assert files and not [what for one in files for what in shown(one.read_bytes(), _CANARIES)]


def _ended(task: Any) -> Any:
    return task if task["status"] != "processing" else None


def test_nothing_was_changed_by_those_who_may_not(world: World) -> None:
    """Runs last in this file: all the refused writes above have left no trace."""
    documents: Any = {one["id"] for one in world.root.documents(BANK)}
    assert documents == {"open-doc", "shut-doc", "bare-doc", "pending-doc"}
    texts = [one["text"] for one in world.root.memories(BANK)]
    assert len(texts) == 4 and not any("mint" in text for text in texts)
    users = {one["id"] for one in world.root.get("/ext/hindclaw/users")}
    assert "walk-user" not in users
