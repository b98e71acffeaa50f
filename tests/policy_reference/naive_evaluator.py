"""What the access texts say, read as plainly as possible: raw JSON documents in, plain values out.

It is the reference that the engine is compared with, so it shares no code with it: loops over
dictionaries, no indexes, no caches, nothing imported from lorebank. A world is a dict:

    policies       id -> document            bank_policies  bank id -> document
    attachments    [{policy_id, principal_type, principal_id, priority}]
    members        [{group_id, user_id}]     accounts       id -> {owner, scoping_policy_id}

and a request is {kind: user|service_account|unmapped, id, action, bank, provider, channel, topic,
sender}, where a bank of None stands for the server itself.
"""

from __future__ import annotations

import json
from typing import Any

World = dict[str, Any]
Request = dict[str, Any]
Result = dict[str, Any]

LISTS = ("retain_tags", "exclude_providers")
SINGLE = ("retain_strategy", "llm_model", "llm_provider")
FIELDS = (
    "recall_budget",
    "recall_max_tokens",
    "recall_tag_groups",
    "retain_roles",
    "retain_every_n_turns",
    *LISTS,
    *SINGLE,
)
READS_OF_RECALL = (
    "bank:read",
    "bank:graph",
    "bank:memories:list",
    "bank:memories:get",
    "bank:documents:list",
    "bank:documents:get",
    "bank:entities:list",
    "bank:entities:get",
    "bank:tags:list",
    "bank:mental_models:list",
    "bank:mental_models:get",
)


# matching


def bank_level(pattern: str, bank: str) -> int:
    """0: does not match; 1: everything; 2: by prefix; 3: exactly."""
    if pattern == "*":
        return 1
    if pattern.endswith("::*"):
        return 2 if bank.startswith(pattern[:-1]) else 0
    return 3 if pattern == bank else 0


def speaks_of(granted: str, asked: str, implied: bool = True) -> bool:
    """Whether the word `granted` of a statement speaks of the action `asked`."""
    if granted == asked:
        return True
    if granted != "*" and granted.endswith(":*") and asked.startswith(granted[: -len("*")]):
        return True
    if not implied:
        return False
    if asked in READS_OF_RECALL:
        return speaks_of(granted, "bank:recall")
    if asked in ("bank:operations:list", "bank:operations:get"):
        return speaks_of(granted, "bank:retain")
    if asked in (
        "iam:service_accounts:read",
        "iam:service_accounts:write",
        "iam:service_account_keys:write",
    ):
        return speaks_of(granted, "iam:service_accounts:manage")
    return False


def matching(
    world: World, attachments: list[dict[str, Any]], action: str, bank: str, effect: str, implied: bool = True
) -> list[dict[str, Any]]:
    """Every statement of that effect that matches, with where it stands and its rank."""
    found = []
    for attachment in attachments:
        document = world["policies"][attachment["policy_id"]]
        for index, statement in enumerate(document["statements"]):
            if statement["effect"] != effect:
                continue
            patterns = statement["banks"] if "banks" in statement else statement["resources"]
            level = 0
            for pattern in patterns:
                level = max(level, bank_level(pattern, bank))
            if level > 0 and any(speaks_of(granted, action, implied) for granted in statement["actions"]):
                through = 2 if attachment["principal_type"] == "user" else 1
                rank = (through, level, attachment["priority"], attachment["policy_id"])
                found.append(
                    {"ref": (attachment["policy_id"], index), "rank": rank, "index": index, "says": statement}
                )
    return found


# merging


def tag_groups(value: Any) -> list[str]:
    """Each group as canonical JSON; the field may itself be a JSON text."""
    groups = json.loads(value) if isinstance(value, str) else value
    return [json.dumps(group, sort_keys=True) for group in groups]


