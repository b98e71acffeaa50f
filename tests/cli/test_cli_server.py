"""Every group of commands beside a running server."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import uuid
from pathlib import Path

from cli_process import Lorebank

HOSTILE = "Mara\x1b[2J\x1b]0;owned\x07 lives in Oslo \u202enow"
HEAVY = {"numpy", "onnxruntime", "starlette", "fastapi", "httpx", "pydantic", "uvicorn", "tokenizers"}


def bank() -> str:
    return f"bank-{uuid.uuid4().hex[:8]}"


def test_retain_and_recall_beside_a_server(served: Lorebank) -> None:
    name = bank()
    told = served.ok("retain", "--bank", name, "Mara moves to Oslo in March", "-t", "home")
    assert f"Retained 1 item in bank '{name}'." in told
    found = served.json("recall", "--bank", name, "Where will Mara live?")
    assert "Oslo" in found["results"][0]["text"]
    assert "Oslo" in served.ok("recall", "--bank", name, "Where will Mara live?")
    why = served.ok("recall", "--bank", name, "Where does Mara move to?", "--why")
    assert "keyword" in why and "rank" in why and "final" in why
    assert (
        served.json("recall", "--bank", name, "Mara", "--tag", "other", "--tags-match", "any_strict")[
            "results"
        ]
        == []
    )


def test_text_comes_from_files_and_standard_input(served: Lorebank, tmp_path: Path) -> None:
    name = bank()
    (tmp_path / "notes.md").write_text("Tomasz plays the cello on Tuesdays.", encoding="utf-8")
    served.ok("retain", "--bank", name, "--file", str(tmp_path / "notes.md"))
    served.ok("retain", "--bank", name, "--document-id", "a/b %::ü", stdin="Priya draws maps.\n")
    ids = [d["id"] for d in served.json("document", "list", "--bank", name)["items"]]
    assert sorted(ids) == ["a/b %::ü", "notes.md"]
    assert (
        served.json("document", "show", "a/b %::ü", "-b", name)["original_text"].strip()
        == "Priya draws maps."
    )
    assert served.json("document", "chunks", "notes.md", "-b", name)["total"] == 1
    served.ok("document", "retag", "notes.md", "music", "-b", name)
    assert [t["tag"] for t in served.json("tag", "list", "-b", name)["items"]] == ["music"]
    assert served.json("document", "history", "notes.md", "-b", name)["total"] >= 1
    assert served.json("document", "delete", "notes.md", "-b", name, "--yes")["memory_units_deleted"] == 1
    assert served.fails("document", "show", "notes.md", "-b", name, code=3)["code"] == "not_found"


def test_long_work_writes_lines_and_ends(served: Lorebank) -> None:
    name = bank()
    done = served.run("retain", "--bank", name, "Odd waters the fig tree.", "--async", "--wait")
    assert done.returncode == 0, done.stderr
    assert "retain: status completed" in done.stderr
    operation = served.json("operation", "list", "--bank", name)["operations"][0]
    assert "completed" in served.ok("operation", "show", operation["id"], "--bank", name)
    assert served.fails("operation", "show", str(uuid.uuid4()), "--bank", name, code=3)["code"] == "not_found"


def test_memories_can_be_corrected_and_taken_out(served: Lorebank) -> None:
    name = bank()
    served.ok("retain", "--bank", name, "The depot is in Ribe.")
    memory = served.json("memory", "list", "--bank", name)["items"][0]["id"]
    served.ok("memory", "edit", memory, "--bank", name, "--text", "The depot is in Odense.")
    assert "Odense" in served.ok("memory", "show", memory, "--bank", name)
    assert "Ribe" in served.ok("memory", "history", memory, "--bank", name)
    served.ok("memory", "invalidate", memory, "--bank", name, "--reason", "closed")
    assert served.json("recall", "--bank", name, "Where is the depot?")["results"] == []
    served.ok("memory", "invalidate", memory, "--bank", name, "--restore")
    assert len(served.json("recall", "--bank", name, "Where is the depot?")["results"]) == 1
    served.ok("memory", "clear", "--bank", name, "--yes")
    assert served.json("memory", "list", "--bank", name)["total"] == 0


def test_a_bank_from_birth_to_deletion(served: Lorebank, tmp_path: Path) -> None:
    name, copy, other = bank(), bank(), bank()
    served.ok("bank", "create", name, "--title", "Notes")
    assert served.fails("bank", "create", name, code=1)["code"] == "conflict"
    served.ok("bank", "config", "set", name, "retain_chunk_size=1500", "retain_mission=what matters")
    assert served.json("bank", "config", "get", name)["overrides"] == {
        "retain_chunk_size": 1500,
        "retain_mission": "what matters",
    }
    served.ok("bank", "config", "reset", name)
    assert served.json("bank", "config", "get", name)["overrides"] == {}
    served.ok("bank", "alias", "add", name, f"{name}-alias")
    served.ok("retain", "--bank", f"{name}-alias", "Hanna starts school in August.")
    assert served.json("bank", "stats", name)["total_nodes"] == 1
    archive = tmp_path / "a.zip"
    assert served.json("bank", "export", name, "-o", str(archive))["bytes"] == archive.stat().st_size
    assert served.fails("bank", "export", name, "-o", str(archive), code=1)["code"] == "conflict"
    served.ok("bank", "import", str(archive), "--bank", copy)
    served.ok("bank", "clone", name, other)
    for made in (copy, other):
        assert "Hanna" in served.json("recall", "--bank", made, "Hanna school")["results"][0]["text"]
    served.ok("bank", "alias", "remove", name, f"{name}-alias")
    served.ok("bank", "delete", name, "--yes")
    assert served.fails("bank", "show", name, code=3)["code"] == "not_found"
    listed = {row["bank_id"] for row in served.json("bank", "list", "--limit", "1000")["banks"]}
    assert {copy, other} <= listed and name not in listed


def test_stored_text_cannot_steer_the_terminal(served: Lorebank) -> None:
    name = f"{bank()} \u202eevil"
    served.ok("retain", "--bank", name, HOSTILE, "--context", "c\x9b31m", "-t", "t\u2066x")
    memory = served.json("memory", "list", "--bank", name)["items"][0]["id"]
    for argv in (
        ("recall", "--bank", name, "Where does Mara live?", "--why"),
        ("memory", "list", "--bank", name),
        ("memory", "show", memory, "--bank", name),
        ("document", "list", "--bank", name),
        ("tag", "list", "--bank", name),
        ("bank", "list"),
        ("bank", "show", name),
    ):
        shown = served.ok(*argv)
        assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066"), argv
        assert "\x1b" not in json.dumps(json.loads(served.ok(*argv, "--json")), ensure_ascii=True)


def test_errors_have_their_exit_codes(served: Lorebank) -> None:
    assert served.fails("recall", "--bank", "not-there", "hello", code=3)["code"] == "not_found"
    assert served.fails("recall", "--bank", "not-there", "hello", "--api-key", "wrong", code=4)["code"] == (
        "unauthenticated"
    )
    name = bank()
    served.ok("retain", "--bank", name, "Something to find.")
    assert served.fails("recall", "--bank", name, "?!", code=2)["code"] == "invalid_input"
    assert (
        served.fails("retain", "--bank", name, "x", "--timestamp", "soon", code=2)["code"] == "invalid_input"
    )


def test_a_second_serve_is_refused(served: Lorebank) -> None:
    error = served.fails("serve", "--port", "0", code=1)
    assert error["code"] == "conflict"
    assert "serves this data directory already" in error["message"]


def test_status_key_and_a_named_server(served: Lorebank) -> None:
    status = served.json("status")
    assert status["running"] is True and status["data_dir"] == str(served.data_dir)
    assert status["models"]["embedder"]["id"] and status["data"]["bytes"] > 0
    assert "running" in served.ok("status")
    key = served.json("key", "show")["key"]
    assert stat.S_IMODE((served.data_dir / "root.key").stat().st_mode) == 0o600
    log = json.loads((served.data_dir / "lorebank.lock").read_text())
    url = log["address"] if log["address"].startswith("http") else f"http://{log['address']}"
    far = Lorebank(served.home / "elsewhere", spawn=False)
    far.home.mkdir()
    assert far.json("status", "--url", url, "--api-key", key)["banks"] == served.json("status")["banks"]
    assert not far.data_dir.exists()


def test_doctor_backup_and_reembed_while_serving(served: Lorebank, tmp_path: Path) -> None:
    name = bank()
    served.ok("retain", "--bank", name, "The canary sings at noon.")
    told = served.json("doctor", "--rebuild", "--compact")
    assert told["problems"] == {} and told["checked"] >= 2
    assert "Nothing is wrong" in served.ok("doctor")
    served.ok("reembed", "--to", "local")
    assert served.fails("reembed", "--to", "hosted", code=2)["code"] == "bad_request"
    copy = tmp_path / "copy"
    assert served.json("backup", str(copy))["directory"] == str(copy)
    assert served.fails("backup", str(copy), code=2)["code"] == "bad_request"
    again = Lorebank(tmp_path / "again", spawn=False)
    again.home.mkdir()
    again.ok("restore", str(copy))
    assert (
        "canary" in again.json("recall", "--bank", name, "When does the canary sing?")["results"][0]["text"]
    )
    assert again.fails("restore", str(copy), code=1)["code"] == "conflict"


def test_a_reader_that_goes_away_is_no_error(served: Lorebank) -> None:
    name = bank()
    served.ok(
        "retain",
        "--bank",
        name,
        "\n".join(f"Ines: number {n} is a fine number to remember." for n in range(60)),
    )
    listing = served.start("memory", "list", "--bank", name, "--limit", "1000")
    assert listing.stdout is not None
    listing.stdout.close()
    listing.stdout = None
    _, err = listing.communicate(timeout=60)
    assert (listing.returncode, err) == (0, "")


def test_a_client_command_loads_no_server_and_no_model(served: Lorebank) -> None:
    check = (
        "import sys\nfrom lorebank.bootstrap import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        f"loaded = {HEAVY} & set(sys.modules)\nassert not loaded, loaded"
    )
    for argv in (("--help",), ("bank", "list")):
        done = subprocess.run(
            [sys.executable, "-c", check, *argv],
            env=served.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
