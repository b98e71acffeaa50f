"""The access commands, as whoever runs a server uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_process import Lorebank

from lorebank.cli.commands.access.give import LEVELS, document_of

POLICY = {"version": "2026-03-24", "statements": []}


def written(folder: Path, name: str, document: Any) -> str:
    file = folder / name
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def test_two_commands_let_a_second_agent_read_one_bank(served: Lorebank) -> None:
    served.ok("retain", "--bank", "shared", "Mara moves to Oslo in March")
    served.ok("retain", "--bank", "private", "Mara has a secret")
    key = served.ok("access", "give", "readonly", "--user", "scout", "--bank", "shared").strip()
    assert key.startswith("hc_u_scout_") and "\n" not in key
    assert "Oslo" in served.ok("recall", "--bank", "shared", "Where is Mara?", "--api-key", key)
    denied = served.fails("recall", "--bank", "private", "Where is Mara?", "--api-key", key, code=4)
    assert denied == {"code": "forbidden", "message": "bank:recall denied"}
    served.fails("retain", "--bank", "shared", "No.", "--api-key", key, code=4)
    own = served.ok("access", "rights", "shared", "--api-key", key)
    assert "may not" in own and "retain" in own and "everything" in served.ok("access", "rights", "shared")
    served.fails("access", "user", "list", "--api-key", key, code=4)
    assert [b["bank_id"] for b in served.json("bank", "list", "--api-key", key)["banks"]] == ["shared"]


def test_giving_again_changes_nothing_and_another_level_takes_its_place(plain: Lorebank) -> None:
    first = plain.json("access", "give", "readwrite", "--user", "bob", "--bank", "notes", "--expires", "90d")
    assert first["user_created"] and first["api_key"] and not first["bank_exists"]
    again = plain.json("access", "give", "readwrite", "--user", "bob", "--bank", "notes")
    assert (again["user_created"], again["api_key"], again["detached"]) == (False, None, [])
    narrowed = plain.json("access", "give", "readonly", "--user", "bob", "--bank", "notes", "--new-key")
    assert narrowed["detached"] == ["notes:readwrite"] and narrowed["api_key"]
    told = plain.json("access", "explain", "--user", "bob", "--bank", "notes", "--action", "bank:retain")
    assert told["decision"] == "deny"
    everywhere = plain.json("access", "give", "retain-only", "--user", "bob", "--bank", "*")
    assert everywhere["policy_id"] == "bank:retain-only"
    (bob, other) = [one for one in plain.json("access", "key", "list")["items"] if one["owner_id"] == "bob"]
    assert {bob["expires_at"] is None, other["expires_at"] is None} == {True, False}


def test_a_policy_of_that_name_that_says_something_else_is_left_alone(plain: Lorebank) -> None:
    file = written(plain.home, "notes:readonly.json", POLICY)
    assert plain.json("access", "policy", "put", file)["id"] == "notes:readonly"
    told = plain.fails("access", "give", "readonly", "--user", "bob", "--bank", "notes", code=1)
    assert told["code"] == "conflict" and "something else" in told["message"]
    assert plain.json("access", "policy", "show", "notes:readonly")["document"] == POLICY


def test_every_level_is_what_the_builtin_policy_of_its_name_allows(plain: Lorebank) -> None:
    builtin = {one["id"]: one["document"] for one in plain.json("access", "policy", "list")}
    for level in LEVELS:
        assert document_of("*", level) == builtin[f"bank:{level}"]


def test_users_groups_and_channels_from_beginning_to_end(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob", "--name", "Bob", "--email", "bob@example.org")
    plain.ok("access", "channel", "add", "bob", "telegram:7:8")
    plain.ok("access", "group", "add", "staff")
    plain.ok("access", "member", "add", "staff", "bob")
    assert plain.json("access", "channel", "list", "bob") == [{"provider": "telegram", "sender_id": "7:8"}]
    assert plain.json("access", "member", "list", "staff") == [{"user_id": "bob"}]
    assert plain.json("access", "group", "list")[0]["id"] == "staff"
    shown = plain.ok("access", "user", "show", "bob")
    assert "Bob" in shown and "telegram:7:8" in shown and "active" in shown
    plain.ok("access", "user", "disable", "bob")
    assert "disabled" in plain.ok("access", "user", "list")
    plain.ok("access", "user", "enable", "bob")
    plain.ok("access", "member", "remove", "staff", "bob")
    plain.ok("access", "channel", "remove", "bob", "telegram:7:8")
    plain.ok("access", "group", "remove", "staff", "--yes")
    plain.ok("access", "user", "remove", "bob", "--yes")
    assert [one["id"] for one in plain.json("access", "user", "list")] == ["root"]
    assert plain.fails("access", "user", "show", "bob", code=3)["code"] == "not_found"
    assert "PROVIDER:ID" in plain.fails("access", "channel", "add", "bob", "telegram", code=2)["message"]


def test_a_service_account_from_its_making_to_its_end(plain: Lorebank) -> None:
    scope = document_of("notes", "readonly")
    plain.ok("access", "policy", "put", written(plain.home, "ci.json", scope), "--id", "ci-scope")
    plain.ok("access", "service-account", "add", "ci", "--owner", "root", "--scope", "ci-scope")
    key = plain.ok("access", "key", "create", "--service-account", "ci", "--description", "robot").strip()
    assert key.startswith("hc_sa_ci_")
    (listed,) = plain.json("access", "key", "list", "--service-account", "ci")["items"]
    assert listed["description"] == "robot" and listed["last_used_at"] is None and "api_key" not in listed
    assert key not in plain.ok("access", "key", "list")
    told = plain.json("access", "explain", "--sa", "ci", "--bank", "notes", "--action", "bank:retain")
    assert told["decision"] == "deny" and "ci-scope" in " ".join(told["changes"])
    plain.fails("access", "policy", "remove", "ci-scope", "--yes", code=1)
    plain.ok("access", "service-account", "disable", "ci")
    assert plain.json("access", "service-account", "list")[0]["is_active"] is False
    plain.ok("access", "service-account", "enable", "ci")
    plain.ok("access", "key", "revoke", listed["id"], "--yes")
    assert plain.json("access", "key", "list", "--service-account", "ci")["total"] == 0
    plain.ok("access", "service-account", "remove", "ci", "--yes")
    plain.ok("access", "policy", "remove", "ci-scope", "--yes")


def test_policies_are_attached_and_detached(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "attach", "bank:readonly", "--user", "bob", "--priority", "5")
    told = plain.json("access", "explain", "--user", "bob", "--bank", "any")
    assert told["allowed"] and told["statements"][0]["priority"] == 5
    plain.ok("access", "detach", "bank:readonly", "--user", "bob")
    assert not plain.json("access", "explain", "--user", "bob", "--bank", "any")["allowed"]
    plain.fails("access", "detach", "bank:readonly", "--user", "bob", code=3)
    plain.ok("access", "attach", "bank:readonly", "--user", "bob")
    (attached,) = plain.json("access", "policy", "attachments", "bank:readonly")
    assert (attached["principal_type"], attached["principal_id"]) == ("user", "bob")
    assert "nobody" in plain.ok("access", "policy", "attachments", "bank:retain-only")
    plain.fails("access", "policy", "attachments", "nothing", code=3)
    wrong = plain.fails("access", "attach", "bank:readonly", "--user", "bob", "--group", "x", code=2)
    assert "exactly one" in wrong["message"]


def test_a_banks_policy_opens_it_to_strangers(plain: Lorebank) -> None:
    public = {"version": "2026-03-24", "public_access": {"default": {"actions": ["bank:recall"]}}}
    plain.ok("access", "bank-policy", "put", "shop", written(plain.home, "shop.json", public))
    assert json.loads(plain.ok("access", "bank-policy", "show", "shop")) == public
    asked = ("access", "explain", "--sender", "web:77", "--bank", "shop")
    assert plain.json(*asked)["allowed"]
    plain.ok("access", "bank-policy", "remove", "shop", "--yes")
    assert not plain.json(*asked)["allowed"]
    broken = written(plain.home, "broken.json", {"version": "1"})
    assert "version" in plain.fails("access", "bank-policy", "put", "shop", broken, code=2)["message"]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("access", "key", "create", "--user", "root", "--expires", "soon"), "90d"),
        (("access", "key", "create"), "exactly one"),
        (("access", "give", "--user", "bob", "--bank", "notes"), "readonly, readwrite"),
        (("audit", "list", "--principal", "bob"), "user:bob"),
        (("access", "policy", "put", "nothing.json"), "cannot read"),
        (("access", "explain", "--user", "root", "--bank", "x", "--action", "bank:recal"), "bank:recall"),
    ],
)
def test_wrong_usage_says_what_to_do(plain: Lorebank, argv: tuple[str, ...], says: str) -> None:
    assert says in plain.fails(*argv, code=2)["message"]


def test_an_explanation_fits_the_terminal(plain: Lorebank) -> None:
    groups = [{"not": {"tags": ["sensitivity:restricted", "department:board"], "match": "any_strict"}}]
    allow = {"effect": "allow", "actions": ["bank:recall"], "banks": ["*"], "recall_tag_groups": groups}
    deny = {"effect": "deny", "actions": ["bank:recall"], "banks": ["hr"]}
    document = {"version": "2026-03-24", "statements": [allow, deny]}
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "policy", "put", written(plain.home, "staff.json", document))
    plain.ok("access", "attach", "staff", "--user", "bob")
    for bank, words in (("hr", "staff#1"), ("notes", "recall tag groups")):
        shown = plain.ok("access", "explain", "--user", "bob", "--bank", bank, COLUMNS="80")
        assert words in shown and max(map(len, shown.splitlines())) <= 80
    assert "What would have to change" in plain.ok("access", "explain", "--user", "bob", "--bank", "hr")


def test_nothing_is_destroyed_without_a_yes(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    plain.fails("access", "user", "remove", "bob", code=2)
    assert "bob" in plain.ok("access", "user", "list")


def test_disabling_root_asks_and_can_be_undone_by_the_owner(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "user", "disable", "bob")
    plain.fails("access", "user", "disable", "root", code=2)
    plain.ok("access", "user", "disable", "root", "--yes")
    plain.ok("access", "user", "enable", "root")
    states = {one["id"]: one["is_active"] for one in plain.json("access", "user", "list")}
    assert states == {"root": True, "bob": False}


def test_who_administers_users_but_sees_no_bank_can_give_rights(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "deputy")
    plain.ok("access", "attach", "iam:admin", "--user", "deputy")
    key = plain.ok("access", "key", "create", "--user", "deputy").strip()
    given = plain.json("access", "give", "readonly", "--user", "bob", "--bank", "notes", "--api-key", key)
    assert given["bank_exists"] is None and given["policy_id"] == "notes:readonly"
    told = plain.run("recall", "--bank", "notes", "What?", "--api-key", key)
    assert told.returncode == 4 and "lorebank access rights" in told.stderr


def test_giving_rights_leaves_no_failures_in_the_audit_log(plain: Lorebank) -> None:
    plain.ok("access", "give", "readonly", "--user", "bob", "--bank", "notes")
    plain.ok("access", "give", "readwrite", "--user", "bob", "--bank", "notes")
    assert plain.json("audit", "list", "--outcome", "error")["total"] == 0


def test_a_wrong_policy_is_told_once_with_its_place(plain: Lorebank) -> None:
    wrong = {"effect": "allow", "actions": ["bank:recal"], "banks": ["*"]}
    file = written(plain.home, "wrong.json", {"version": "2026-03-24", "statements": [wrong]})
    told = plain.fails("access", "policy", "put", file, code=2)["message"]
    assert told.count("document.statements.0.actions.0") == 1 and "'bank:recall'" in told


def test_a_refused_export_leaves_no_file_behind(plain: Lorebank) -> None:
    key = plain.ok("access", "give", "readonly", "--user", "bob", "--bank", "notes").strip()
    target = plain.home / "audit.jsonl"
    plain.fails("audit", "export", "-o", str(target), "--api-key", key, code=4)
    assert not target.exists()


def test_a_user_is_shown_with_all_that_he_has(plain: Lorebank) -> None:
    plain.ok("access", "give", "readonly", "--user", "bob", "--bank", "notes")
    plain.ok("access", "channel", "add", "bob", "telegram:7:8")
    plain.ok("access", "group", "add", "staff", "--name", "The staff")
    plain.ok("access", "member", "add", "staff", "bob")
    plain.ok("access", "attach", "bank:retain-only", "--group", "staff", "--priority", "3")
    plain.ok("access", "service-account", "add", "ci", "--owner", "bob", "--scope", "bank:readonly")
    shown = plain.ok("access", "user", "show", "bob", COLUMNS="80")
    for word in ("telegram:7:8", "notes:readonly", "himself", "group staff", "bank:readonly", "hc_u_bob_"):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 80
    group = plain.ok("access", "group", "show", "staff", COLUMNS="80")
    assert all(word in group for word in ("The staff", "bob", "bank:retain-only", "3"))
    asked = plain.json("access", "group", "show", "staff")
    assert asked["members"] == [{"user_id": "bob"}]
    assert [one["policy_id"] for one in asked["policies"]] == ["bank:retain-only"]
    plain.ok("access", "user", "add", "empty")
    plain.ok("access", "group", "add", "hollow")
    assert "he may do nothing" in plain.ok("access", "user", "show", "empty")
    assert "gives nothing" in plain.ok("access", "group", "show", "hollow")
    assert plain.fails("access", "group", "show", "none", code=3)["code"] == "not_found"


def test_putting_a_policy_leaves_no_failures_in_the_audit_log(plain: Lorebank) -> None:
    file = written(plain.home, "narrow.json", document_of("notes", "readonly"))
    assert "Made" in plain.ok("access", "policy", "put", file)
    assert "Replaced" in plain.ok("access", "policy", "put", file)
    assert plain.json("audit", "list", "--outcome", "error")["total"] == 0


def test_who_may_write_policies_but_not_read_them_can_put_one(plain: Lorebank) -> None:
    only = {"effect": "allow", "actions": ["iam:policies:write"], "banks": ["*"]}
    file = written(plain.home, "writer.json", {"version": "2026-03-24", "statements": [only]})
    plain.ok("access", "policy", "put", file)
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "attach", "writer", "--user", "bob")
    key = plain.ok("access", "key", "create", "--user", "bob").strip()
    other = written(plain.home, "other.json", POLICY)
    assert "Made" in plain.ok("access", "policy", "put", other, "--api-key", key)
    assert "Replaced" in plain.ok("access", "policy", "put", other, "--api-key", key)


def test_a_bank_policy_that_may_be_a_slip_is_stored_with_a_warning(plain: Lorebank) -> None:
    named = {"scope": "topic", "value": "1", "strategy": "beta"}
    document = {"version": "2026-03-24", "default_strategy": "alpha", "strategy_overrides": [named]}
    file = written(plain.home, "policy.json", document)
    absent = plain.run("access", "bank-policy", "put", "notes", file)
    assert absent.returncode == 0 and "there is no bank 'notes'" in absent.stderr
    plain.ok("bank", "create", "notes")
    plain.ok("bank", "config", "set", "notes", 'retain_strategies={"alpha": {}}')
    told = plain.run("access", "bank-policy", "put", "notes", file).stderr
    assert "'beta'" in told and "'alpha'" not in told
    event = json.loads(plain.run("access", "bank-policy", "put", "notes", file, "--json").stderr)
    assert event["event"] == "warning" and "'beta'" in event["message"]
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "attach", "iam:admin", "--user", "bob")
    key = plain.ok("access", "key", "create", "--user", "bob").strip()
    blind = plain.run("access", "bank-policy", "put", "notes", file, "--api-key", key)
    assert (blind.returncode, blind.stderr) == (0, "")
