"""Whom a command asks as: the directory's owner, or whoever's key it was given."""

from __future__ import annotations

import pytest
from cli_process import Lorebank


def test_a_key_in_the_environment_has_its_own_rights_only(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "hr", "Ada asked for leave in June")
    plain.ok("retain", "--bank", "notes", "The spare key lies under the stone")
    key = plain.json("access", "give", "readonly", "--user", "ci", "--bank", "notes")["api_key"]
    assert "stone" in plain.ok("recall", "--bank", "notes", "Where is the spare key?", LOREBANK_API_KEY=key)
    for way in ((("--api-key", key), ""), ((), key)):
        told = plain.run("recall", "--bank", "hr", *way[0], "Who asked for leave?", LOREBANK_API_KEY=way[1])
        assert told.returncode != 0 and "bank:recall denied" in told.stderr and "June" not in told.stdout


@pytest.mark.parametrize("damage", ["disable", "detach"])
def test_the_owner_of_the_directory_is_never_locked_out(plain: Lorebank, damage: str) -> None:
    plain.ok("retain", "--bank", "notes", "The spare key lies under the stone")
    if damage == "disable":
        plain.ok("access", "user", "disable", "root", "--yes")
    else:
        for policy in ("iam:admin", "bank:admin"):
            plain.ok("access", "detach", policy, "--user", "root")
    assert "stone" in plain.ok("recall", "--bank", "notes", "Where is the spare key?")
    plain.ok("access", "user", "enable", "root")


def test_who_was_made_and_what_was_attached_to_whom_is_in_the_audit_log(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "attach", "bank:readonly", "--user", "bob")
    rows = plain.json("audit", "list", "--limit", "50")["items"]
    targets = {(row["action"], row["metadata"]["target"]) for row in rows}
    assert ("iam:users:write", "bob") in targets
    assert any(action == "iam:attachments:write" and "bob" in target for action, target in targets if target)
