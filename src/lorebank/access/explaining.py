"""Why somebody may do something, or may not: the decision in force, with the reasons behind it.

The decision is that of `access.rules`; `policy.explain` says which statements it rests on. What is
refused for other reasons (nobody, a token on the control plane, a policy that cannot be read) is told here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lorebank.access.actions import ACTIONS, AUDIENCE_ONLY, EVERY_USER, EVERYBODY, RECALL, on_agents
from lorebank.access.assembling import Layer as PolicyLayer
from lorebank.access.assembling import Undecidable, View, scopes_of
from lorebank.access.directory import DEFAULT_GROUP, AccessData, PrincipalType
from lorebank.access.policy.explain import Explanation, Layer, explain, explain_unmapped
from lorebank.access.policy.sentences import changes, told
from lorebank.access.policy.sources import Source
from lorebank.access.policy.values import Attached, PolicyDocument
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision
from lorebank.access.rules import CONTROL_PLANE, SERVER, PolicyRules, placed
from lorebank.access.standing import user_behind
from lorebank.errors import FieldProblem, InvalidInput
from lorebank.ids import BankId

_LIMITS = ("recall_tag_groups", "exclude_providers")
"""What recall's statements set for everything that is done with memories (`access.rules`)."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A decision with its reasons. `reason` is the decision's own, but names an account's owner, which
    nobody is told who only holds the account's key. `explanation` is None where statements did not
    decide; `sentences` tell the same for people, and `changes` what would turn it round."""

    principal: Principal
    user: str | None
    action: str
    bank: str
    decision: Decision
    reason: str
    explanation: Explanation | None
    sentences: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """As the audit log calls it, with `unauthenticated` for a credential that is not valid."""
        if self.decision.credential_gone:
            return "unauthenticated"
        if self.decision.failure:
            return "failure"
        return "allow" if self.decision.allowed else "deny"

    def to_json(self) -> dict[str, Any]:
        """The wire form; parameters that nobody set are left out."""
        principal, decision, explanation = self.principal, self.decision, self.explanation
        fields = type(decision.parameters).__slots__
        values = {name: getattr(decision.parameters, name) for name in fields}
        return {
            "principal": {
                "kind": principal.kind,
                "id": principal.id,
                "name": principal.name,
                "user": self.user,
            },
            "circumstances": principal.circumstances.to_json(),
            "bank": self.bank,
            "action": self.action,
            "decision": self.outcome,
            "allowed": decision.allowed,
            "reason": self.reason,
            "parameters": {name: value for name, value in values.items() if value is not None},
            "sources": {one.field: list(one.statements) for one in _sources(explanation)},
            "auto_tags": list(decision.auto_tags),
            "own_operations": decision.own_operations,
            "statements": [] if explanation is None else [said.to_json() for said in explanation.statements],
            "near_misses": [] if explanation is None else [one.to_json() for one in explanation.near_misses],
            "near_miss_count": 0 if explanation is None else explanation.near_miss_count,
            "sentences": list(self.sentences),
            "changes": list(self.changes),
        }


def explained(rules: PolicyRules, principal: Principal, action: str, bank: str) -> Explained:
    """The explanation. Actions of the control plane are decided on the server, whatever the bank; those on
    knowledge on agents, with `agent:<id>` for the bank. `InvalidInput` for an action that there is not."""
    _check_action(action)
    place = bank if action.startswith("bank:") or on_agents(action) else SERVER
    decision = rules.decide(principal, action, None if place == SERVER else BankId(place))
    view = rules.view()
    user = user_behind(view.data, principal)
    off = _disabled(view.data, principal, user) if decision.credential_gone else None
    reason = f"{off} is not active" if off is not None else decision.reason
    made = _statements(view, principal, action, place, decision)
    if made is None or made.allowed != decision.allowed:  # the rules may have changed in between
        made = None
        change = (f"Enable {off}.",) if off else tuple(_other_changes(principal, action, decision))
        sentences = (_plain(action, place, decision.allowed, reason), *change)
    else:
        sentences, change = told(made), changes(made)
    return Explained(principal, user, action, place, decision, reason, made, sentences, change)


def _check_action(action: str) -> None:
    if action not in ACTIONS:
        near = difflib.get_close_matches(action[:100], ACTIONS, n=1, cutoff=0.5)
        message = "there is no such action" + (f"; did you mean '{near[0]}'?" if near else "")
        raise InvalidInput(f"action: {message}", fields=[FieldProblem(("query", "action"), message)])


# what statements say


def _statements(
    view: View, principal: Principal, action: str, bank: str, decision: Decision
) -> Explanation | None:
    """What the policies say; None where they were not asked or cannot be read."""
    if (
        decision.credential_gone
        or decision.failure
        or action in AUDIENCE_ONLY
        or decision.determining in (("everybody",), ("every user",))
    ):
        return None
    if _token_on_control_plane(principal, action, decision):
        return None
    try:
        made = _explanation(view, principal, action, bank)
        return _limited(made, view, principal, decision) if action.startswith("bank:") else made
    except Undecidable:
        return None


def _explanation(view: View, principal: Principal, action: str, bank: str) -> Explanation:
    where = placed(principal.circumstances)
    policy = view.bank_policy(bank) if action.startswith("bank:") else None
    layers = list(_layers(view, principal))
    if principal.kind == "unmapped":
        return explain_unmapped(layers[0], policy, action, bank, where)
    made = explain(layers, action, bank, policy=policy, circumstances=where)
    named = {layer.title for layer in layers[1:]}
    said = [replace(one, origin="") if one.layer in named else one for one in made.statements]
    return replace(made, statements=tuple(said))


def _layers(view: View, principal: Principal) -> Iterator[Layer]:
    """The layers in words, each policy with whom it is attached to."""
    data = view.data
    own, *scopes = view.layers(principal)
    if principal.kind == "unmapped":
        yield Layer(f"the policies of group '{DEFAULT_GROUP}'", _reached(data, own, ("group", DEFAULT_GROUP)))
        return
    user = user_behind(data, principal) or ""
    holders: list[tuple[PrincipalType, str]] = [("user", user)]
    holders += [("group", group) for group in data.groups_of.get(user, ())]
    yield Layer(f"the policies of user '{user}'", _reached(data, own, *holders))
    if principal.kind == "service_account":
        names = scopes_of(data, data.service_accounts[principal.id])
        for name, scope in zip(names, scopes, strict=True):
            yield Layer(f"the policy '{name}' that narrows '{principal.id}'", scope.attached)


def _reached(
    data: AccessData, layer: PolicyLayer, *holders: tuple[PrincipalType, str]
) -> tuple[Attached, ...]:
    documents = {one.policy_id: one.document for one in layer.attached}
    return tuple(
        Attached(
            one.policy_id, "user" if kind == "user" else "group", one.priority, documents[one.policy_id], id
        )
        for kind, id in holders
        for one in data.attachments.get((kind, id), ())
        if one.policy_id in documents
    )


def _limited(made: Explanation, view: View, principal: Principal, decision: Decision) -> Explanation:
    """With the limits that recall's statements set for every action, and the provider that they exclude."""
    if made.action == RECALL or not made.verdict.allowed:
        return made
    alone = [Layer(layer.title, _allows(layer.attached)) for layer in _layers(view, principal)]
    recall = [source for layer in alone for source in explain([layer], RECALL, made.bank).sources]
    sources = _joined(made, recall, decision)
    provider = placed(principal.circumstances).provider
    refused = not decision.allowed and made.excluded is None
    return replace(made, sources=sources, excluded=provider if refused else made.excluded)


