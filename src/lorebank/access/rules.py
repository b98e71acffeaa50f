"""The rules in force: the policy engine over the access directory (`access.resolve.Rules`)."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from lorebank import clock
from lorebank.access.actions import (
    ACTIONS,
    AUDIENCE_ONLY,
    EVERY_USER,
    EVERYBODY,
    IMPLYING,
    LIST_BANKS,
    RECALL,
    RESERVED_TAGS,
    RETAIN,
    SHOWS_BANK,
    UPDATE_DOCUMENTS,
    writes,
)
from lorebank.access.assembling import Layer, Undecidable, View, scopes_of
from lorebank.access.directory import AccessStore
from lorebank.access.policy.narrow import narrow
from lorebank.access.policy.public import unmapped_verdict
from lorebank.access.policy.strategy import strategy_for
from lorebank.access.policy.tag_filter import distinct, tag_filter
from lorebank.access.policy.values import UNSET, BankPolicy, Parameters, TagGroup, Verdict
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.resolve import Decision
from lorebank.access.standing import standing_problem, user_behind
from lorebank.clock import Clock
from lorebank.errors import LorebankError, printable
from lorebank.ids import BankId
from lorebank.tags import Leaf, Not, TagFilter, both

log = logging.getLogger(__name__)
SERVER = "*"
"""The bank on which actions on the server are decided: only a literal `*` matches it (specs, Admin API)."""
PENDING_LABELS = "labels:pending"
MAX_TAG_GROUPS = 500
"""More filters than this on one caller are a mistake, and would make every query slow."""
_MAX_CACHED = 4096
_MAX_TOLD = 32
"""Statements named with a decision. With hundreds of policies each audit row would be mostly these; an
explanation names all."""
_MAX_SCOPES = 3
"""Policies named where several narrow a service account."""
CONTROL_PLANE = ("iam:", "template:", "knowledge:")
"""What gateway tokens do not open: a conversation with an operator in it is no operator's desk."""
_NOT_BY_POLICIES = Decision(
    allowed=False, reason="what agents do to knowledge is decided by their audience, and they do nothing else"
)
_Key = tuple[Principal, str, BankId | None]


