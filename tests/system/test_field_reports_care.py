"""Start, care and refusal: what a directory, a key or a setting may do to a server."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from canary import damaged
from live_server import File, Server, bank_path

from lorebank.config import load


def test_after_care_every_command_still_works(make_server: Callable[..., Server], tmp_path: Path) -> None:
    server = make_server(LOREBANK_EMBEDDER="none")
    assert server.run("retain", "--bank", "a", "Mara keeps the spare key under the pot.").returncode == 0
    cared = server.run("doctor", "--rebuild", "--compact", "--json")
    assert cared.returncode == 0, cared
    assert server.run("backup", str(tmp_path / "copy")).returncode == 0
    recalled = json.loads(server.run("recall", "--bank", "a", "spare key", "--json").stdout)
    assert "under the pot" in recalled["results"][0]["text"]
    assert json.loads(server.run("status", "--json").stdout)["memories"] == 1
    assert json.loads(server.run("bank", "stats", "a", "--json").stdout)["total_nodes"] == 1


def test_a_lost_index_is_made_anew_from_the_texts(make_server: Callable[..., Server]) -> None:
    server = make_server(LOREBANK_EMBEDDER="none").start()
    server.client().retain("a", {"content": "Mara keeps the spare key under the pot."})
    server.stop()
    (store,) = server.data_dir.glob("banks/*/state.sqlite")
    with sqlite3.connect(store) as db:
        db.execute("UPDATE memories SET terms = '', tokens = 0")
    db.close()
    with server.start():
        client = server.client()
        assert client.recall("a", "spare key") == []
        client.doctor(rebuild=True)
        assert "under the pot" in client.recall("a", "spare key")[0]["text"]


def test_readers_do_not_wait_for_a_writer_that_takes_long(make_server: Callable[..., Server]) -> None:
    with make_server(LOREBANK_EMBEDDER="none").start() as server:
        client, writer = server.client(), server.client()
        client.retain("a", {"content": "Mara keeps the spare key under the pot."})
        (store,) = server.data_dir.glob("banks/*/state.sqlite")
        lane = sqlite3.connect(store, isolation_level=None)
        lane.execute("BEGIN IMMEDIATE")
        try:
            item = {"content": "Jonas waits for his turn."}
            waiting = threading.Thread(target=lambda: writer.retain("a", item))
            waiting.start()
            ends = time.monotonic() + 2.0
            while time.monotonic() < ends:
                assert client.recall("a", "spare key")
                assert len(client.memories("a")) == 1
                assert client.bank("a", "/stats")["total_nodes"] == 1
        finally:
            lane.execute("ROLLBACK")
            lane.close()
        waiting.join()
        assert len(client.memories("a")) == 2


def test_each_fresh_directory_has_a_secret_of_its_own_and_nothing_else_opens_it(
    make_server: Callable[..., Server],
) -> None:
    first, second = (make_server(name=name, LOREBANK_EMBEDDER="none") for name in ("one", "two"))
    with first.start(), second.start():
        assert first.key != second.key
        assert (first.data_dir / "root.key").stat().st_mode & 0o777 == 0o600
        for key in (second.key, "", " ", "root", "admin", "password", "hc_u_", None):
            client = first.client(key or None)
            assert client.request("GET", bank_path("a", "/stats")).status == 401
            assert client.request("GET", "/v1/default/banks").status == 401


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("LOREBANK_JOB_RETRIES", "-1", "job_retries"),
        ("LOREBANK_JOB_RETRIES", " ", "job_retries"),
        ("LOREBANK_JOB_RETRIES", "many", "job_retries"),
        ("LOREBANK_JOB_WORKERS", "0", "job_workers"),
        ("LOREBANK_JOB_BACKOFF", "nan", "job_backoff"),
        ("LOREBANK_LIMIT_ITEMS", "0", "limit_items"),
        ("HINDSIGHT_API_DATABASE_URL", "postgresql://nowhere", "HINDSIGHT_API_DATABASE_URL"),
    ],
)
def test_a_setting_that_cannot_be_honoured_is_refused_by_name(
    make_server: Callable[..., Server], name: str, value: str, told: str
) -> None:
    server = make_server(**{name: value})
    refused = server.run("serve", "--port", "0")
    assert refused.returncode == 2, refused
    assert told in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_empty_variable_means_the_default_and_not_without_limit(
    make_server: Callable[..., Server],
) -> None:
    server = make_server(LOREBANK_JOB_RETRIES="", LOREBANK_EMBEDDER="none")
    assert server.run("status").returncode == 0
    assert load(environ={"LOREBANK_JOB_RETRIES": ""}).job_retries == load(environ={}).job_retries > 0


def test_no_retry_means_no_retry(make_server: Callable[..., Server]) -> None:
    """A job that could work later is given up at once, with its input kept."""
    settings = {"LOREBANK_JOB_RETRIES": "0", "LOREBANK_JOB_BACKOFF": "0", "LOREBANK_EMBEDDER": "none"}
    with make_server(**settings).start() as server:
        client = server.client()
        client.retain("a", {"content": "Mara keeps the spare key under the pot."})
        archive = client.exported("a")
        started = client.request(
            "POST",
            bank_path("moves", "/transfer/import"),
            query={"target_bank_id": "b"},
            files=[File("file", "a.zip", damaged(archive), "application/zip")],
        ).ok()
        ended = client.ended("moves", started["operation_id"])
        assert (ended["status"], ended["retry_count"]) == ("failed", 0)
        assert ended["error_message"]
        assert client.request("GET", bank_path("b", "/stats")).status == 404, "nothing is half imported"


def test_a_directory_with_a_long_and_strange_path_works(make_server: Callable[..., Server]) -> None:
    server = make_server(name="a heron 🐦", LOREBANK_EMBEDDER="none")
    deep = server.home / ("d" * 200) / ("Ä b" * 30) / "data"
    server.settings["LOREBANK_DATA_DIR"] = str(deep)
    made = server.run("retain", "--bank", "a", "Mara keeps the spare key under the pot.")
    assert made.returncode == 0, made
    found = server.run("recall", "--bank", "a", "spare key", "--json")
    assert "under the pot" in json.loads(found.stdout)["results"][0]["text"]
    assert (deep / "root.key").exists()