def merged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The parameters of all matching allow statements as one."""
    out: dict[str, Any] = dict.fromkeys(FIELDS)
    for one in found:
        says = one["says"]
        budget = says.get("recall_budget")
        if budget is not None:
            order = ["low", "mid", "high"]
            if out["recall_budget"] is None or order.index(budget) > order.index(out["recall_budget"]):
                out["recall_budget"] = budget
        tokens = says.get("recall_max_tokens")
        if tokens is not None and (out["recall_max_tokens"] is None or tokens > out["recall_max_tokens"]):
            out["recall_max_tokens"] = tokens
        turns = says.get("retain_every_n_turns")
        if turns is not None and (out["retain_every_n_turns"] is None or turns < out["retain_every_n_turns"]):
            out["retain_every_n_turns"] = turns
        if says.get("retain_roles") is not None:
            out["retain_roles"] = sorted(set(out["retain_roles"] or []) | set(says["retain_roles"]))
        for name in LISTS:
            if says.get(name):
                out[name] = sorted(set(out[name] or []) | set(says[name]))
        if says.get("recall_tag_groups") is not None:
            groups = set(out["recall_tag_groups"] or []) | set(tag_groups(says["recall_tag_groups"]))
            out["recall_tag_groups"] = sorted(groups) or None
    for name in SINGLE:
        best = None
        for one in found:
            if one["says"].get(name) is None:
                continue
            if (
                best is None
                or one["rank"] > best["rank"]
                or (one["rank"] == best["rank"] and one["index"] < best["index"])
            ):
                best = one
        out[name] = None if best is None else best["says"][name]
    return out


def said(allowed: bool, denied: bool, refs: set[Any], parameters: dict[str, Any] | None) -> Result:
    """One verdict."""
    none: dict[str, Any] = dict.fromkeys(FIELDS)
    return {
        "allowed": allowed,
        "denied": denied,
        "determining": refs,
        "parameters": parameters if allowed and parameters is not None else none,
    }


def by_policies(
    world: World, attachments: list[dict[str, Any]], action: str, bank: str, implied: bool = True
) -> Result:
    """Deny beats allow; without either it is not allowed."""
    denies = matching(world, attachments, action, bank, "deny", implied)
    if denies:
        return said(False, True, {one["ref"] for one in denies}, None)
    allows = matching(world, attachments, action, bank, "allow", implied)
    return said(bool(allows), False, {one["ref"] for one in allows}, merged(allows))


# who


def attached(world: World, kind: str, name: str) -> list[dict[str, Any]]:
    """What is attached to exactly this principal."""
    return [
        one for one in world["attachments"] if one["principal_type"] == kind and one["principal_id"] == name
    ]


def of_user(world: World, user: str) -> list[dict[str, Any]]:
    """What reaches a user: his own and that of his groups."""
    found = attached(world, "user", user)
    for member in world["members"]:
        if member["user_id"] == user:
            found = found + attached(world, "group", member["group_id"])
    return found


def layers(world: World, request: Request) -> list[list[dict[str, Any]]]:
    """The bodies of policies that must each allow: the owner's, then each that narrows an account."""
    if request["kind"] == "unmapped":
        return [attached(world, "group", "_default")]
    if request["kind"] == "user":
        return [of_user(world, request["id"])]
    account = world["accounts"][request["id"]]
    own = attached(world, "service_account", request["id"])
    scopes = [one["policy_id"] for one in sorted(own, key=lambda one: (one["priority"], one["policy_id"]))]
    if account["scoping_policy_id"] is not None:
        scopes.append(account["scoping_policy_id"])
    alone = [
        [{"policy_id": scope, "principal_type": "user", "principal_id": "", "priority": 0}]
        for scope in scopes
    ]
    return [of_user(world, account["owner"]), *alone]


def intersected(owner: Result, scope: Result) -> Result:
    """The stricter of both in everything; the scope's names win."""
    both = owner["determining"] | scope["determining"]
    if not (owner["allowed"] and scope["allowed"]):
        # What decided is the denies; an allow that the other side lacks decided nothing.
        denies = {ref for side in (owner, scope) if side["denied"] for ref in side["determining"]}
        return said(False, bool(denies), denies, None)
    ours, theirs = owner["parameters"], scope["parameters"]
    out: dict[str, Any] = {}
    for name in FIELDS:
        a, b = ours[name], theirs[name]
        if a is None or b is None:
            out[name] = a if b is None else b
        elif name == "recall_budget":
            out[name] = min(a, b, key=["low", "mid", "high"].index)
        elif name == "recall_max_tokens":
            out[name] = min(a, b)
        elif name == "retain_every_n_turns":
            out[name] = max(a, b)
        elif name == "retain_roles":
            out[name] = [role for role in a if role in b]
        elif name in SINGLE:
            out[name] = b
        else:
            out[name] = sorted(set(a) | set(b))
    return said(True, False, both, out)


# bank policies


def bank_policy(world: World, bank: str | None) -> dict[str, Any]:
    """The bank's document; the server, which is decided on `*`, has none."""
    return {} if bank in (None, "*") else world["bank_policies"].get(bank) or {}


def provider_of(request: Request) -> str | None:
    """The provider claim, or what stands before the sender's first colon."""
    if request.get("provider") is not None:
        return str(request["provider"])
    sender = request.get("sender")
    return sender.split(":", 1)[0] if sender and ":" in sender else None


