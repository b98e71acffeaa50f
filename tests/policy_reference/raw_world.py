"""Raw worlds as the directory holds them, and the real rules over them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from naive_evaluator import FIELDS, Request, Result, World

from lorebank.access.directory import (
    AccessData,
    AccessStore,
    Attachment,
    Key,
    Policy,
    PrincipalType,
    ServiceAccount,
    User,
)
from lorebank.access.policy.values import Parameters
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.rules import SERVER, PolicyRules
from lorebank.ids import BankId

ROOT = "root"


@dataclass(slots=True)
class Held:
    """A store that only has a snapshot."""

    data: AccessData


def rules_over(data: AccessData, **more: Any) -> tuple[PolicyRules, Held]:
    """The real rules, and the store that they read: give it other data and they follow."""
    store = Held(data)
    return PolicyRules(cast(AccessStore, store), root=ROOT, **more), store


def access_data(world: World, *, epoch: int = 1, keys: tuple[Key, ...] = ()) -> AccessData:
    """The snapshot of a world. Users are all who are named anywhere, and active."""
    names = {one["user_id"] for one in world["members"]} | {
        one["owner"] for one in world["accounts"].values()
    }
    names |= {one["principal_id"] for one in world["attachments"] if one["principal_type"] == "user"}
    names |= set(world.get("users", ())) | {ROOT}
    accounts = world["accounts"].items()
    return AccessData(
        epoch=epoch,
        users={name: User(name, name.title()) for name in names},
        channels=world.get("channels", {}),
        groups_of=_groups_of(world),
        policies={id: Policy(id, id, json.dumps(document)) for id, document in world["policies"].items()},
        attachments=_attachments(world),
        service_accounts={
            id: ServiceAccount(id, one["owner"], id, scoping_policy_id=one["scoping_policy_id"])
            for id, one in accounts
        },
        keys={key.digest: key for key in keys},
        keys_by_id={key.id: key for key in keys},
        bank_policies={bank: json.dumps(document) for bank, document in world["bank_policies"].items()},
    )


def _groups_of(world: World) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for one in world["members"]:
        found.setdefault(one["user_id"], set()).add(one["group_id"])
    return {user: tuple(sorted(groups)) for user, groups in found.items()}


def _attachments(world: World) -> dict[tuple[PrincipalType, str], tuple[Attachment, ...]]:
    found: dict[tuple[PrincipalType, str], list[Attachment]] = {}
    for one in sorted(world["attachments"], key=lambda one: str(one["policy_id"])):
        holder = (one["principal_type"], one["principal_id"])
        found.setdefault(holder, []).append(Attachment(**one))
    return {holder: tuple(attachments) for holder, attachments in found.items()}


def principal_of(request: Request) -> Principal:
    """Who asks. He comes by key, so that tokens' own rules stay out of the comparison."""
    claims = {name: request.get(name) for name in ("provider", "channel", "topic", "sender")}
    return Principal(request["kind"], request["id"], Circumstances(**claims))


def engine_verdict(rules: PolicyRules, request: Request) -> Result:
    """What the engine says, in the reference's form."""
    bank = SERVER if request["bank"] is None else request["bank"]
    said = rules.said(rules.view(), principal_of(request), request["action"], bank)
    return {
        "allowed": said.allowed,
        "denied": said.denied,
        "determining": {
            (ref.policy_id, ref.index)
            for ref in said.determining
            if not ref.policy_id.startswith("bank-policy:")
        },
        "parameters": plain(said.parameters),
    }


def engine_decision(rules: PolicyRules, request: Request) -> Result:
    """The whole decision, in the reference's form."""
    bank = None if request["bank"] is None else BankId(request["bank"])
    decision = rules.decide(principal_of(request), request["action"], bank)
    assert not decision.failure, decision.reason
    return {
        "allowed": decision.allowed,
        "parameters": plain(decision.parameters),
        "own_operations": decision.own_operations,
    }


def plain(parameters: Parameters) -> dict[str, Any]:
    """Parameters as the reference has them: lists sorted, tag groups as canonical JSON."""
    out: dict[str, Any] = {}
    for name in FIELDS:
        value = getattr(parameters, name)
        if name == "recall_tag_groups" and value is not None:
            value = sorted(json.dumps(_thawed(group), sort_keys=True) for group in value)
        out[name] = sorted(value) if isinstance(value, tuple | list) else value
    return out


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thawed(one) for key, one in value.items()}
    return [_thawed(one) for one in value] if isinstance(value, list | tuple) else value
