"""No door without a lock: every route runs a declared operation, and none answers without the right to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hindsight_client_api
import pytest

from lorebank.access.grant import Grant
from lorebank.access.resolve import Epoch, FixedRules, Resolver
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
from lorebank.service.operations import Scope
from lorebank.service.requests.banks import (
    BankConfigUpdate,
    BankTemplateManifest,
    CreateBankAliasRequest,
    CreateBankRequest,
    SetBankAliasPrimaryRequest,
)
from lorebank.service.requests.maintenance import BackupRequest, DoctorRequest, ReembedRequest
from lorebank.service.requests.memories import UpdateDocumentRequest, UpdateMemoryRequest
from lorebank.service.requests.recall import RecallRequest
from lorebank.service.requests.retain import DryRunExtractRequest, RetainRequest
from lorebank.service.table import OPERATIONS

STRANGER = "hc_u_stranger"
PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")
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
}
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


@pytest.fixture
def banks() -> OneBank:
    return OneBank()


@pytest.fixture
def app(banks: OneBank, make_stage: Callable[..., Any]) -> App:
    settings, metrics = Settings(), Metrics()
    context: Any = SimpleNamespace(settings=settings, banks=banks, metrics=metrics)
    guard = Guard(context, Resolver(FixedRules(), Epoch()), OPERATIONS)
    return create_app(guard, make_stage().keys, settings, metrics=metrics)


@pytest.fixture
def client(app: App, make_stage: Callable[..., Any]) -> Any:
    stage = make_stage()
    stage.app = app
    return stage.client


def names(bindings: list[Binding] | tuple[Binding, ...]) -> list[str]:
    return [f"{one.method} {one.path}" for one in bindings]


def test_every_route_runs_an_operation_with_an_action(app: App) -> None:
    for route in app.routes:
        if route.path == "/openapi.json":
            continue
        assert isinstance(route.endpoint, Endpoint), route.path
        operation = OPERATIONS[route.endpoint.operation]
        assert operation.action or operation.scope is Scope.PUBLIC, route.path


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
    assert len(set(names(BINDINGS))) == len(BINDINGS)


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
        async with client(key=key) as http:
            answer = await http.request(one.method, _url(one, "team"), **_body(one))
        assert answer.status_code == 401
        assert list(answer.json()) == ["detail"] and "key" in answer.json()["detail"]
    assert not banks.opened


@pytest.mark.parametrize("one", GUARDED, ids=names(GUARDED))
async def test_without_the_right_nothing_answers_and_existence_is_not_told(
    client: Any, banks: OneBank, one: Binding
) -> None:
    async with client(key=STRANGER) as http:
        answers = [
            await http.request(one.method, _url(one, bank), **_body(one)) for bank in ("team", "nothing")
        ]
    action = OPERATIONS[one.operation].action
    for answer in answers:
        assert answer.status_code == 403, answer.text
        assert answer.json() == {"detail": f"{action} denied"}
    assert not banks.opened


def _url(one: Binding, bank: str) -> str:
    made = {
        "bank_id": bank,
        "chunk_id": chunk_id(bank, "d", 0),
        "key": file_key(bank, "e.zip"),
        "memory_id": "00000000-0000-0000-0000-000000000000",
    }
    path = PARAMETER.sub(lambda match: made.get(match[1], "x"), one.path)
    required = one.query.model_json_schema().get("required", [])
    return path + "".join(f"?{name}=x" for name in required)


def _body(one: Binding) -> dict[str, Any]:
    if one.form == "files":
        return {"files": {"files": ("a.txt", b"x")}}
    if one.form == "archive":
        return {"files": {"file": ("a.zip", b"x")}}
    return {} if one.body is None else {"json": SAMPLES[one.body]}
