"""Nobody hands out more than he may."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from iam_server import VERSION, Server, allow, deny, document, path

from lorebank.access.admin import users
from lorebank.access.admin.desk import Desk
from lorebank.access.directory import User
from lorebank.access.principal import Principal
from lorebank.errors import Forbidden

ACCOUNTS, MINE = path("service-accounts"), path("me", "service-accounts")
SCOPE = (allow("iam:*"), allow("bank:recall", banks=("team",), recall_max_tokens=500))


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data directory with everybody in it, made once; the narrowed account's key."""
    folder = tmp_path_factory.mktemp("settled") / "data"
    server = Server(folder)
    key = settle(server)
    extras(server)
    server.close()
    return folder, key


@pytest.fixture
def server(settled: tuple[Path, str], tmp_path: Path) -> Iterator[Server]:
    """A server on a copy of it."""
    shutil.copytree(settled[0], tmp_path / "data")
    made = Server(tmp_path / "data")
    yield made
    made.close()


@pytest.fixture
def robot(settled: tuple[Path, str]) -> str:
    """The key of the narrowed account."""
    return settled[1]


def settle(server: Server) -> str:
    """A narrowed account that may recall from one bank and administrate, and its mightier owner; its key."""
    server.user("boss")
    for policy in ("bank:admin", "iam:admin"):
        server.attach(policy, "user", "boss")
    server.policy("scope", *SCOPE)
    server.policy("all-banks", allow("bank:recall", "bank:retain"))
    server.policy("no-recall", deny("bank:recall"))
    server.policy("team-little", allow("bank:recall", banks=("team",), recall_max_tokens=100))
    server.policy("team-all", allow("bank:recall", banks=("team",)))
    server.user("eve")
    server.user("ceo", is_active=False)
    server.attach("all-banks", "user", "ceo")
    server.group("chiefs", "boss")
    server.attach("all-banks", "group", "chiefs")
    server.group("silent", "eve")
    server.policy("eve-all", allow("bank:recall"))
    server.attach("eve-all", "user", "eve")
    server.attach("no-recall", "group", "silent")
    server.group("_default")
    server.account("wide", "boss")
    return server.account("robot", "boss", scope="scope")


def attaching(policy: str, kind: str, id: str) -> tuple[str, str, Any]:
    sent = {"policy_id": policy, "principal_type": kind, "principal_id": id}
    return "PUT", path("policy-attachments"), sent


def public(**rule: Any) -> dict[str, Any]:
    access = {"default": {"actions": ["bank:recall"], **rule}, "overrides": []}
    return {"document": {"version": VERSION, "public_access": access}}


REFUSED: dict[str, tuple[str, str, Any]] = {
    "an account without a scope": ("POST", MINE, {"id": "new", "display_name": "x"}),
    "the same by the admin route": (
        "POST",
        ACCOUNTS,
        {"id": "new", "owner_user_id": "boss", "display_name": "x"},
    ),
    "a wider scope": ("POST", MINE, {"id": "new", "display_name": "x", "scoping_policy_id": "all-banks"}),
    "a key of a wider account": ("POST", path("me", "service-accounts", "wide", "keys"), {}),
    "the same by the admin route for keys": ("POST", path("service-accounts", "wide", "keys"), {}),
    "a key of the owner": ("POST", path("users", "boss", "api-keys"), {}),
    "a key of root": ("POST", path("users", "root", "api-keys"), {}),
    "an end of its own scope": ("PUT", path("service-accounts", "robot"), {"scoping_policy_id": None}),
    "another scope": ("PUT", path("service-accounts", "robot"), {"scoping_policy_id": "all-banks"}),
    "a wider text of its scope": (
        "PUT",
        path("policies", "scope"),
        {"document": document(*SCOPE, allow("bank:retain"))},
    ),
    "looser limits in its scope": (
        "PUT",
        path("policies", "scope"),
        {"document": document(SCOPE[0], allow("bank:recall", banks=("team",)))},
    ),
    "an attachment of more": attaching("all-banks", "user", "eve"),
    "an attachment with looser limits": attaching("team-all", "user", "boss2"),
    "an attachment to all unmapped senders": attaching("all-banks", "group", "_default"),
    "a member of a mightier group": ("POST", path("groups", "chiefs", "members"), {"user_id": "eve"}),
    "an end of a deny": ("DELETE", path("policy-attachments", "no-recall", "group", "silent"), None),
    "an end of the group with the deny": ("DELETE", path("groups", "silent"), None),
    "an end of the membership with the deny": ("DELETE", path("groups", "silent", "members", "eve"), None),
    "another text of the deny": ("PUT", path("policies", "no-recall"), {"document": document()}),
    "a user who may more": ("PUT", path("users", "ceo"), {"is_active": True}),
    "a sender who becomes the owner": (
        "POST",
        path("users", "boss", "channels"),
        {"provider": "telegram", "sender_id": "1"},
    ),
    "public access to another bank": ("PUT", path("banks", "hr", "policy"), public(recall_max_tokens=10)),
    "public access without its limit": ("PUT", path("banks", "team", "policy"), public()),
}
ALLOWED: dict[str, tuple[str, str, Any]] = {
    "an account with its scope": (
        "POST",
        MINE,
        {"id": "new", "display_name": "x", "scoping_policy_id": "scope"},
    ),
    "a key of its own": ("POST", path("me", "service-accounts", "robot", "keys"), {}),
    "a key of a lesser user": ("POST", path("users", "lesser", "api-keys"), {}),
    "a new user": ("POST", path("users"), {"id": "new", "display_name": "x"}),
    "an attachment of less": attaching("team-little", "user", "lesser"),
    "an attachment of what its scope gives": attaching("scope", "user", "lesser"),
    "a policy that nobody has": (
        "POST",
        path("policies"),
        {"id": "new", "display_name": "x", "document": document(allow("bank:*"))},
    ),
    "one deny more": attaching("no-recall", "user", "boss"),
    "a right less": ("DELETE", path("policy-attachments", "all-banks", "group", "chiefs"), None),
    "a mightier user less": ("PUT", path("users", "boss2"), {"is_active": False}),
    "a lesser sender": (
        "POST",
        path("users", "lesser", "channels"),
        {"provider": "telegram", "sender_id": "1"},
    ),
    "public access within its limits": ("PUT", path("banks", "team", "policy"), public(recall_max_tokens=9)),
    "strategies of any bank": (
        "PUT",
        path("banks", "hr", "policy"),
        {"document": {"version": VERSION, "default_strategy": "x"}},
    ),
}


