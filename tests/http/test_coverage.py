"""No door without a lock: every route runs a declared operation, and none answers without the right to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hindsight_client_api
import httpx
import pytest
from starlette.routing import Match

from fixed_facts import FixedFacts
from fixed_rules import FixedRules, Unrecorded
from lorebank.access.actions import ACTIONS, AUDIENCE_ONLY, EVERY_USER, EVERYBODY, IMPLIED, SHOWS_BANK
from lorebank.access.authenticate import Authenticator
from lorebank.access.grant import Grant
from lorebank.access.resolve import Epoch, Resolver
from lorebank.access.vault_resolve import VaultResolver
from lorebank.banks.chunk_ids import chunk_id
from lorebank.banks.transfer.keys import file_key
from lorebank.config import Settings
from lorebank.errors import NotFound
from lorebank.http.app import App, create_app
from lorebank.http.binding import Binding
from lorebank.http.endpoint import Endpoint
from lorebank.http.routes.all import BINDINGS
from lorebank.ids import BankId
from lorebank.metrics import Metrics
from lorebank.service.guard import Guard
from lorebank.service.operations import Operation, Scope
from lorebank.service.requests.audit import VerifyAuditRequest
from lorebank.service.requests.banks import (
    BankConfigUpdate,
    BankTemplateManifest,
    CreateBankAliasRequest,
    CreateBankRequest,
    SetBankAliasPrimaryRequest,
)
from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.iam import (
    AddChannelRequest,
    AddMemberRequest,
    CreateApiKeyRequest,
    CreateGroupRequest,
    CreateMyServiceAccountRequest,
    CreatePolicyRequest,
    CreateServiceAccountRequest,
    CreateUserRequest,
    UpdateGroupRequest,
    UpdateMyServiceAccountRequest,
    UpdatePolicyRequest,
    UpdateServiceAccountRequest,
    UpdateUserRequest,
    UpsertBankPolicyRequest,
    UpsertPolicyAttachmentRequest,
)
from lorebank.service.requests.maintenance import BackupRequest, DoctorRequest, ReembedRequest
from lorebank.service.requests.memories import UpdateDocumentRequest, UpdateMemoryRequest
from lorebank.service.requests.recall import RecallRequest
from lorebank.service.requests.retain import DryRunExtractRequest, RetainRequest
from lorebank.service.table import OPERATIONS
from small_directory import SmallDirectory

STRANGER = "hc_u_stranger"
PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")
NAMED = {"id": "x", "display_name": "x"}
SAMPLES: dict[Any, Any] = {
    RetainRequest: {"items": [{"content": "x"}]},
    DryRunExtractRequest: {"content": "x"},
    RecallRequest: {"query": "x"},
    UpdateMemoryRequest: {"text": "x"},
    UpdateDocumentRequest: {"tags": []},
    CreateBankRequest: {},
    BankConfigUpdate: {"updates": {}},
    BankTemplateManifest: {"version": "1"},
    CreateBankAliasRequest: {"alias": "x"},
    SetBankAliasPrimaryRequest: {"primary": True},
    DoctorRequest: {},
    BackupRequest: {"target": "/x"},
    ReembedRequest: {},
    VerifyAuditRequest: {},
    CreateUserRequest: NAMED,
    UpdateUserRequest: {"is_active": True},
    AddChannelRequest: {"provider": "web", "sender_id": "x"},
    CreateApiKeyRequest: {},
    CreateGroupRequest: NAMED,
    UpdateGroupRequest: {"display_name": "x"},
    AddMemberRequest: {"user_id": "x"},
    CreatePolicyRequest: NAMED | {"document": {}},
    UpdatePolicyRequest: {"document": {}},
    UpsertPolicyAttachmentRequest: {"policy_id": "x", "principal_type": "user", "principal_id": "x"},
    CreateServiceAccountRequest: NAMED | {"owner_user_id": "x"},
    UpdateServiceAccountRequest: {"is_active": False},
    CreateMyServiceAccountRequest: NAMED,
    UpdateMyServiceAccountRequest: {"display_name": "x"},
    UpsertBankPolicyRequest: {"document": {}},
}
"""One acceptable body for each model: a refusal must not come from the body."""
QUERIES = {"explain_access": "?bank=x&user_id=x", "list_policy_attachments": "?policy_id=x"}
UNUSED = {
    "bank:tags:reserved": "asked for beside the action of whoever stores something",
    "iam:service_accounts:manage": "opens the rows of the actions that it implies",
    "knowledge:write": "an operator's middle level, as hosts have it; it opens what knowledge:read does",
}
"""Actions that no operation declares, and why they exist all the same."""
GUARDED = [one for one in BINDINGS if OPERATIONS[one.operation].scope is not Scope.PUBLIC]


class OneBank:
    """Names only. Opening is a mistake here: nobody in these tests may get that far."""

    opened = 0

    def canonical(self, bank_id: str) -> BankId:
        return BankId(bank_id)

    def open(self, grant: Grant) -> Any:
        self.opened += 1
        raise NotFound(f"Bank '{grant.bank}' not found")

    create = open


@pytest.fixture(scope="module")
def banks() -> OneBank:
    return OneBank()


@pytest.fixture(scope="module")
def app(banks: OneBank) -> App:
    """The application on the real table of operations, with one user who has a key and no right."""
    directory = SmallDirectory()
    directory.put_user("stranger")
    directory.put_key(STRANGER, "stranger", key_id="stranger-key")
    settings, metrics = Settings(), Metrics()
    resolver = Resolver(FixedRules(), Epoch(), Unrecorded())
    knowledge = SimpleNamespace(resolver=VaultResolver(FixedFacts(epoch=resolver.epoch), resolver))
    context: Any = SimpleNamespace(settings=settings, banks=banks, metrics=metrics, knowledge=knowledge)
    guard = Guard(context, resolver, OPERATIONS)
    return create_app(guard, Authenticator(directory), settings, metrics=metrics)


@pytest.fixture
def client(app: App) -> Callable[[str | None], httpx.AsyncClient]:
    """Clients of it by key."""

    def make(key: str | None) -> httpx.AsyncClient:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport = httpx.ASGITransport(app=app)
        return httpx.AsyncClient(transport=transport, base_url="http://localhost:8888", headers=headers)

    return make


def names(bindings: list[Binding] | tuple[Binding, ...]) -> list[str]:
    return [f"{one.method} {one.path}" for one in bindings]


def test_every_route_runs_an_operation_with_an_action(app: App) -> None:
    for route in app.routes:
        if route.path == "/openapi.json":
            continue
        assert isinstance(route.endpoint, Endpoint), route.path
        operation = OPERATIONS[route.endpoint.operation]
        assert operation.action or operation.scope is Scope.PUBLIC, route.path


def test_every_operation_declares_a_known_action() -> None:
    unknown = {
        name: one.action for name, one in OPERATIONS.items() if one.action and one.action not in ACTIONS
    }
    assert not unknown, "what no policy can name, no policy can give"


def test_every_action_opens_an_operation_or_has_a_reason() -> None:
    used = {one.action for one in OPERATIONS.values() if one.action}
    assert set(ACTIONS) - used == set(UNUSED)


def test_what_is_implied_or_free_are_known_actions_of_known_parts() -> None:
    named = {*IMPLIED, *EVERYBODY, *EVERY_USER, *SHOWS_BANK}
    assert named.union(*IMPLIED.values()) <= set(ACTIONS)
    assert {action.partition(":")[0] for action in ACTIONS} == {"bank", "iam", "knowledge", "template"}


def test_only_reading_is_implied_or_free() -> None:
    """Nothing implies writing or deleting, but the management of all service accounts itself."""
    given = {one for giver, some in IMPLIED.items() if giver != "iam:service_accounts:manage" for one in some}
    free = {*given, *EVERYBODY, *EVERY_USER}
    assert {action for action in free if action.rsplit(":", 1)[-1] not in ("read", "list", "get")} == {
        "bank:graph",
        "bank:access",
        "knowledge:write",  # operators change no knowledge, so it opens what reading does
    }
    changing = {one.operation for one in BINDINGS if one.method in ("PUT", "PATCH", "DELETE")}
    assert not [name for name in changing if OPERATIONS[name].action in free]


def test_only_the_list_of_banks_decides_for_each_bank_by_itself() -> None:
    assert {name for name, one in OPERATIONS.items() if one.scope is Scope.LISTING} == {"list_banks"}


def test_only_health_and_version_are_public() -> None:
    public = {name for name, one in OPERATIONS.items() if one.scope is Scope.PUBLIC}
    assert public == {"health", "get_readiness", "get_liveness", "get_version"}


def test_every_operation_is_reachable_by_a_route() -> None:
    assert {one.operation for one in BINDINGS} == set(OPERATIONS)


def test_a_bank_operation_has_a_bank_in_its_path() -> None:
    for one in BINDINGS:
        in_bank = OPERATIONS[one.operation].scope in (Scope.BANK, Scope.NEW_BANK, Scope.BANK_NAME)
        assert in_bank is ("{bank_id}" in one.path or one.bank_of is not None), one.path


def test_no_two_routes_answer_to_the_same_request() -> None:
    alike = [f"{one.method} {PARAMETER.sub('{}', one.path)}" for one in BINDINGS]
    assert len(set(alike)) == len(BINDINGS)


def test_each_route_is_the_first_that_its_own_path_finds(app: App) -> None:
    """A route behind a wider one would never answer, and the wider one's action would hold for it."""
    routes: list[Any] = list(app.routes)
    for route in routes:
        if route.path == "/openapi.json":
            continue
        one = route.endpoint.binding
        path = PARAMETER.sub(lambda found: f"a{found[1]}", one.path)
        scope = {"type": "http", "method": one.method, "path": path, "root_path": ""}
        first = next(other for other in routes if other.matches(scope)[0] is Match.FULL)
        assert first is route, f"{one.method} {one.path} is answered by {first.path}"