def best_override(overrides: list[dict[str, Any]] | None, request: Request) -> dict[str, Any] | None:
    """Topic before channel before provider; of equals, the first that is listed."""
    have = {
        "topic": request.get("topic"),
        "channel": request.get("channel"),
        "provider": provider_of(request),
    }
    for scope in ("topic", "channel", "provider"):
        for override in overrides or []:
            if override["scope"] == scope and have[scope] is not None and override["value"] == have[scope]:
                return override
    return None


def by_public_access(world: World, request: Request, bank: str) -> Result | None:
    """What the bank's public access says; None when it says nothing."""
    public = bank_policy(world, bank).get("public_access") or {}
    override = best_override(public.get("overrides"), request)
    if override is not None and request["action"] not in override["actions"]:
        return said(False, True, set(), None)
    rule = override if override is not None else public.get("default")
    if rule is None or request["action"] not in rule["actions"]:
        return None
    return said(True, False, set(), merged([{"says": _only_recall(rule), "rank": (0, 0, 0, ""), "index": 0}]))


def _only_recall(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: rule.get(name) for name in ("recall_budget", "recall_max_tokens")}


def for_unmapped(world: World, request: Request, bank: str) -> Result:
    """`_default`'s policies beside the bank's public access."""
    default = by_policies(world, layers(world, request)[0], request["action"], bank)
    public = by_public_access(world, request, bank) if request["action"].startswith("bank:") else None
    if default["denied"] or (public is not None and public["denied"]):
        return said(False, True, default["determining"] if default["denied"] else set(), None)
    if public is None:
        return default
    if not default["allowed"]:
        return public
    # Two grants of the same action: merged as any two statements are.
    parts = [{"says": one["parameters"], "rank": (1, 1, 0, ""), "index": 0} for one in (default, public)]
    for part in parts:
        groups = part["says"]["recall_tag_groups"]
        as_sent = None if groups is None else [json.loads(group) for group in groups]
        part["says"] = {**part["says"], "recall_tag_groups": as_sent}
    return said(True, False, default["determining"], merged(parts))


def verdict(world: World, request: Request) -> Result:
    """What the policies say of the request, before anything is added."""
    bank = "*" if request["bank"] is None else request["bank"]
    if request["kind"] == "unmapped":
        return for_unmapped(world, request, bank)
    result, *scopes = [by_policies(world, one, request["action"], bank) for one in layers(world, request)]
    for scope in scopes:
        result = intersected(result, scope)
    return result


# the whole decision


def strategy(world: World, request: Request, parameters: dict[str, Any]) -> str | None:
    """The retain strategy: the principal's own, the context's, the bank's."""
    if parameters["retain_strategy"] is not None:
        return str(parameters["retain_strategy"])
    policy = bank_policy(world, request["bank"])
    override = best_override(policy.get("strategy_overrides"), request)
    found = policy.get("default_strategy") if override is None else override["strategy"]
    return None if found is None else str(found)


def decide(world: World, request: Request, result: Result) -> Result:
    """The verdict with what every action on a bank takes from recall, the strategy and the exclusions."""
    out: Result = {
        "allowed": result["allowed"],
        "parameters": dict(result["parameters"]),
        "own_operations": False,
    }
    if not result["allowed"]:
        return out
    action, parameters = request["action"], out["parameters"]
    bank = "*" if request["bank"] is None else request["bank"]
    if action.startswith("bank:"):
        _limit_as_recall(world, request, bank, parameters)
    if action == "bank:retain":
        parameters["retain_strategy"] = strategy(world, request, parameters)
    if provider_of(request) in (parameters["exclude_providers"] or []):
        return {"allowed": False, "parameters": dict.fromkeys(FIELDS), "own_operations": False}
    if action.startswith("bank:operations:"):
        out["own_operations"] = _only_own(world, request, bank, parameters)
    return out


def _limit_as_recall(world: World, request: Request, bank: str, parameters: dict[str, Any]) -> None:
    """What recall is filtered by, all of the bank is; a deny of recall does not lift its filter."""
    for layer in layers(world, request):
        recall = merged(matching(world, layer, "bank:recall", bank, "allow"))
        for name in ("recall_tag_groups", "exclude_providers"):
            if recall[name]:
                parameters[name] = sorted(set(parameters[name] or []) | set(recall[name]))


def _only_own(world: World, request: Request, bank: str, parameters: dict[str, Any]) -> bool:
    """Operations that are seen through retain, through a filter or by a stranger are one's own."""
    if parameters["recall_tag_groups"] or request["kind"] == "unmapped":
        return True
    if request["action"] not in ("bank:operations:list", "bank:operations:get"):
        return False
    for layer in layers(world, request):
        if not by_policies(world, layer, request["action"], bank, implied=False)["allowed"]:
            return True
    return False
