"""An answer leaves only after what it acknowledges is on the disk: read from a trace of system calls."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from live_server import Client, File, Server, bank_path

_CALLS = "fsync,fdatasync,pwrite64,pwritev,write,writev,sendto,sendmsg"
_LINE = re.compile(r"^(?P<thread>\d+) +(?P<call>[a-z0-9_]+)\((?P<rest>.*)$")
_RESUMED = re.compile(r"^(?P<thread>\d+) +<\.\.\. (?P<call>[a-z0-9_]+) resumed>(?P<rest>.*)$")
_WAL = re.compile(r"<[^>]*/banks/[^>]*state\.sqlite-wal>")


@dataclass(frozen=True)
class Event:
    """One thing that the server did, in order: it wrote to a log, synced it, or began an answer."""

    what: str
    thread: str
    text: str


def events(trace: str) -> Iterator[Event]:
    """The events of a trace. A sync counts when it has ended, everything else when it began."""
    syncing: set[str] = set()
    for line in trace.splitlines():
        if (resumed := _RESUMED.match(line)) is not None:
            if resumed["thread"] in syncing and "= 0" in resumed["rest"]:
                syncing.discard(resumed["thread"])
                yield Event("sync", resumed["thread"], "")
            continue
        if (found := _LINE.match(line)) is None:
            continue
        thread, call, rest = found["thread"], found["call"], found["rest"]
        if call in ("fsync", "fdatasync"):
            if _WAL.search(rest) is None:
                continue
            if "unfinished" in rest:
                syncing.add(thread)
            elif rest.rstrip().endswith("= 0"):
                yield Event("sync", thread, "")
        elif _WAL.search(rest.split(",")[0]) is not None:
            yield Event("write", thread, rest)
        elif "HTTP/1.1 " in rest:
            yield Event("answer", thread, rest)


def check_synced(happened: list[Event], marker: str) -> None:
    """The thread that wrote `marker` synced the log after its last write, before the answer that follows."""
    first = next((place for place, e in enumerate(happened) if e.what == "write" and marker in e.text), None)
    assert first is not None, f"nothing was written for {marker}"
    answer = next(place for place in range(first, len(happened)) if happened[place].what == "answer")
    thread = happened[first].thread
    own = [event.what for event in happened[:answer] if event.thread == thread and event.what != "answer"]
    assert own[-1] == "sync", f"{marker}: the answer left before the log was synced ({own[-5:]})"


@pytest.fixture
def traced(make_server: Callable[..., Server], tmp_path: Path) -> Iterator[tuple[Client, Path]]:
    """A server under a trace, without an embedder, so that only requests write; a client; the trace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed; CI installs it")
    trace = tmp_path / "trace.txt"
    server = make_server(LOREBANK_EMBEDDER="none", LOREBANK_RERANKER="none")
    server.wrapper = ("strace", "-f", "-q", "-y", "-s", "5000", "-e", f"trace={_CALLS}", "-o", str(trace))
    try:
        server.start()
    except AssertionError:
        if "ptrace" in server.log or "PTRACE" in server.log:
            pytest.skip("this machine does not let a process be traced")
        raise
    client = server.client()
    yield client, trace


def _after(trace: Path, request: Callable[[], Any]) -> list[Event]:
    """What the server did for one request."""
    before = trace.stat().st_size
    request()
    with trace.open(encoding="utf-8", errors="replace") as file:
        file.seek(before)
        return list(events(file.read()))


def test_every_answer_to_a_write_leaves_after_the_disk_has_it(traced: tuple[Client, Path]) -> None:
    client, trace = traced
    client.retain(
        "disk", {"content": "Warden one keeps relic markfirst in the cellar.", "document_id": "one"}
    )
    written = _after(
        trace,
        lambda: client.retain("disk", {"content": "Warden two keeps marktwo there.", "document_id": "two"}),
    )
    check_synced(written, "marktwo")

    (row, *_) = client.memories("disk", q="marktwo")
    path = bank_path("disk", f"/memories/{row['id']}")
    text = "Warden two keeps markthree there."
    check_synced(_after(trace, lambda: client.request("PATCH", path, {"text": text}).ok()), "markthree")


def test_a_delete_is_answered_after_the_disk_has_it(traced: tuple[Client, Path]) -> None:
    client, trace = traced
    client.retain(
        "disk", {"content": "Warden one keeps relic markfirst in the cellar.", "document_id": "one"}
    )
    client.retain("disk", {"content": "Warden two keeps relic marktwo in the cellar.", "document_id": "two"})
    path = bank_path("disk", "/documents/one")
    happened = _after(trace, lambda: client.request("DELETE", path).ok())
    writes = [event for event in happened if event.what == "write"]
    assert writes
    answer = next(place for place, event in enumerate(happened) if event.what == "answer")
    own = [e.what for e in happened[:answer] if e.thread == writes[0].thread and e.what != "answer"]
    assert own[-1] == "sync"


def test_an_accepted_batch_and_an_accepted_file_are_on_the_disk(traced: tuple[Client, Path]) -> None:
    client, trace = traced
    client.retain(
        "disk", {"content": "Warden one keeps relic markfirst in the cellar.", "document_id": "one"}
    )
    item = {"content": "Warden two keeps marktwo there.", "document_id": "two"}
    check_synced(_after(trace, lambda: client.retain("disk", item, **{"async": True})), "marktwo")
    (accepted,) = client.bank("disk", "/operations")["operations"]
    client.completed("disk", accepted["id"])

    file = File("files", "three.txt", b"Warden three keeps markthree there.")
    path = bank_path("disk", "/files/retain")
    happened = _after(
        trace, lambda: client.request("POST", path, files=[file], fields={"request": "{}"}).ok()
    )
    check_synced(happened, "markthree")


def test_a_trace_without_a_sync_is_seen() -> None:
    wal = "7</data/banks/1/state.sqlite-wal>"
    lines = [
        f'10 pwrite64({wal}, "a mark b", 8, 0) = 8',
        "10 fdatasync(" + wal + ") = 0",
        f'10 pwrite64({wal}, "more", 4, 8) = 4',
        '11 writev(9<socket:[1]>, [{iov_base="HTTP/1.1 200 OK", iov_len=15}], 1) = 15',
    ]
    with pytest.raises(AssertionError, match="before the log was synced"):
        check_synced(list(events("\n".join(lines))), "mark")
    late = [lines[0], f"10 fdatasync({wal} <unfinished ...>", lines[3], "10 <... fdatasync resumed>) = 0"]
    with pytest.raises(AssertionError, match="before the log was synced"):
        check_synced(list(events("\n".join(late))), "mark")
    good = [*lines[:1], f"10 fdatasync({wal} <unfinished ...>", "10 <... fdatasync resumed>) = 0", lines[3]]
    check_synced(list(events("\n".join(good))), "mark")