def extras(server: Server) -> None:
    server.user("boss2")
    server.attach("bank:readonly", "user", "boss2")
    server.user("lesser")
    server.attach("team-little", "user", "lesser")


@pytest.mark.parametrize("name", REFUSED)
def test_a_narrowed_account_gives_nobody_what_it_lacks(server: Server, robot: str, name: str) -> None:
    if name == "an attachment with looser limits":
        server.done("DELETE", path("policy-attachments", "bank:readonly", "user", "boss2"), status=204)
    method, where, body = REFUSED[name]
    sent = {} if body is None else {"body": body}
    before = server.directory.access.data
    told = server.refused(403, method, where, key=robot, **sent)
    assert "you do not have yourself" in told
    assert server.directory.access.data == before
    answer = server.ask(method, where, key=server.key_of("boss"), **sent)  # the owner himself may
    assert answer.status_code in (200, 201, 204), answer.text


@pytest.mark.parametrize("name", ALLOWED)
def test_a_narrowed_account_works_within_its_rights(server: Server, robot: str, name: str) -> None:
    method, where, body = ALLOWED[name]
    answer = server.ask(method, where, key=robot, **({} if body is None else {"body": body}))
    assert answer.status_code in (200, 201, 204), answer.text


def test_what_takes_too_long_to_check_is_refused_and_keeps_nobody_waiting(server: Server, robot: str) -> None:
    """The check runs while the directory is locked: else who writes policies could keep others from revoking
    anything for minutes."""
    lists: list[list[str]] = [[] for _ in range(70)]
    for number, pair in enumerate(combinations(range(70), 2)):  # each bank is in two lists of its own
        for at in pair:
            lists[at].append(f"b{number}")
    server.policy("tangled", *(allow("bank:recall", banks=banks) for banks in lists))
    assert "too many banks" in server.refused(403, *attaching("tangled", "user", "eve"), key=robot)
    assert server.done("GET", path("policy-attachments"), params={"policy_id": "tangled"}) == []
    method, where, body = attaching("tangled", "user", "eve")
    server.done(method, where, body)


def test_an_account_without_a_scope_does_what_its_owner_may(server: Server, robot: str) -> None:
    wide = server.done("POST", path("service-accounts", "wide", "keys"), {}, status=201)["api_key"]
    server.done("POST", MINE, {"id": "new", "display_name": "x"}, status=201, key=wide)
    server.done("POST", path("users", "boss", "api-keys"), {}, status=201, key=wide)


def test_a_policy_that_is_attached_to_an_account_narrows_it_too(server: Server, robot: str) -> None:
    wide = server.done("POST", path("service-accounts", "wide", "keys"), {}, status=201)["api_key"]
    server.attach("scope", "service_account", "wide")
    server.refused(403, "POST", MINE, {"id": "new", "display_name": "x"}, key=wide)
    detach = path("policy-attachments", "scope", "service_account", "wide")
    server.refused(403, "DELETE", detach, key=wide)
    server.done("DELETE", detach, status=204)
    server.done("POST", MINE, {"id": "new", "display_name": "x"}, status=201, key=wide)


