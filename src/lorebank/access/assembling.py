"""From the directory's snapshot to what decides: parsed policies, put together for each principal.

A principal has one layer of policies or several. Each layer must allow an action by itself: a
service account has its owner's layer and one for each policy that narrows it, so that none of
them widens another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lorebank.access.actions import RECALL
from lorebank.access.directory import (
    DEFAULT_GROUP,
    AccessData,
    Attachment,
    PrincipalType,
    ServiceAccount,
    stored_document,
)
from lorebank.access.policy.document import parse_bank_policy, parse_policy
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import Attached, BankPolicy, Parameters, PolicyDocument, Through, Verdict
from lorebank.access.principal import Principal
from lorebank.errors import Corrupt, InvalidInput, printable

MAX_ATTACHED = 50_000
"""Attached policies whose layers a view keeps, over all principals: about 35 MB. Beyond, all are dropped
and put together again as they are asked for."""
_Held = tuple[tuple[tuple[Attachment, ...], Through], ...]
"""Attachments by the holder whom they reach the principal through."""
_Source = tuple[_Held, tuple[PolicyDocument, ...]]


class Undecidable(Exception):
    """A policy that is missing or cannot be read; whatever depends on it is denied.

    The message names the policy and never quotes it.
    """


class Layer:
    """One body of policies that must allow by itself. `attached` is what is in it."""

    __slots__ = ("_allows", "attached", "policies", "source")

    def __init__(self, source: _Source) -> None:
        held, documents = source
        reached = ((one, through) for attachments, through in held for one in attachments)
        self.source = source
        self.attached = tuple(
            Attached(one.policy_id, through, one.priority, document)
            for (one, through), document in zip(reached, documents, strict=True)
        )
        self.policies = PolicySet(self.attached)
        self._allows: PolicySet | None = None

    def evaluate(self, action: str, bank: str, *, implied: bool = True) -> Verdict:
        """What this layer says of the action."""
        return self.policies.evaluate(action, bank, implied=implied)

    def recall_parameters(self, bank: str) -> Parameters:
        """The parameters of all statements that allow recall, also where another one denies it: a deny
        must not lift the filter that those set for the rest of the bank."""
        said = self.policies.evaluate(RECALL, bank)
        if said.denied:
            if self._allows is None:
                self._allows = PolicySet(map(_without_denies, self.attached))
            said = self._allows.evaluate(RECALL, bank)
        return said.parameters


class View:
    """One snapshot with what was worked out from it so far.

    What did not change since the view before is taken over. Filled by several threads without a
    lock: each entry depends on the snapshot alone, so whoever writes it last writes the same.
    """

    def __init__(self, data: AccessData, before: View | None = None) -> None:
        self.data = data
        self._documents: dict[str, tuple[str, PolicyDocument]] = {}
        self._layers: dict[tuple[str, str], tuple[Layer, ...]] = {}
        self._old_layers: dict[tuple[str, str], tuple[Layer, ...]] = {}
        self._bank_policies: dict[str, BankPolicy] = {}
        self._kept = 0
        if before is not None:
            known = dict(before._documents)
            self._documents = {id: pair for id, pair in known.items() if id in data.policies}
            self._old_layers = dict(before._layers)

    def layers(self, principal: Principal) -> tuple[Layer, ...]:
        """The layers of a principal, his own (or his owner's) first. Raises `Undecidable`."""
        who = (principal.kind, principal.id)
        known = self._layers.get(who)
        if known is None:
            old = self._old_layers.pop(who, ())
            sources = tuple(self._source(held) for held in _held(self.data, principal))
            known = tuple(_layer(source, old[at : at + 1]) for at, source in enumerate(sources))
            self._keep(who, known)
        return known

    def bank_policy(self, bank: str) -> BankPolicy | None:
        """The bank's policy. Raises `Undecidable`. Banks without one are not remembered: anybody may
        ask for any name."""
        known = self._bank_policies.get(bank)
        text = self.data.bank_policies.get(bank)
        if known is None and text is not None:
            try:
                document = stored_document(text, "the policy")
                known = self._bank_policies[bank] = parse_bank_policy(document)
            except (InvalidInput, Corrupt, RecursionError) as exc:
                raise Undecidable(f"the policy of bank '{printable(bank)}' cannot be read") from exc
        return known

    def problems(self) -> Iterator[str]:
        """What cannot be decided with: policies that cannot be read, or are missing where they are used."""
        attached = {one.policy_id for held in self.data.attachments.values() for one in held}
        scopes = {one.scoping_policy_id for one in self.data.service_accounts.values()}
        used = sorted({*self.data.policies, *attached, *filter(None, scopes)})
        reads: list[tuple[Callable[[str], object], str]] = [(self._document, id) for id in used]
        reads += [(self.bank_policy, bank) for bank in sorted(self.data.bank_policies)]
        for read, name in reads:
            try:
                read(name)
            except Undecidable as exc:
                yield str(exc)

    def _keep(self, who: tuple[str, str], layers: tuple[Layer, ...]) -> None:
        if self._kept > MAX_ATTACHED:
            self._layers.clear()
            self._kept = 0
        self._layers[who] = layers
        self._kept += sum(1 + len(layer.attached) for layer in layers)

    def _source(self, held: _Held) -> _Source:
        return held, tuple(self._document(one.policy_id) for attachments, _ in held for one in attachments)

    def _document(self, policy_id: str) -> PolicyDocument:
        policy = self.data.policies.get(policy_id)
        if policy is None:
            # Never skipped: a policy that is gone may have been the one that denied.
            raise Undecidable(f"the policy '{printable(policy_id)}' is missing")
        known = self._documents.get(policy_id)
        if known is not None and known[0] == policy.text:
            return known[1]
        try:
            document = parse_policy(policy.document)
        except (InvalidInput, Corrupt, RecursionError) as exc:
            raise Undecidable(f"the policy '{printable(policy_id)}' cannot be read") from exc
        self._documents[policy_id] = (policy.text, document)
        return document


def scopes_of(data: AccessData, account: ServiceAccount) -> tuple[str, ...]:
    """The policies that narrow a service account, the strongest last: those attached to it by priority
    and id, then its scoping policy. Where several set a single value, the strongest one's holds."""
    attached = data.attachments.get(("service_account", account.id), ())
    ordered = [one.policy_id for one in sorted(attached, key=lambda one: (one.priority, one.policy_id))]
    return (*ordered, *([account.scoping_policy_id] if account.scoping_policy_id is not None else []))


def _held(data: AccessData, principal: Principal) -> Iterator[_Held]:
    """The attachments of each layer."""
    if principal.kind == "unmapped":
        yield ((_at(data, "group", DEFAULT_GROUP), "group"),)
        return
    account = data.service_accounts.get(principal.id) if principal.kind == "service_account" else None
    user = principal.id if account is None else account.owner_user_id
    groups = (_at(data, "group", group) for group in data.groups_of.get(user, ()))
    yield ((_at(data, "user", user), "user"), *((one, "group") for one in groups))
    if account is not None:
        for policy_id in scopes_of(data, account):
            yield (((Attachment(policy_id, "user", user),), "user"),)


def _layer(source: _Source, old: tuple[Layer, ...]) -> Layer:
    """The old layer in that place when it was made from the same."""
    return old[0] if old and old[0].source == source else Layer(source)


def _at(data: AccessData, kind: PrincipalType, id: str) -> tuple[Attachment, ...]:
    return data.attachments.get((kind, id), ())


def _without_denies(one: Attached) -> Attached:
    allows = tuple(each for each in one.document.statements if each.effect == "allow")
    return replace(one, document=PolicyDocument(allows))