def _joined(made: Explanation, recall: list[Source], decision: Decision) -> tuple[Source, ...]:
    kept = [one for one in made.sources if one.field not in _LIMITS]
    for field in _LIMITS:
        both = [one for one in (*made.sources, *recall) if one.field == field]
        if both:
            statements = dict.fromkeys(name for one in both for name in one.statements)
            value = getattr(decision.parameters, field) or both[-1].value
            kept.append(Source(field, value, tuple(statements)))
    return tuple(kept)


def _allows(attached: tuple[Attached, ...]) -> tuple[Attached, ...]:
    return tuple(
        replace(
            one, document=PolicyDocument(tuple(s for s in one.document.statements if s.effect == "allow"))
        )
        for one in attached
    )


def _sources(explanation: Explanation | None) -> tuple[Source, ...]:
    return () if explanation is None or not explanation.allowed else explanation.sources


# what is not about statements


def _token_on_control_plane(principal: Principal, action: str, decision: Decision) -> bool:
    return (
        principal.by_token
        and not decision.allowed
        and not decision.determining
        and action.startswith(CONTROL_PLANE)
    )


def _disabled(data: AccessData, principal: Principal, user: str | None) -> str | None:
    """Who must be enabled again, in words; None when everybody is active, or is not there at all."""
    account = data.service_accounts.get(principal.id) if principal.kind == "service_account" else None
    if account is not None and not account.is_active:
        return f"the service account '{account.id}'"
    known = data.users.get(user or "")
    if known is None or known.is_active:
        return None
    return f"the {'user' if account is None else 'owner'} '{known.id}'"


def _plain(action: str, bank: str, allowed: bool, reason: str) -> str:
    what = f"{action} on '{bank}'" if bank != SERVER else action
    if allowed:
        return f"{what} is allowed to every caller with a valid credential, for himself."
    return f"{what} is refused: {reason}."


def _other_changes(principal: Principal, action: str, decision: Decision) -> Iterator[str]:
    if decision.credential_gone:
        yield "Ask again: the caller's rights changed while this was worked out."
    elif decision.failure:
        yield "Put the policy right, or detach it: nothing is decided while one cannot be read."
    elif _token_on_control_plane(principal, action, decision):
        yield "Use an API key, or let gateway tokens in with the setting token_admin."
    elif action in AUDIENCE_ONLY:
        yield "Only the audience token of an agent's host opens it."
    elif action in EVERY_USER and not decision.allowed:
        yield "Only users have a record of their own; use a user's key."
    elif action in EVERYBODY:
        yield "Only disabling the caller refuses it."