class PolicyRules:
    """Decides from policies. `root` is the user of the server's settings: what he stores is stored as
    sent, because the single key of a home server speaks for everybody. `token_admin` lets gateway
    tokens use the control plane.

    Decisions are remembered per principal, action and bank until the directory changes; whether the
    caller is still somebody is looked at every time.
    """

    def __init__(
        self, store: AccessStore, *, root: str, now: Clock = clock.now, token_admin: bool = False
    ) -> None:
        self._store = store
        self._root = root
        self._now = now
        self._token_admin = token_admin
        self._lock = threading.Lock()
        self._state: tuple[View, dict[_Key, Decision]] = (View(store.data), {})

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        """The decision; failures deny."""
        if action not in ACTIONS:
            return Decision(allowed=False, failure=True, reason="there is no such action")
        if principal.kind == "agent" or action in AUDIENCE_ONLY:
            return _NOT_BY_POLICIES
        if principal.kind == "local":
            whole = "the owner of the data directory"
            return Decision(allowed=True, may_reserve=True, may_replace=True, reason=whole)
        view, decided = self._current()
        gone = standing_problem(view.data, principal, self._now())
        if gone is not None:
            return Decision(allowed=False, reason=gone, credential_gone=True)
        key = (principal, action, bank)
        known = decided.get(key)
        if known is None:
            known = self._worked_out(view, principal, action, bank)
            if len(decided) >= _MAX_CACHED:
                decided.clear()
            decided[key] = known
        return known

    def shows(self, principal: Principal, bank: BankId) -> bool:
        """Any of the actions that show a bank is allowed, and no statement denies `bank:list`."""
        if principal.kind in ("local", "agent"):
            return principal.kind == "local"
        view = self.view()
        if standing_problem(view.data, principal, self._now()) is not None:
            return False
        try:
            if any(layer.evaluate(LIST_BANKS, bank).denied for layer in view.layers(principal)):
                return False
            return any(self._judged(view, principal, action, bank).allowed for action in SHOWS_BANK)
        except (Undecidable, LorebankError, RecursionError) as exc:
            log.debug("whether a bank is listed could not be decided: %s", exc)
            return False

    def view(self) -> View:
        """The snapshot in force with its compiled policies."""
        return self._current()[0]

    def said(self, view: View, principal: Principal, action: str, bank: str) -> Verdict:
        """What the policies say of this action alone. Raises `Undecidable`."""
        own, *scopes = view.layers(principal)
        verdict = own.evaluate(action, bank)
        if principal.kind == "unmapped":
            policy = _bank_policy(view, bank) if action.startswith("bank:") else None
            return unmapped_verdict(verdict, policy, placed(principal.circumstances), action, bank)
        for scope in scopes:
            verdict = narrow(verdict, scope.evaluate(action, bank))
        return verdict

    def verdict(self, view: View, principal: Principal, action: str, bank: str) -> Verdict:
        """`said` with recall's limits in its parameters: what the principal may in effect, whichever
        provider he comes through. Raises `Undecidable`."""
        verdict = self.said(view, principal, action, bank)
        if not verdict.allowed or action == RECALL or not action.startswith("bank:"):
            return verdict
        return replace(verdict, parameters=_limited(verdict.parameters, view.layers(principal), bank))

    def _current(self) -> tuple[View, dict[_Key, Decision]]:
        """The view of the newest snapshot with the decisions made from it, always as a pair."""
        state = self._state
        if state[0].data is not self._store.data:
            with self._lock:
                data = self._store.data
                if self._state[0].data is not data:
                    self._state = (View(data, self._state[0]), {})
                state = self._state
        return state

    def _worked_out(self, view: View, principal: Principal, action: str, bank: BankId | None) -> Decision:
        user = user_behind(view.data, principal)
        if action in EVERYBODY:
            return Decision(allowed=True, user=user, determining=("everybody",))
        if principal.by_token and action.startswith(CONTROL_PLANE) and not self._token_admin:
            return Decision(allowed=False, user=user, reason="gateway tokens do not open the control plane")
        if action in EVERY_USER:
            is_user = principal.kind == "user"
            told = ("every user",) if is_user else ()
            return Decision(allowed=is_user, user=user, determining=told, reason="" if is_user else "no user")
        try:
            return self._by_policies(view, principal, action, SERVER if bank is None else bank, user)
        except Undecidable as exc:
            log.warning("a decision on %s failed: %s", action, exc)
            return Decision(allowed=False, user=user, failure=True, reason=str(exc))
        except (LorebankError, RecursionError) as exc:
            log.warning("a decision on %s failed", action, exc_info=exc)
            return Decision(allowed=False, user=user, failure=True, reason="the policies cannot be applied")

    def _by_policies(
        self, view: View, principal: Principal, action: str, bank: str, user: str | None
    ) -> Decision:
        verdict = self._judged(view, principal, action, bank)
        told = _told(verdict)
        if not verdict.allowed:
            reason = _narrowed(view, principal, action, bank) or _why_not(verdict)
            return Decision(allowed=False, user=user, determining=told, reason=reason, denied=verdict.denied)
        parameters = verdict.parameters
        if len(parameters.recall_tag_groups or ()) > MAX_TAG_GROUPS:
            raise Undecidable(f"more than {MAX_TAG_GROUPS} tag groups hold for the caller on this bank")
        if action == RETAIN:
            context = placed(principal.circumstances)
            strategy = strategy_for(parameters, _bank_policy(view, bank), context)
            parameters = replace(parameters, retain_strategy=strategy)
        reserving = action.startswith("bank:") and writes(action)
        return Decision(
            allowed=True,
            filter=content_filter(parameters.recall_tag_groups),
            parameters=parameters,
            own_operations=self._own_only(view, principal, action, bank, parameters),
            user=user,
            auto_tags=self._auto_tags(principal, user),
            may_reserve=reserving and self.said(view, principal, RESERVED_TAGS, bank).allowed,
            may_replace=action == RETAIN and self.said(view, principal, UPDATE_DOCUMENTS, bank).allowed,
            determining=told,
        )

    def _judged(self, view: View, principal: Principal, action: str, bank: str) -> Verdict:
        """The verdict, with excluded providers refused."""
        verdict = self.verdict(view, principal, action, bank)
        excluded = verdict.parameters.exclude_providers or ()
        if verdict.allowed and placed(principal.circumstances).provider in excluded:
            return replace(verdict, allowed=False, parameters=UNSET)
        return verdict

    def _own_only(
        self, view: View, principal: Principal, action: str, bank: str, parameters: Parameters
    ) -> bool:
        """Operations seen through retain or through a tag filter, or by a stranger, are the caller's own."""
        if not action.startswith("bank:operations:"):
            return False
        if parameters.recall_tag_groups or principal.kind == "unmapped":
            return True
        if RETAIN not in IMPLYING.get(action, ()):
            return False
        layers = view.layers(principal)
        return not all(layer.evaluate(action, bank, implied=False).allowed for layer in layers)

    def _auto_tags(self, principal: Principal, user: str | None) -> tuple[str, ...]:
        agent = principal.circumstances.agent
        tags = [f"agent:{agent}"] if agent else []
        if user is not None and user != self._root:
            tags.append(f"user:{user}")  # Grant.user_tag
        return tuple(sorted(tags))