def test_every_call_of_the_client_library_has_a_route() -> None:
    bound = {(one.method, PARAMETER.sub("{}", one.path)) for one in BINDINGS}
    missing = set(_calls_of_the_client()) - bound
    assert not missing


def _calls_of_the_client() -> Iterator[tuple[str, str]]:
    folder = Path(hindsight_client_api.__file__).parent / "api"
    call = re.compile(r"method='(\w+)',\s+resource_path='([^']+)'")
    for file in sorted(folder.glob("*_api.py")):
        for method, path in call.findall(file.read_text(encoding="utf-8")):
            yield method, re.sub(r"\{\w+\}", "{}", path)


@pytest.mark.parametrize("one", GUARDED, ids=names(GUARDED))
async def test_without_a_valid_key_nothing_answers(client: Any, banks: OneBank, one: Binding) -> None:
    for key in (None, "wrong", ""):
        async with client(key) as http:
            answer = await http.request(one.method, _url(one, "team"), **_body(one))
        assert answer.status_code == 401
        tool = OPERATIONS[one.operation].action in AUDIENCE_ONLY
        said = "no valid credential: send one audience token" if tool else "key"
        assert list(answer.json()) == ["detail"] and said in answer.json()["detail"]
    assert not banks.opened


async def test_a_tool_that_does_not_exist_is_answered_with_those_that_do(client: Any) -> None:
    async with client(None) as http:
        answer = await http.post("/v1/lorebank/knowledge/tools/nosuch", json={})
        assert answer.status_code == 404
        for one in BINDINGS:
            tool = OPERATIONS[one.operation].scope is Scope.AUDIENCE
            assert (one.operation in answer.json()["detail"]) is tool
        assert (await http.get("/v1/lorebank/knowledge/tools/knowledge_get")).status_code == 405
        assert (await http.get("/v1/lorebank/knowledge/nosuch")).json() == {"detail": "Not Found"}


