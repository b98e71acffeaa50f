"""Who may do more after a change of the directory than before: found by comparing the two states.

Found from the states and not from the request: a new way to change the directory is covered too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from lorebank.access.admin.side import NOTHING, Side, bank_policy_in, gives_more
from lorebank.access.assembling import View
from lorebank.access.directory import DEFAULT_GROUP, AccessData
from lorebank.access.policy.values import BankPolicy, Verdict
from lorebank.access.principal import NOWHERE, UNMAPPED, Circumstances, Principal
from lorebank.access.rules import PolicyRules

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Gain:
    """Somebody who may gain. `banks` are further banks to look at; with `only`, no others."""

    before: Side
    after: Side
    banks: tuple[str, ...] = ()
    only: bool = False

    def may(self, action: str, bank: str) -> Verdict:
        """What it may afterwards where that is more than before; nothing elsewhere."""
        later = self.after.may(action, bank)
        return later if gives_more(later, self.before.may(action, bank)) else NOTHING


@dataclass(frozen=True)
class Change:
    """Two states of the directory."""

    rules: PolicyRules
    earlier: View
    later: View

    @property
    def before(self) -> AccessData:
        """The state that was."""
        return self.earlier.data

    @property
    def after(self) -> AccessData:
        """The state that would be."""
        return self.later.data

    def gains(self) -> Iterator[Gain]:
        """Everybody who may gain by the change."""
        yield from self._users()
        yield from self._accounts()
        for key_id in self.after.keys_by_id.keys() - self.before.keys_by_id.keys():
            key = self.after.keys_by_id[key_id]
            yield self._handed_over(Principal(key.kind, key.owner_id))
        for sender in _differing(self.before.channels, self.after.channels):
            yield self._of_sender(sender)
        yield from self._public()

    def _users(self) -> Iterator[Gain]:
        seen: set[Any] = set()
        for user_id, user in self.after.users.items():
            known = self.before.users.get(user_id)
            if known is None or (user.is_active and not known.is_active):
                yield self._handed_over(Principal("user", user_id))
            elif self._reaches(user_id):
                gain = self._of(Principal("user", user_id))
                alike = gain.before.sources(), gain.after.sources()
                if alike not in seen:  # members of the same groups gain the same
                    seen.add(alike)
                    yield gain

    def _accounts(self) -> Iterator[Gain]:
        for account_id, account in self.after.service_accounts.items():
            known = self.before.service_accounts.get(account_id)
            principal = Principal("service_account", account_id)
            if known is None or (account.is_active and not known.is_active):
                yield self._handed_over(principal)
            elif (
                known != account
                or ("service_account", account_id) in self.touched
                or account.scoping_policy_id in self.rewritten
                or self._reaches(account.owner_user_id)
            ):
                yield self._of(principal)

    def _reaches(self, user_id: str) -> bool:
        """Whether anything has changed that a user's rights are made from."""
        groups = self.after.groups_of.get(user_id, ())
        return (
            ("user", user_id) in self.touched
            or groups != self.before.groups_of.get(user_id, ())
            or any(("group", group) in self.touched for group in groups)
        )

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """The policies whose text is another one, or that are new."""
        known = self.before.policies
        return frozenset(id for id, policy in self.after.policies.items() if known.get(id) != policy)

    @cached_property
    def touched(self) -> frozenset[tuple[str, str]]:
        """(type, id) of whoever has other attachments than before, or a rewritten policy attached."""
        moved = _differing(self.before.attachments, self.after.attachments)
        holders = (
            holder
            for holder, attached in self.after.attachments.items()
            if any(one.policy_id in self.rewritten for one in attached)
        )
        return frozenset([*moved, *holders])

    def _of(self, principal: Principal, banks: tuple[str, ...] = ()) -> Gain:
        before = Side(self.rules, self.earlier, principal)
        return Gain(before, Side(self.rules, self.later, principal), banks)

    def _handed_over(self, principal: Principal) -> Gain:
        """Somebody new speaks as the principal: all of its rights are a gain."""
        nobody = Side(self.rules, self.earlier, principal, nobody=True)
        return Gain(nobody, Side(self.rules, self.later, principal))

    def _of_sender(self, sender: tuple[str, str]) -> Gain:
        """A gateway's sender becomes another principal."""
        where = Circumstances(provider=sender[0], sender=":".join(sender))
        sides = []
        for view in (self.earlier, self.later):
            user_id = view.data.channels.get(sender)
            somebody = _unmapped(where) if user_id is None else Principal("user", user_id)
            sides.append(Side(self.rules, view, somebody))
        return Gain(sides[0], sides[1], tuple({**self.before.bank_policies, **self.after.bank_policies}))

    # unmapped senders

    def _public(self) -> Iterator[Gain]:
        if ("group", DEFAULT_GROUP) in self.touched:
            yield self._of(_unmapped(NOWHERE))
            for bank in self.after.bank_policies:
                for where in _named((bank_policy_in(self.later, bank),)):
                    yield self._of(_unmapped(where), (bank,))
        for bank in _differing(self.before.bank_policies, self.after.bank_policies):
            yield from self._on_bank(bank)

    def _on_bank(self, bank: str) -> Iterator[Gain]:
        """All that the new policy gives counts as gained where its public part is another one: an
        override that goes uncovers others, in more combinations than can be looked at one by one."""
        known, new = bank_policy_in(self.earlier, bank), bank_policy_in(self.later, bank)
        if _public_part(known) == _public_part(new):
            return
        for where in _named((known, new)):
            somebody = _unmapped(where)
            nobody = Side(self.rules, self.earlier, somebody, nobody=True)
            yield Gain(nobody, Side(self.rules, self.later, somebody), (bank,), only=True)


def _unmapped(where: Circumstances) -> Principal:
    return Principal("unmapped", UNMAPPED, where, by_token=True)


def _named(policies: Iterable[BankPolicy | None]) -> list[Circumstances]:
    """Each circumstance that the policies' overrides name, and none at all."""
    found = {
        Circumstances(**{override.scope: override.value})
        for policy in policies
        if policy is not None
        for override in policy.public_overrides
    }
    return [NOWHERE, *sorted(found, key=repr)]


def _public_part(policy: BankPolicy | None) -> object:
    return (None, ()) if policy is None else (policy.public_default, policy.public_overrides)


def _differing(before: Mapping[K, Any], after: Mapping[K, Any]) -> list[K]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]