def placed(circumstances: Circumstances) -> Circumstances:
    """Without a claim of its own the provider is what stands before the sender's colon (issue 3)."""
    provider, colon, _ = (circumstances.sender or "").partition(":")
    if circumstances.provider is not None or not colon:
        return circumstances
    return replace(circumstances, provider=provider)


def content_filter(groups: tuple[TagGroup, ...] | None) -> TagFilter | None:
    """What the tag groups hide, and with any of them what still waits for its labels: text that nobody
    has labelled yet may belong to what is hidden."""
    return both(tag_filter(groups), Not(Leaf((PENDING_LABELS,)))) if groups else None


def _bank_policy(view: View, bank: str) -> BankPolicy | None:
    """The bank's policy. One for `*` never applies: it would open the server, which is decided there."""
    return None if bank == SERVER else view.bank_policy(bank)


def _limited(parameters: Parameters, layers: tuple[Layer, ...], bank: str) -> Parameters:
    """With the tag groups and excluded providers of recall: they hold for whatever is done with the bank's
    memories (issue 3). Taken from each layer by itself, because an account that may not recall sees
    no more by reflect than its owner, who is filtered."""
    for layer in layers:
        recall = layer.recall_parameters(bank)
        parameters = replace(
            parameters,
            recall_tag_groups=_joined(parameters.recall_tag_groups, recall.recall_tag_groups),
            exclude_providers=_united(parameters.exclude_providers, recall.exclude_providers),
        )
    return parameters


def _joined(
    first: tuple[TagGroup, ...] | None, second: tuple[TagGroup, ...] | None
) -> tuple[TagGroup, ...] | None:
    if not first or not second:
        return first or second
    return distinct(first + second)


def _united(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return tuple(sorted({*first, *second})) if first and second else first or second


def _told(verdict: Verdict) -> tuple[str, ...]:
    told = tuple(map(str, verdict.determining[:_MAX_TOLD]))
    more = len(verdict.determining) - len(told)
    return (*told, f"and {more} more") if more else told


def _narrowed(view: View, principal: Principal, action: str, bank: str) -> str | None:
    """Why, where a service account is refused only by what narrows it; None otherwise."""
    own, *scopes = view.layers(principal)
    if not scopes or not own.evaluate(action, bank).allowed:
        return None
    names = scopes_of(view.data, view.data.service_accounts[principal.id])
    said = {name: scope.evaluate(action, bank) for name, scope in zip(names, scopes, strict=True)}
    denying = [name for name, verdict in said.items() if verdict.denied]
    refusing = denying or [name for name, verdict in said.items() if not verdict.allowed]
    what = "denies it" if denying else "does not allow it"
    told = ", ".join(f"'{printable(name)}'" for name in refusing[:_MAX_SCOPES])
    more = f" and {len(refusing) - _MAX_SCOPES} more" if len(refusing) > _MAX_SCOPES else ""
    return f"the scope of the service account {what}: policy {told}{more}"


def _why_not(verdict: Verdict) -> str:
    """Why not. Of a refusal that rests on allows, what they exclude is the reason."""
    if not verdict.denied:
        return "the caller's provider is excluded" if verdict.determining else "no allow statement matches"
    public = any(one.policy_id.startswith("bank-policy:") for one in verdict.determining)
    return "the bank's public access does not list it" if public else "a deny statement matches"
