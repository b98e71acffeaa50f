"""Every way in which somebody's right to read a bank is taken away or narrowed, over the admin API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from access_admin import Admin, statement, token
from planted import OPEN

SECRET = "a secret that gateway and server share for this test only"
_READS = ("bank:recall", "bank:export")


@dataclass(frozen=True)
class Change:
    """`prepare` makes a caller who reads the bank and answers with his credential; `make` is the change,
    acknowledged when it returns. With `narrows` he still reads, but only what is open."""

    prepare: Callable[[Admin, str, str], str]
    make: Callable[[Admin, str, str], None]
    narrows: bool = False


def _reader(admin: Admin, who: str, bank: str) -> str:
    return admin.user(who, statement(*_READS, banks=(bank,)))


def _through_a_group(admin: Admin, who: str, bank: str) -> str:
    key = admin.user(who)
    admin.group(f"{who}-group", statement(*_READS, banks=(bank,)))
    admin.add_member(f"{who}-group", who)
    return key


def _robot(admin: Admin, who: str, bank: str) -> str:
    _reader(admin, f"{who}-owner", bank)
    admin.policy(f"{who}-scope", statement("bank:*"))
    return admin.account(who, f"{who}-owner", f"{who}-scope")


def _free_robot(admin: Admin, who: str, bank: str) -> str:
    _reader(admin, f"{who}-owner", bank)
    admin.policy(f"{who}-scope", statement("bank:stats"))
    return admin.account(who, f"{who}-owner")


def _mapped(admin: Admin, who: str, bank: str) -> str:
    _reader(admin, who, bank)
    admin.channel(who, "web", who)
    return token(SECRET, f"web:{who}")


def _visitor(admin: Admin, who: str, bank: str) -> str:
    actions = [*_READS, "bank:memories:list", "bank:documents:list", "bank:graph"]
    public = {"overrides": [{"scope": "topic", "value": who, "actions": actions}]}
    admin.bank_policy(bank, public_access=public)
    return token(SECRET, f"web:{who}", topic=who)


def _default_group(admin: Admin, who: str, bank: str) -> str:
    """Everybody without a user reads the bank through the group for them."""
    admin.group("_default", statement(*_READS, banks=(bank,)))
    return token(SECRET, f"web:{who}")


def _empty_the_default_group(admin: Admin, who: str, bank: str) -> None:
    _sent(admin, "DELETE", "/groups/_default")
    _sent(admin, "DELETE", "/policies/of-_default")


def _map_to_nobody(admin: Admin, who: str, bank: str) -> None:
    admin.user(f"{who}-off")
    admin.set_active(f"{who}-off", False)
    admin.channel(f"{who}-off", "web", who)


def _delete_keys(admin: Admin, who: str, bank: str) -> None:
    for key in admin.send("GET", f"/users/{who}/api-keys").json():
        admin.delete_user_key(who, key["id"])


def _delete_robots_keys(admin: Admin, who: str, bank: str) -> None:
    for key in admin.send("GET", f"/service-accounts/{who}/keys").json():
        admin.send("DELETE", f"/service-accounts/{who}/keys/{key['id']}")


def _deny(admin: Admin, who: str, bank: str) -> None:
    deny = statement("bank:*", banks=(bank,), effect="deny")
    admin.put_policy(f"of-{who}", statement(*_READS, banks=(bank,)), deny)


def _deny_by_another_group(admin: Admin, who: str, bank: str) -> None:
    admin.group(f"{who}-shut", statement("bank:*", effect="deny"))
    admin.add_member(f"{who}-shut", who)


def _filter(admin: Admin, who: str, bank: str) -> None:
    admin.put_policy(f"of-{who}", statement(*_READS, banks=(bank,), recall_tag_groups=OPEN))


def _filter_by_another_policy(admin: Admin, who: str, bank: str) -> None:
    admin.policy(f"{who}-filter", statement("bank:recall", recall_tag_groups=OPEN))
    admin.attach(f"{who}-filter", "user", who)


def _filter_the_scope(admin: Admin, who: str, bank: str) -> None:
    admin.put_policy(f"{who}-scope", statement("bank:*", recall_tag_groups=OPEN))


CHANGES: Mapping[str, Change] = {
    "key deleted": Change(_reader, _delete_keys),
    "membership ended": Change(
        _through_a_group, lambda admin, who, bank: admin.remove_member(f"{who}-group", who)
    ),
    "group deleted": Change(
        _through_a_group, lambda admin, who, bank: _sent(admin, "DELETE", f"/groups/{who}-group")
    ),
    "policy emptied": Change(_reader, lambda admin, who, bank: admin.put_policy(f"of-{who}")),
    "policy denies": Change(_reader, _deny),
    "joined a group that denies": Change(_reader, _deny_by_another_group),
    "policy detached": Change(_reader, lambda admin, who, bank: admin.detach(f"of-{who}", "user", who)),
    "policy gets a filter": Change(_reader, _filter, narrows=True),
    "another policy brings a filter": Change(_reader, _filter_by_another_policy, narrows=True),
    "user disabled": Change(_reader, lambda admin, who, bank: admin.set_active(who, False)),
    "user deleted": Change(_reader, lambda admin, who, bank: _sent(admin, "DELETE", f"/users/{who}")),
    "robot disabled": Change(_robot, lambda admin, who, bank: admin.put_account(who, is_active=False)),
    "robot deleted": Change(
        _robot, lambda admin, who, bank: _sent(admin, "DELETE", f"/service-accounts/{who}")
    ),
    "robot's key deleted": Change(_robot, _delete_robots_keys),
    "robot scoped": Change(
        _free_robot, lambda admin, who, bank: admin.put_account(who, scoping_policy_id=f"{who}-scope")
    ),
    "robot's scope gets a filter": Change(_robot, _filter_the_scope, narrows=True),
    "robot's owner disabled": Change(
        _robot, lambda admin, who, bank: admin.set_active(f"{who}-owner", False)
    ),
    "robot's owner loses his policy": Change(
        _robot, lambda admin, who, bank: admin.detach(f"of-{who}-owner", "user", f"{who}-owner")
    ),
    "sender unmapped": Change(
        _mapped, lambda admin, who, bank: _sent(admin, "DELETE", f"/users/{who}/channels/web/{who}")
    ),
    "public access ended": Change(_visitor, lambda admin, who, bank: admin.bank_policy(bank)),
    "bank policy deleted": Change(
        _visitor, lambda admin, who, bank: _sent(admin, "DELETE", f"/banks/{bank}/policy")
    ),
    "public access by a group ended": Change(_default_group, _empty_the_default_group),
    "visitor mapped to a disabled user": Change(_visitor, _map_to_nobody),
    "sender's user disabled": Change(_mapped, lambda admin, who, bank: admin.set_active(who, False)),
}


def _sent(admin: Admin, method: str, path: str) -> None:
    admin.send(method, path)
