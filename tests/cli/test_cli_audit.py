"""The audit commands: reading rows, checking the chain, taking the log elsewhere."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from cli_process import Lorebank

from lorebank import clock
from lorebank.storage.sqlite.directory import DataDirectory


def test_rows_are_listed_and_filtered(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "notes", "Mara moves to Oslo in March")
    shown = plain.ok("audit", "list", "--bank", "notes", COLUMNS="80")
    assert "bank:retain" in shown and "done" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert plain.json("audit", "list", "--bank", "nothing")["total"] == 0
    rows = plain.json("audit", "list", "--action", "bank:retain", "--outcome", "done")["items"]
    assert [one["bank_id"] for one in rows] == ["notes"]
    assert rows[0]["transport"] == "cli"
    assert rows[0]["started_at"][:19].replace("T", " ") in shown


def test_the_operation_stands_behind_an_action_that_opens_several(plain: Lorebank) -> None:
    plain.ok("vault", "grant", "main", "agent:main:group:7", "read")
    plain.ok("vault", "grants", "main")
    shown = plain.ok("audit", "list", "--operation", "list_knowledge_grants", COLUMNS="80")
    assert shown.count("knowledge:admin") == shown.count("list_knowledge_grants") == 1
    rows = plain.json("audit", "list", "--operation", "grant_knowledge_access")["items"]
    assert [one["metadata"]["outcome"] for one in rows] == ["done", "allow"]


def test_a_reason_is_shown_where_something_was_refused(plain: Lorebank) -> None:
    key = plain.ok("access", "give", "readonly", "--user", "bob", "--bank", "notes").strip()
    assert "allow:" not in plain.ok("audit", "list", COLUMNS="80")
    plain.fails("recall", "--bank", "hr", "What?", "--api-key", key, code=4)
    shown = plain.ok("audit", "list", "--outcome", "deny", COLUMNS="80")
    assert "deny: no allow" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_who_may_see_one_banks_rows_is_shown_them(plain: Lorebank) -> None:
    statement = {"effect": "allow", "actions": ["bank:audit:list"], "banks": ["notes"]}
    file = plain.home / "auditor.json"
    file.write_text(json.dumps({"version": "2026-03-24", "statements": [statement]}), encoding="utf-8")
    for bank in ("notes", "other"):
        plain.ok("retain", "--bank", bank, "Mara moves to Oslo in March")
    plain.ok("access", "policy", "put", str(file))
    plain.ok("access", "user", "add", "bob")
    plain.ok("access", "attach", "auditor", "--user", "bob")
    key = plain.ok("access", "key", "create", "--user", "bob").strip()
    mine = ("--api-key", key, "--bank", "notes")
    shown = plain.ok("audit", "list", *mine, COLUMNS="80")
    assert "bank:retain" in shown and "done" in shown
    rows = plain.json("audit", "list", *mine, "--outcome", "done", "--principal", "local:local")["items"]
    assert [(one["bank_id"], one["action"]) for one in rows] == [("notes", "bank:retain")]
    assert plain.json("audit", "list", *mine, "--principal", "user:nobody")["items"] == []
    request_id = rows[0]["metadata"]["request_id"]
    both = plain.json("audit", "list", *mine, "--request-id", request_id)["items"]
    assert {one["metadata"]["outcome"] for one in both} == {"allow", "done"}
    lines = plain.ok("audit", "export", *mine).splitlines()
    assert {json.loads(line)["bank_id"] for line in lines} == {"notes"}
    for other in ((), ("--bank", "other")):
        plain.fails("audit", "list", "--api-key", key, *other, code=4)


def test_an_export_holds_every_row_once_with_its_place_in_the_chain(plain: Lorebank) -> None:
    for number in range(3):
        plain.ok("access", "user", "add", f"user-{number}")
    target = plain.home / "audit.jsonl"
    done = plain.json("audit", "export", "-o", str(target))
    rows = [json.loads(line)["metadata"] for line in target.read_text("utf-8").splitlines()]
    assert [row["seq"] for row in rows] == list(range(done["rows"], 0, -1))
    for newer, older in pairwise(rows):
        assert newer["previous"] == older["hash"]
    assert "exists already" in plain.fails("audit", "export", "-o", str(target), code=1)["message"]
    plain.ok("audit", "export", "-o", str(target), "--force")
    lines = plain.ok("audit", "export", "--action", "iam:users:write").splitlines()
    assert lines and all(json.loads(line)["action"] == "iam:users:write" for line in lines)


def test_an_export_can_be_checked_by_the_program_in_the_guide(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob", "--name", "Bjørn")
    guide = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    program = guide.partition("```python\n")[2].partition("```")[0]
    lines = plain.ok("audit", "export").splitlines()

    def found(exported: list[str]) -> str:
        told = "\n".join(exported)
        return subprocess.run(
            [sys.executable, "-c", program], input=told, capture_output=True, text=True, check=True
        ).stdout

    assert len(lines) > 1 and found(lines) == ""
    changed = lines[0].replace("iam:users:write", "iam:users:read")
    assert changed != lines[0] and "was changed" in found([changed, *lines[1:]])


def test_a_whole_chain_is_told_with_its_head(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    told, head = plain.ok("audit", "verify").splitlines()
    assert "chain is whole" in told
    assert "chain is whole" in plain.ok("audit", "verify", "--expect", head)
    seq = head.partition(":")[0]
    done = plain.run("audit", "verify", "--expect", f"{seq}:{'0' * 64}")
    assert done.returncode == 1 and "another hash" in done.stdout
    assert "SEQ:HASH" in plain.fails("audit", "verify", "--expect", "12", code=2)["message"]


def test_a_chain_without_its_oldest_rows_is_told_with_where_it_begins(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    with DataDirectory.open(plain.data_dir, address="") as directory:
        gone = directory.audit.trim(clock.now() + 1)
    assert gone > 0
    assert f"from row {gone + 1} on" in plain.ok("audit", "verify")


def test_a_row_that_was_changed_in_the_file_is_found(plain: Lorebank) -> None:
    plain.ok("access", "user", "add", "bob")
    with sqlite3.connect(plain.data_dir / "audit.sqlite") as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute("UPDATE events SET principal = 'user:mallory' WHERE seq = 2")
    db.close()
    done = plain.run("audit", "verify", "--json")
    assert done.returncode == 1
    assert any("2" in problem for problem in json.loads(done.stdout)["problems"])
