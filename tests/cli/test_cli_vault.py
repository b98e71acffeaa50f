"""The vault commands: stores, grants, browsing, the pass, tools asked as an agent, upkeep, the skill."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_process import Lorebank

from lorebank.access.audience_token import read_audience
from lorebank.access.signed_token import TokenRules
from lorebank.cli.commands.vault.tools import TOOLS
from lorebank.cli.failures import CliError, next_step
from lorebank.clock import now
from lorebank.http.routes import knowledge
from lorebank.skills import skill_text
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.assignments.host import Host

GROUP = ("--session-key", "agent:main:group:7", "--session-id", "33333333-3333-4333-8333-333333333333")


def configure(lorebank: Lorebank, **config: Any) -> None:
    lorebank.data_dir.mkdir(exist_ok=True)
    (lorebank.data_dir / "knowledge.json5").write_text(json.dumps(config), encoding="utf-8")


def ask(lorebank: Lorebank, tool: str, body: dict[str, Any], *who: str) -> Any:
    return json.loads(lorebank.ok("vault", "tool", tool, json.dumps(body), *(who or ("--owner",))))


def remember(lorebank: Lorebank, text: str, *who: str) -> Any:
    return ask(lorebank, "knowledge_remember", {"text": text, "claimKind": "fact"}, *who)


def test_a_store_is_there_once_an_agent_has_used_it(plain: Lorebank) -> None:
    assert "There is no store yet" in plain.ok("vault", "stores")
    assert not (plain.data_dir / "knowledge" / "stores").exists(), "looking makes nothing"
    remember(plain, "Mara moves to Oslo in March")
    shown = plain.ok("vault", "stores", COLUMNS="120")
    assert "own of main" in shown and "assigned" in shown
    [store] = plain.json("vault", "stores")["stores"]
    assert (store["agents"], store["status"]) == (["main"], "ok")


def test_a_store_is_shared_joined_and_left(plain: Lorebank) -> None:
    remember(plain, "Mara moves to Oslo in March")
    [before] = plain.json("vault", "stores")["stores"]
    made = plain.json("vault", "share", "main", "team", "--label", "The team", "--with", "research")
    assert (made["binding"], made["vaultId"]) == ("named:team", before["vaultId"])
    assert "Oslo" in json.dumps(
        ask(plain, "knowledge_search", {"query": "Oslo"}, "--owner", "--agent", "research")
    )
    assert "a store" not in plain.ok("vault", "use-own", "research")
    assert plain.json("vault", "use-shared", "research", "team")["vaultId"] == before["vaultId"]
    assert "conflict" in plain.fails("vault", "share", "main", "team", code=1)["code"]


def test_grants_are_given_listed_and_taken(plain: Lorebank) -> None:
    remember(plain, "Mara moves to Oslo in March")
    assert ask(plain, "knowledge_search", {"query": "Oslo"}, *GROUP)["hits"] == []
    plain.ok("vault", "grant", "main", "agent:main:group:7", "read")
    assert ask(plain, "knowledge_search", {"query": "Oslo"}, *GROUP)["hits"] != []
    shown = plain.ok("vault", "grants", "main", COLUMNS="120")
    assert "agent:main:group:7" in shown and "No known" in shown
    plain.fails("vault", "tool", "knowledge_remember", '{"text": "x", "claimKind": "fact"}', *GROUP, code=4)
    assert "stays" not in plain.ok("vault", "revoke", "main", "agent:main:group:7")
    assert plain.json("vault", "revoke", "main", "agent:main:group:7")["revoked"] is False
    assert "There is no grant" in plain.ok("vault", "grants", "main")
    assert "no conversation" in plain.ok("vault", "conversations", "main")
    assert plain.fails("vault", "grant", "main", "key", "save", code=2)["code"] == "usage"


def test_an_operator_browses_what_an_agent_keeps(plain: Lorebank) -> None:
    configure(plain, operatorRead=True)
    remember(plain, "Mara moves to Oslo in March")
    listed = plain.json("vault", "browse", "list")
    [claim] = [one for one in listed["records"] if one["kind"] == "claim"]
    assert claim["id"] in plain.ok("vault", "browse", "list", "--kind", "claim")
    assert "There is no record" in plain.ok("vault", "browse", "list", "--kind", "page")
    assert plain.json("vault", "browse", "search", "Oslo")["hits"][0]["id"] == claim["id"]
    assert "Mara moves to Oslo in March" in plain.ok("vault", "browse", "show", claim["id"])
    whole = plain.ok("vault", "browse", "show", claim["id"], COLUMNS="200")
    assert "evidence" in whole and '"Mara moves to Oslo in March", source' in whole and "meta" not in whole
    assert "save" in plain.ok("vault", "browse", "history", claim["id"])
    assert "Nothing is wrong" in plain.ok("vault", "diagnostics")
    [private] = (plain.data_dir / "knowledge" / "stores").glob("*/vault/private")
    (private / "people").mkdir(exist_ok=True)
    (private / "people" / "broken.md").write_text("---\nnot: a record\n---\n", encoding="utf-8")
    done = plain.run("vault", "diagnostics")
    assert done.returncode == 1 and "people/broken.md" in done.stdout.replace("\n", "")
    assert "withheld" in plain.ok("vault", "browse", "list", COLUMNS="120")
    assert plain.fails("vault", "browse", "show", "no-such-id", code=3)["code"] == "not_found"


def test_the_pass_is_run_by_hand_and_shown(plain: Lorebank) -> None:
    configure(plain, maintenance={"timezone": "UTC", "reviewJobId": "weekly"})
    ask(plain, "knowledge_save_page", {"title": "Mara Olsen", "type": "person", "body": "A colleague."})
    remember(plain, "Mara Olsen prefers tea")
    remember(plain, "Somebody is ill")
    dry = ask(plain, "knowledge_relink", {"dryRun": True})
    assert (dry["linked"], dry["no_subject"]) == (1, 1)
    done = plain.json("vault", "maintenance", "run")
    assert (done["linked"], done["left"]) == (1, 1)
    shown = plain.ok("vault", "maintenance", "status", COLUMNS="120")
    assert "30 3 * * *" in shown and "requested, 1 claim left" in shown
    [review] = plain.json("vault", "reviews", "list")["reviews"]
    plain.ok("vault", "reviews", "take", review["id"])
    plain.ok("vault", "reviews", "answer", review["id"], "enqueued")
    assert "enqueued, 1 claim left" in plain.ok("vault", "maintenance", "status", COLUMNS="120")
    assert "Nothing waits" in plain.ok("vault", "reviews", "list")
    assert ask(plain, "knowledge_relink", {"dryRun": True})["linked"] == 0
    configure(plain, operatorRead=True)
    [linked] = [
        one for one in plain.json("vault", "browse", "search", "tea")["hits"] if one["kind"] == "claim"
    ]
    assert "the pass" in plain.ok("vault", "browse", "history", linked["id"])


def test_writes_off_stop_every_changing_tool(plain: Lorebank) -> None:
    remember(plain, "Mara moves to Oslo in March")
    configure(plain, writesEnabled=False)
    for tool, body in (("knowledge_relink", '{"dryRun": true}'), ("knowledge_remember", '{"text": "x"}')):
        error = plain.fails("vault", "tool", tool, body, "--owner", code=1)
        assert "writesEnabled" in error["message"]


def test_a_file_of_this_machine_is_attached(plain: Lorebank) -> None:
    file = plain.home / "minutes.txt"
    file.write_text("The minutes of Tuesday.", encoding="utf-8")
    receipt = ask(plain, "knowledge_attach_file", {"filePath": str(file)})
    assert "minutes.txt" not in json.dumps(receipt).replace(str(file), "") or receipt
    assert plain.fails("vault", "tool", "knowledge_attach_file", "{}", "--owner", code=2)["code"] == "usage"
    missing = json.dumps({"filePath": str(plain.home / "none")})
    assert (
        "cannot read"
        in plain.fails("vault", "tool", "knowledge_attach_file", missing, "--owner", code=2)["message"]
    )


def test_stores_are_checked(plain: Lorebank) -> None:
    assert "Nothing is wrong" in plain.ok("vault", "check")
    remember(plain, "Mara moves to Oslo in March")
    assert "Nothing is wrong" in plain.ok("vault", "check", "--read-all")
    [manifest] = (plain.data_dir / "knowledge" / "stores").glob("*/vault/vault.json")
    manifest.unlink()
    done = plain.run("vault", "check")
    assert done.returncode == 1 and done.stdout.strip()


def test_meaning_without_an_embedder_is_told_and_words_are_searched(plain: Lorebank) -> None:
    configure(plain, semantic=True)
    remember(plain, "Mara moves to Oslo in March")
    assert ask(plain, "knowledge_search", {"query": "Oslo"})["total"] == 1
    semantic = plain.json("vault", "stores")["semantic"]
    assert semantic["enabled"] and semantic["model"] is None and "no embedder" in semantic["problem"]
    told = plain.run("vault", "stores", COLUMNS="200")
    assert "no embedder" in told.stdout + told.stderr
    configure(plain)
    assert plain.json("vault", "stores")["semantic"] == {"enabled": False, "model": None, "problem": None}


def test_a_data_directory_that_was_copied_is_accepted_by_one_command(
    plain: Lorebank, tmp_path_factory: pytest.TempPathFactory
) -> None:
    remember(plain, "Mara moves to Oslo in March")
    remember(plain, "Per moves to Bergen in May", *GROUP)
    remember(plain, "Ida stays", "--owner", "--agent", "research")
    moved = Lorebank(tmp_path_factory.mktemp("moved"), spawn=False, embedder="none")
    shutil.copytree(plain.data_dir, moved.data_dir)
    asked = json.dumps({"query": "moves"})
    told = moved.fails("vault", "tool", "knowledge_search", asked, "--owner", code=5)
    assert "exchanged" in told["message"] and "lorebank vault accept --all" in told["message"]
    assert "lorebank vault accept --all" in moved.run("vault", "check", COLUMNS="300").stdout
    assert "3 folders are accepted" in moved.ok("vault", "accept", "--all")
    assert ask(moved, "knowledge_search", {"query": "moves"})["total"] == 1
    assert ask(moved, "knowledge_search", {"query": "moves"}, *GROUP)["total"] == 1
    assert "nothing to accept" in moved.ok("vault", "accept", "--all")
    store = moved.json("vault", "stores")["stores"][0]["vaultId"]
    assert moved.json("vault", "accept", store) == {"vaultId": store, "accepted": []}
    moved.fails("vault", "accept", "no-store", code=3)
    moved.fails("vault", "accept", code=2)
    moved.fails("vault", "accept", store, "--all", code=2)
    configure(moved, nonsense=1)
    assert "nonsense" in moved.fails("vault", "accept", "--all", code=1)["message"]


def test_one_broken_store_keeps_no_other_from_being_accepted(
    plain: Lorebank, tmp_path_factory: pytest.TempPathFactory
) -> None:
    remember(plain, "Mara moves to Oslo in March")
    remember(plain, "Ida stays", "--owner", "--agent", "research")
    moved = Lorebank(tmp_path_factory.mktemp("moved"), spawn=False, embedder="none")
    shutil.copytree(plain.data_dir, moved.data_dir)
    [broken] = [one["vaultId"] for one in moved.json("vault", "stores")["stores"] if "main" in one["agents"]]
    (moved.data_dir / "knowledge" / "stores" / broken / "vault" / "vault.json").unlink()
    done = moved.run("vault", "accept", "--all")
    assert done.returncode == 1 and f"{broken} cannot be used" in done.stdout
    asked = {"query": "Ida"}
    assert ask(moved, "knowledge_search", asked, "--owner", "--agent", "research")["total"] == 1


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("knowledge:recall denied", "has removed the agent"),
        ("knowledge:admin denied", "vault stores"),
        ("knowledge:read denied: `operatorRead` is false", "operatorRead: true"),
        ("bank:recall denied", "access rights BANK"),
    ],
)
def test_a_refusal_says_where_to_look(message: str, said: str) -> None:
    assert said in next_step(CliError("forbidden", message, 4))


def test_a_check_tells_what_keeps_agents_from_whole_stores(plain: Lorebank) -> None:
    remember(plain, "Mara moves to Oslo in March")
    configure(plain, stores={"one": {"agents": ["main"]}, "two": {"agents": ["main"]}})
    done = plain.run("vault", "check")
    assert done.returncode == 1 and "agent main" in done.stdout
    assert "processed 1, total 1" in done.stderr.splitlines()[-1]
    done = plain.run("doctor")
    assert done.returncode == 1 and "agent main" in done.stdout and "Nothing is wrong" not in done.stdout
    assert "duplicate membership" in plain.ok("vault", "stores", COLUMNS="120")
    configure(plain, operatorReads=True)
    done = plain.run("vault", "check")
    assert done.returncode == 1 and "operatorReads" in done.stdout
    assert "operatorReads" in json.loads(plain.run("vault", "check", "--json").stdout)["settings"][0]
    done = plain.run("doctor")
    assert done.returncode == 1 and "operatorReads" in done.stdout
    told = plain.fails("vault", "tool", "knowledge_ontology", "--owner", code=5)
    assert (told["code"], told["reason"]) == ("unavailable", "config_invalid")
    assert "(config invalid)" in plain.run("vault", "tool", "knowledge_ontology", "--owner").stderr


def test_markdown_that_is_no_record_is_told_when_it_is_imported(plain: Lorebank, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "monday.md").write_text("# Monday\n", encoding="utf-8")
    told = plain.ok("vault", "import", str(tmp_path / "notes"), "--name", "notes")
    assert "0 records, 1 withheld" in told and "they are no records" in told


def test_what_is_left_out_of_an_import_is_one_sentence(plain: Lorebank, tmp_path: Path) -> None:
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "deep" / "link.md").symlink_to("monday.md")
    told = plain.ok("vault", "import", str(tmp_path / "notes"), "--name", "notes")
    assert "  deep/link.md is not imported: it is a symbolic link\n" in told


def test_the_file_to_mend_comes_before_those_that_miss_it(plain: Lorebank) -> None:
    configure(plain, operatorRead=True)
    mara = ask(plain, "knowledge_save_page", {"title": "Mara Olsen", "type": "person", "body": "Tea."})["id"]
    ask(
        plain,
        "knowledge_remember",
        {"text": "Mara Olsen prefers tea", "claimKind": "fact", "subject": mara},
    )
    [page] = (plain.data_dir / "knowledge" / "stores").glob("*/vault/private/people/*.md")
    page.write_text(page.read_text("utf-8").replace("id:", "id: [", 1), encoding="utf-8")
    found = json.loads(plain.run("vault", "diagnostics", "--json").stdout)["findings"]
    assert found[0]["path"].startswith("people/") and found[0]["id"] is None
    [missed] = [one for one in found if one["rule"] == "reference.entity"]
    assert missed["path"] == f"claims/{missed['id']}.md" and mara in missed["message"]
    assert "take it out" in missed["message"] and found.index(missed) > 0


def test_an_agent_that_no_host_has_is_said_to_be_unknown(plain: Lorebank) -> None:
    assert "reported its agents" in plain.run("vault", "grants", "sales").stderr
    assert plain.json("vault", "grants", "sales")["reported"] is None
    registry = SqliteKnowledgeRegistry(plain.data_dir / "knowledge", None)
    Host(registry).report(["main"], [])
    registry.close()
    for command in ("grants", "conversations"):
        assert "No host has an agent 'sales'" in plain.run("vault", command, "sales").stderr
    assert plain.run("vault", "grants", "main").stderr == ""
    told = plain.fails("vault", "use-shared", "sales", "nosuch", code=3)
    assert "vault stores" in told["message"]


def test_what_one_may_do_with_an_agents_knowledge_stands_among_ones_rights(plain: Lorebank) -> None:
    plain.ok("access", "give", "readonly", "--user", "bob", "--bank", "notes")
    key = plain.ok("access", "key", "create", "--user", "bob").strip()
    told = plain.run("access", "rights", "agent:main", "--api-key", key, COLUMNS="200")
    assert "knowledge: may not  read, write, admin" in told.stdout and "access explain" in told.stderr
    assert "knowledge: may  read, write, admin" in plain.ok("access", "rights", "agent:main", COLUMNS="200")
    assert "knowledge" not in plain.json("access", "rights", "main")


def test_what_cannot_be_resolved_or_imported_is_said(plain: Lorebank, tmp_path: Path) -> None:
    plain.fails("vault", "resolve", "no-store", "request", "--keep", "mine", code=3)
    assert (
        plain.fails("vault", "import", str(tmp_path), "--name", "a", "--agent", "b", code=2)["code"]
        == "usage"
    )
    assert plain.fails("vault", "import", "here", "--url", "http://127.0.0.1:1", code=2)["code"] == "usage"


def test_a_token_says_who_asks(plain: Lorebank) -> None:
    made = plain.json(
        "vault", "token", "--agent", "research", *GROUP, "--invocation", "run-7", "--lifetime", "60"
    )
    secret = (plain.data_dir / "audience.key").read_text("utf-8").strip()
    found = read_audience(made["token"], TokenRules((secret,), 900, 0), now()).audience
    assert (found.agent, found.visibility, found.invocation) == ("research", "conversation", "run-7")
    assert found.session_key == "agent:main:group:7"
    token = plain.ok("vault", "token", "--owner").strip()
    assert ask(plain, "knowledge_ontology", {}, "--token", token)
    plain.fails("vault", "tool", "knowledge_ontology", "--token", "nonsense", code=4)


def test_a_token_is_made_with_the_secret_of_the_settings(plain: Lorebank) -> None:
    secret = "s" * 40
    made = plain.json("vault", "token", "--owner", LOREBANK_AUDIENCE_SECRETS=secret)["token"]
    assert read_audience(made, TokenRules((secret,), 900, 0), now()).audience.visibility == "owner-private"


@pytest.mark.parametrize(
    "argv",
    [
        ("token",),
        ("token", "--owner", "--session-key", "k", "--session-id", "i"),
        ("token", "--session-key", "k"),
        ("tool", "knowledge_search", "[]", "--owner"),
        ("tool", "knowledge_search", "{", "--owner"),
        ("tool", "knowledge_search", "@no-such-file", "--owner"),
        ("tool", "knowledge_search", "{}", "--owner", "--token", "t"),
        ("tool", "no_such_tool", "{}", "--owner"),
        ("reviews", "answer", "id", "not_needed"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_told(plain: Lorebank, argv: tuple[str, ...]) -> None:
    assert plain.fails("vault", *argv, code=2)["code"] == "usage"


def test_arguments_come_from_a_file_or_stdin(plain: Lorebank) -> None:
    file = plain.home / "ask.json"
    file.write_text('{"query": "Oslo"}', encoding="utf-8")
    remember(plain, "Mara moves to Oslo in March")
    for argument, stdin in ((f"@{file}", ""), ("-", file.read_text("utf-8"))):
        done = plain.ok("vault", "tool", "knowledge_search", argument, "--owner", stdin=stdin)
        assert json.loads(done)["hits"]


def test_every_tool_can_be_called() -> None:
    routes = {
        one.path.rpartition("/")[2] for one in knowledge.BINDINGS if one.path.startswith(knowledge.TOOLS)
    }
    assert set(TOOLS) == routes


def test_the_skill_is_printed_or_written(plain: Lorebank) -> None:
    text = plain.ok("vault", "skill")
    assert text == skill_text()
    assert text.startswith("---\nname: knowledge-unlinked-claims\n")
    assert "## Setting up the scheduled review" in text
    for tool in (
        "knowledge_relink",
        "knowledge_search",
        "knowledge_get",
        "knowledge_save_page",
        "knowledge_save_claim",
    ):
        assert tool in text
    plain.ok("vault", "skill", "-o", str(plain.home / "skills"))
    assert (plain.home / "skills" / "knowledge-unlinked-claims" / "SKILL.md").read_text("utf-8") == text
    plain.fails("vault", "skill", "-o", str(plain.home / "skills"), code=1)
    plain.ok("vault", "skill", "-o", str(plain.home / "skills"), "--force")