def test_a_list_of_what_operators_and_hosts_change_is_a_read() -> None:
    """It has one row in the audit log, and is confirmed before it is sent."""
    ours = [one for one in BINDINGS if one.path.startswith("/v1/lorebank/") and one.method == "GET"]
    assert ours and not [one.operation for one in ours if OPERATIONS[one.operation].writing]


@pytest.mark.parametrize("one", GUARDED, ids=names(GUARDED))
async def test_without_the_right_nothing_answers_and_existence_is_not_told(
    client: Any, banks: OneBank, one: Binding
) -> None:
    async with client(STRANGER) as http:
        answers = [
            await http.request(one.method, _url(one, bank), **_body(one)) for bank in ("team", "nothing")
        ]
    action = OPERATIONS[one.operation].action
    hint = ": it needs the audience token of an agent's host" if action in AUDIENCE_ONLY else ""
    for answer in answers:
        assert answer.status_code == 403, answer.text
        assert answer.json() == {"detail": f"{action} denied{hint}"}
    assert not banks.opened


def _refusal(operation: Operation) -> str:
    """Whoever is no agent is told what opens an agent's tools."""
    more = ": it needs the audience token of an agent's host" if operation.scope is Scope.AUDIENCE else ""
    return f"{operation.action} denied{more}"


def _url(one: Binding, bank: str) -> str:
    made = {
        "bank_id": bank,
        "chunk_id": chunk_id(bank, "d", 0),
        "key": file_key(bank, "e.zip"),
        "memory_id": "00000000-0000-0000-0000-000000000000",
    }
    path = PARAMETER.sub(lambda match: made.get(match[1], "x"), one.path)
    if one.operation in QUERIES:
        return path + QUERIES[one.operation]
    required = one.query.model_json_schema().get("required", [])
    return path + "".join(f"?{name}=x" for name in required)


def _body(one: Binding) -> dict[str, Any]:
    if one.form == "files":
        return {"files": {"files": ("a.txt", b"x")}}
    if one.form is not None:
        return {"files": {"file": ("a.zip", b"x")}}
    return {} if one.body is None else {"json": SAMPLES.get(one.body) or _smallest(one.body)}


def _smallest(model: type[RequestModel]) -> dict[str, Any]:
    """A body with only what the model requires."""
    schema = model.model_json_schema()
    values = {"string": "x", "object": {}, "array": [], "boolean": True, "integer": 1}
    return {name: values[schema["properties"][name]["type"]] for name in schema.get("required", [])}
