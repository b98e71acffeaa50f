"""Many processes at once on one server (10,000 operations: `make soak`), and one server on one directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from live_server import Server
from mixed_run import run_mixed


def test_eight_processes_lose_no_write_and_see_no_lock(make_server: Callable[..., Server]) -> None:
    with make_server(LOREBANK_LOG_LEVEL="warning").start() as server:
        assert run_mixed(server, clients=8, operations=40, seed=5) >= 8 * 40


def test_a_second_server_on_the_same_directory_is_refused(make_server: Callable[..., Server]) -> None:
    with make_server().start() as server:
        refused = server.run("serve", "--port", "0")
        assert refused.returncode == 1, refused
        assert "data directory" in refused.stderr
        assert f"http://127.0.0.1:{server.port}" in refused.stderr
        assert "Traceback" not in refused.stderr
        client = server.client()
        client.retain("a", {"content": "The first server still answers."})


def test_a_killed_server_leaves_the_directory_free(make_server: Callable[..., Server]) -> None:
    server = make_server().start()
    client = server.client()
    client.retain("a", {"content": "Mara keeps the spare key under the blue pot."})
    server.kill()
    with server.start():
        client = server.client()
        assert client.recall("a", "spare key")


def test_the_command_line_works_beside_a_server_and_without_one(make_server: Callable[..., Server]) -> None:
    server = make_server(LOREBANK_EMBEDDER="none")
    alone = server.run("retain", "--bank", "home", "Mara keeps the spare key under the blue pot.", "--json")
    assert alone.returncode == 0, alone
    with server.start():
        beside = server.run("recall", "--bank", "home", "spare key", "--json")
        assert beside.returncode == 0, beside
        assert "blue pot" in json.loads(beside.stdout)["results"][0]["text"]
        client = server.client()
        client.retain("home", {"content": "Mara feeds the heron at noon."})
    again = server.run("recall", "--bank", "home", "heron", "--json")
    assert "at noon" in json.loads(again.stdout)["results"][0]["text"]


def test_two_imports_at_once_are_both_whole(make_server: Callable[..., Server], tmp_path: Path) -> None:
    with make_server().start() as server:
        client = server.client()
        items = [
            {"content": f"Warden {n} keeps relic mark{n:03d} in the cellar.", "document_id": f"d{n}"}
            for n in range(40)
        ]
        client.retain("source", *items)
        archive = tmp_path / "source.zip"
        archive.write_bytes(client.exported("source"))
        started = []
        for target in ("copy-a", "copy-b"):
            process = server.spawn_command("bank", "import", str(archive), "--bank", target, "--json")
            started.append(process)
        for process in started:
            _, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
        for target in ("copy-a", "copy-b"):
            assert len(client.memories(target)) == 40
        client.doctor()
