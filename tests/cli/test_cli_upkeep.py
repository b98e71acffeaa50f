"""Care for a data directory: what doctor finds, changing the model online, and terminals."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cli_process import START, Lorebank

DIMENSION = 8


class Provider(BaseHTTPRequestHandler):
    """A scripted embeddings API: the same text has the same vector."""

    texts: list[str] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.texts.extend(body["input"])
        data = [{"index": n, "embedding": _vector(text)} for n, text in enumerate(body["input"])]
        answer = json.dumps({"data": data, "usage": {"prompt_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


def _vector(text: str) -> list[float]:
    return [byte / 255 + 0.01 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]]


@pytest.fixture
def provider() -> Iterator[str]:
    Provider.texts.clear()
    made = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/v1"
    made.shutdown()
    thread.join()
    made.server_close()


def test_the_model_changes_online_and_back(tmp_path: Path, provider: str) -> None:
    lorebank = Lorebank(tmp_path, spawn=False)
    hosted = {
        "LOREBANK_EMBED_BASE_URL": provider,
        "LOREBANK_EMBED_MODEL": "scripted",
        "LOREBANK_EMBED_DIMENSION": str(DIMENSION),
        "LOREBANK_EMBED_API_KEY": "k",
    }
    lorebank.ok("retain", "--bank", "notes", "Odd waters the fig tree.", **hosted)
    assert Provider.texts == []
    told = lorebank.json("reembed", "--to", "hosted", **hosted)
    assert told["banks"] == 1 and told["model"].startswith("hosted:scripted")
    assert any("fig tree" in text for text in Provider.texts)
    found = lorebank.json("recall", "--bank", "notes", "fig tree", "--trace", **hosted)
    assert "semantic" in found["trace"]["results"][0]["arms"]
    assert lorebank.json("reembed", "--to", "hosted", **hosted)["banks"] == 0
    assert lorebank.json("reembed", "--to", "local", **hosted)["banks"] == 1
    assert lorebank.json("doctor")["problems"] == {}


def test_doctor_tells_what_is_wrong_and_ends_with_1(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "notes", "Odd waters the fig tree.")
    (store,) = plain.data_dir.glob("banks/*/state.sqlite")
    with sqlite3.connect(store) as db:
        db.execute("UPDATE memories SET occurred_start = 2, occurred_end = 1")
    db.close()
    done = plain.run("doctor", "--json")
    assert done.returncode == 1
    (problem,) = json.loads(done.stdout)["problems"]["notes"]
    assert "dates end before they start" in problem
    shown = plain.run("doctor")
    assert (
        shown.returncode == 1 and "bank notes:" in shown.stdout and problem in " ".join(shown.stdout.split())
    )


def test_a_bank_that_cannot_be_read_does_not_hide_the_others(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "good", "Odd waters the fig tree.")
    plain.ok("retain", "--bank", "bad", "Mara lives in Oslo.")
    stores = {path.parent.name: path for path in plain.data_dir.glob("banks/*/state.sqlite")}
    with sqlite3.connect(plain.data_dir / "registry.sqlite") as db:
        (bad,) = db.execute("SELECT store_id FROM banks WHERE bank_id = 'bad'").fetchone()
    db.close()
    stores[bad].write_bytes(b"no database at all, only text" * 400)
    for beside in ("-wal", "-shm"):
        stores[bad].with_name(stores[bad].name + beside).unlink(missing_ok=True)
    status = plain.json("status")
    assert (status["banks"], status["memories"], status["unreadable_banks"]) == (2, 1, 1)
    done = plain.run("doctor", "--json")
    assert done.returncode == 1
    assert list(json.loads(done.stdout)["problems"]) == ["bad"]
    done = plain.run("doctor", "--rebuild", "--compact", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1 and list(told["problems"]) == ["bad"]
    assert [told[step]["banks"] for step in ("rebuilt", "compacted")] == [1, 1]
    copied = plain.run("backup", str(plain.data_dir.parent / "copy"))
    assert copied.returncode == 1 and "bank 'bad' cannot be copied" in copied.stderr


def on_a_terminal(lorebank: Lorebank, *argv: str) -> str:
    """What a command that must succeed writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", START, *argv],
        env=lorebank.environment(TERM="xterm", COLUMNS="80"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = bytearray()
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait(60) == 0, written
    return written.decode("utf-8", "replace")


def test_a_terminal_gets_a_bar_and_no_escape_of_stored_text(served: Lorebank) -> None:
    shown = on_a_terminal(
        served, "retain", "--bank", "term", "Mara \x1b[2Jlives\x1b]0;owned\x07 in Oslo.", "--async", "--wait"
    )
    assert "retain:" in shown and "Retained 1 item" in shown
    shown = on_a_terminal(served, "recall", "--bank", "term", "Where does Mara live?", "--why")
    assert "\x1b[2J" not in shown and "owned\x07" not in shown
    assert "\\x1b[2J" in shown