def test_a_tag_filter_is_not_lifted_through_another_action(server: Server) -> None:
    """The filter of recall holds for listings too: a right to list without recall would show more."""
    groups = [{"tags": ["public"], "match": "any_strict"}]
    recall = allow("bank:recall", recall_tag_groups=groups)
    server.policy("filtered", allow("iam:*"), recall, allow("bank:documents:*"))
    server.policy("lister", allow("bank:documents:list"))
    server.user("zed")
    robot = server.account("reader", "boss", scope="filtered")
    server.refused(403, *attaching("lister", "user", "zed"), key=robot)
    server.policy("public-lister", allow("bank:documents:list", recall_tag_groups=groups))
    method, where, sent = attaching("public-lister", "user", "zed")
    server.done(method, where, sent, key=robot)


# service accounts of others, for those who do not manage all


@pytest.fixture
def helper(server: Server, robot: str) -> Callable[..., Any]:
    """Asks as a user who may change service accounts, but not manage all of them."""
    server.user("lia")
    server.grant(
        "lia",
        "iam:service_accounts:read",
        "iam:service_accounts:write",
        "iam:service_account_keys:write",
    )
    server.attach("team-all", "user", "lia")
    key = server.key_of("lia")
    return lambda *asked, **more: server.ask(*asked, key=key, **more)


def test_accounts_of_lesser_users_are_in_reach(server: Server, helper: Callable[..., Any]) -> None:
    sent = {"id": "new", "owner_user_id": "lesser", "display_name": "x"}
    one = path("service-accounts", "new")
    assert helper("POST", ACCOUNTS, sent).status_code == 201
    assert helper("PUT", one, {"display_name": "y"}).status_code == 200
    made = helper("POST", f"{one}/keys", {})
    assert made.status_code == 201
    assert helper("DELETE", f"{one}/keys/{made.json()['id']}").status_code == 204
    assert helper("DELETE", one).status_code == 204


def test_accounts_of_mightier_users_are_not(server: Server, helper: Callable[..., Any]) -> None:
    (key,) = server.done("GET", path("service-accounts", "wide", "keys"))
    wide = path("service-accounts", "wide")
    for answer in (
        helper("POST", ACCOUNTS, {"id": "new", "owner_user_id": "boss", "display_name": "x"}),
        helper(
            "POST",
            ACCOUNTS,
            {
                "id": "new",
                "owner_user_id": "boss",
                "display_name": "x",
                "scoping_policy_id": "team-little",
            },
        ),
        helper("PUT", wide, {"display_name": "y"}),
        helper("PUT", wide, {"scoping_policy_id": "team-little"}),
        helper("POST", f"{wide}/keys", {}),
        helper("DELETE", f"{wide}/keys/{key['id']}"),
        helper("DELETE", wide),
    ):
        assert answer.status_code == 403 and "you do not have yourself" in answer.json()["detail"]
    assert helper("GET", wide).json()["display_name"] == "wide"
    assert [one["id"] for one in helper("GET", ACCOUNTS).json()] == ["robot", "wide"]


def test_a_scope_is_not_cleared_beyond_ones_own_rights(server: Server, helper: Callable[..., Any]) -> None:
    server.account("small", "boss", scope="team-little")
    small = path("service-accounts", "small")
    assert helper("POST", f"{small}/keys", {}).status_code == 201
    assert helper("PUT", small, {"scoping_policy_id": None}).status_code == 403
    assert helper("PUT", small, {"display_name": "y"}).status_code == 200


def test_who_manages_all_accounts_reaches_all(server: Server, robot: str) -> None:
    server.user("admin")
    server.grant("admin", "iam:service_accounts:manage")
    key = server.key_of("admin")
    sent = {"id": "new", "owner_user_id": "boss", "display_name": "x"}
    server.done("POST", ACCOUNTS, sent, status=201, key=key)
    server.done("POST", path("service-accounts", "new", "keys"), {}, status=201, key=key)
    server.done("GET", ACCOUNTS, key=key)
    told = server.refused(403, "GET", path("users"), key=key)
    assert told == "iam:users:read denied"


def test_a_right_that_was_revoked_meanwhile_does_not_commit(server: Server) -> None:
    server.user("alice")
    server.grant("alice", "iam:users:write")
    grant = server.resolver.resolve(Principal("user", "alice"), "iam:users:write")
    store = server.directory.access
    desk = Desk(store, server.context.access.rules, server.resolver, grant, str, "root", 1)
    users.create(desk, User("before", "x"))
    server.done("DELETE", path("policy-attachments", "alice-iam:users:write", "user", "alice"), status=204)
    with pytest.raises(Forbidden):
        users.create(desk, User("after", "x"))
    assert "before" in store.data.users and "after" not in store.data.users
