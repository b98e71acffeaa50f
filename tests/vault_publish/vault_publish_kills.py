"""Killing a publishing process at random moments, and what must hold afterwards."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Literal

from vault_publish_store import Store, make_store, sha, text

from lorebank.errors import StoreUnavailable
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.resolve import resolve
from lorebank.vaults.store import manifest

CHILD = Path(__file__).with_name("vault_publish_child.py")
SOURCE = Path(__file__).parents[2] / "src"


def child(*arguments: str) -> subprocess.Popen[bytes]:
    """The child process of this folder."""
    path = f"{SOURCE}{os.pathsep}{CHILD.parent}"
    return subprocess.Popen(
        [sys.executable, str(CHILD), *arguments],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


@dataclass
class Kills:
    """What was done, and what the dead processes had acknowledged: request -> (generation, files)."""

    kills: int = 0
    finished_by_recovery: int = 0
    commits_caught_up: int = 0
    behind_a_lock: int = 0
    edits: int = 0
    conflicts: int = 0
    acknowledged: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    in_hand: list[str] = field(default_factory=list)


def random_kills(root: Path, kills: int, seed: int, edits: float) -> Kills:
    """As many kills of a publishing loop, with a look at everything after each. After a share `edits` of
    them somebody saves one of the files in an editor before the store is opened again."""
    make_store(root)
    found = Kills()
    dice = random.Random(seed)
    for number in range(kills):
        _one(root, found, dice, seed * 100_000 + number)
        hand = _edit(root, dice, number) if dice.random() < edits else None
        store = Store(root)
        try:
            _recover(store, found, dice)
            store.desk.refresh()
            if hand is not None:
                assert hand in _texts(store), "what was written by hand is lost"
                found.edits += 1
            check(store, found, thorough=number == kills - 1)
        finally:
            store.close()
        found.kills += 1
    return found


def _edit(root: Path, dice: random.Random, number: int) -> bytes:
    name = dice.randrange(6)
    hand = text(f"p{name}", 1, f"by hand {number}")
    path = root / "vault/private" / f"p{name}.md"
    path.with_suffix(".tmp").write_bytes(hand)
    path.with_suffix(".tmp").replace(path)
    return hand


def _texts(store: Store) -> set[bytes]:
    lines = [line for name in range(6) for line in store.state.history("private", f"p{name}", None, 5)]
    return {store.git.blob(line.blob) or b"" for line in lines if line.blob is not None}


def _recover(store: Store, found: Kills, dice: random.Random) -> None:
    try:
        recovered = store.recover()
    except StoreUnavailable as exc:
        assert exc.reason == "conflicted_publication"
        (row,) = store.state.open_journal()
        keep: Literal["mine", "theirs"] = dice.choice(("mine", "theirs"))
        resolve(store.parts, row.folder, row.request_id, keep)
        found.conflicts += 1
        recovered = store.recover()
    found.finished_by_recovery += len(recovered.finished)
    found.commits_caught_up += recovered.commits
    if recovered.git_problem is not None:
        # git's own lock, seconds old: it could be a person's git that is at work.
        found.behind_a_lock += 1
        age_locks(store.root)
        caught = catch_up(store.parts)
        assert caught.problem is None
        found.commits_caught_up += caught.commits


def age_locks(root: Path) -> None:
    """As if some seconds had passed."""
    locks = list((root / "vault/.git").rglob("*.lock"))
    assert locks, "git was behind without a lock"
    for lock in locks:
        os.utime(lock, (1, 1))


def _one(root: Path, found: Kills, dice: random.Random, seed: int) -> None:
    process = child(str(root), "loop", str(seed))
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    told = b""
    while b"ready\n" not in told:
        chunk = os.read(descriptor, 65536)
        assert chunk, "the child ended by itself"
        told += chunk
    until = time.monotonic() + dice.uniform(0, 0.12)
    while (left := until - time.monotonic()) > 0:
        if select([descriptor], [], [], left)[0]:
            told += os.read(descriptor, 65536)
    process.send_signal(signal.SIGKILL)
    while chunk := os.read(descriptor, 65536):
        told += chunk
    process.wait()
    process.stdout.close()
    _heard(found, told)


def _heard(found: Kills, told: bytes) -> None:
    hand = None
    for line in told.decode().splitlines():
        word, *rest = line.split(" ", 3)
        assert word != "no", line
        if word == "try":
            hand = rest[0]
        elif word == "ack":
            hand = None
            found.acknowledged[rest[0]] = (int(rest[1]), rest[2].split(","))
    if hand is not None:
        found.in_hand.append(hand)


def check(store: Store, found: Kills, *, thorough: bool) -> None:
    """Nothing torn, nothing lost, nothing half, and everything in git."""
    assert not store.state.open_journal() and not store.state.unfinished() and not store.state.uncommitted()
    assert manifest.read(store.tree).checkpoint == store.state.checkpoint()
    files = {path.removeprefix("private/") for path in store.tree.scan("private").files}
    rows = {row.path: row for row in store.state.catalogue("private")}
    assert files == set(rows)
    for path, row in rows.items():
        raw = store.read(path)
        assert raw is not None and sha(raw) == row.sha256, f"{path} is torn"
        assert store.committed(path) == raw, f"{path} is not in git"
        line = store.state.history("private", path.removesuffix(".md"), None, 1)[0]
        assert line.sha256 == row.sha256 and line.revision == row.revision
    private = store.root / "vault/private"
    assert not [path for path in private.rglob("*") if path.is_file() and path.name not in files]
    assert not list((store.root / "staging").iterdir())
    requests = found.acknowledged if thorough else dict(list(found.acknowledged.items())[-20:])
    for request, (generation, names) in requests.items():
        _acknowledged(store, request, generation, names)
    if thorough:
        assert not store.git.check()
    for request in found.in_hand[-3:]:
        _in_hand(store, request)


def _acknowledged(store: Store, request: str, generation: int, names: list[str]) -> None:
    receipt = store.save({}, request=request).receipt
    assert receipt.replayed and receipt.generation == generation and receipt.commit
    assert sorted(one.path for one in receipt.records) == names
    for one in receipt.records:
        lines = store.state.history("private", one.id, None, 10_000)
        (line,) = [line for line in lines if line.request_id == request]
        content = store.git.blob(line.blob or "")
        assert content == text(one.id, one.revision, request), f"{request} is lost"


def _in_hand(store: Store, request: str) -> None:
    """What was not acknowledged is there as a whole, or not at all."""
    row = store.state.journaled("private", request)
    everything = [store.read(f"p{number}.md") or b"" for number in range(6)]
    holders = [raw for raw in everything if request in raw.decode()]
    if row is None:
        assert not holders
    else:
        assert row.state == "published" and row.commit
