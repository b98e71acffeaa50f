"""Nobody hands out more than he may: the one place where changes of the directory are held against a caller.

Two rules (docs/hindclaw.md, Escalation). A *narrowed* service account, one with a scoping policy or
with policies attached to it, acts for an owner who may more than the account: whatever it changes,
nobody may gain a right that it lacks. And a caller who changes service accounts without managing
all of them reaches only those that may no more than himself.
"""

from __future__ import annotations

from collections.abc import Sized

from lorebank.access.actions import ACTIONS, MANAGE_ACCOUNTS
from lorebank.access.admin.gains import Change
from lorebank.access.admin.side import Side
from lorebank.access.assembling import View, scopes_of
from lorebank.access.directory import AccessData
from lorebank.access.policy.wider import Rights, representatives, wider
from lorebank.access.principal import Principal
from lorebank.access.rules import SERVER, PolicyRules
from lorebank.errors import Forbidden

MAX_QUESTIONS = 200_000
"""Questions (an action on a bank) that one change may raise. They are asked while the directory is locked,
some 20,000 a second: whoever writes policies must not keep others from revoking them for minutes."""


def narrowed(data: AccessData, principal: Principal) -> bool:
    """Whether the caller is a service account whose policies keep it below its owner."""
    account = data.service_accounts.get(principal.id) if principal.kind == "service_account" else None
    return account is not None and bool(scopes_of(data, account))


def check_no_gain(rules: PolicyRules, caller: Principal, before: AccessData, after: AccessData) -> None:
    """`Forbidden` when the change lets anybody do what a narrowed caller may not do himself."""
    if not narrowed(before, caller):
        return
    earlier = View(before)
    change = Change(rules, earlier, View(after, earlier))
    bound = Side(rules, change.earlier, caller)
    left = MAX_QUESTIONS
    for gain in change.gains():
        names = gain.banks
        if not gain.only:
            sides = (gain.before, gain.after, bound)
            names = representatives((one for side in sides for one in side.documents()), gain.banks)
        left = _affordable(names, left)
        _refuse_wider(gain.after, gain.may, bound, names)


def check_not_wider(
    rules: PolicyRules, caller: Principal, before: AccessData, data: AccessData, target: Principal
) -> None:
    """`Forbidden` when a user or account may more, in the state `data`, than a caller who does not
    manage all accounts could before his change."""
    if caller.kind == "local":
        return
    bound = Side(rules, View(before), caller)
    if bound.may(MANAGE_ACCOUNTS, SERVER).allowed:
        return
    side = Side(rules, View(data), target)
    names = representatives(one for each in (side, bound) for one in each.documents())
    _affordable(names, MAX_QUESTIONS)
    _refuse_wider(side, side.may, bound, names)


def _affordable(banks: Sized, left: int) -> int:
    """What is left of the questions after these banks; `Forbidden` when that is too little: what cannot be
    checked is not granted."""
    left -= len(ACTIONS) * len(banks)
    if left < 0:
        raise Forbidden(
            "this changes the rights on too many banks to be checked at once; make it in smaller parts, or "
            "with the key of a user who needs no check"
        )
    return left


def _refuse_wider(target: Side, rights: Rights, bound: Side, banks: tuple[str, ...]) -> None:
    found = wider(rights, bound.may, banks)
    if found is not None:
        action, bank = found
        raise Forbidden(
            f"'{target.principal.name}' would get rights that you do not have yourself: "
            f"{action} on bank '{bank}', or looser limits on it"
        )
