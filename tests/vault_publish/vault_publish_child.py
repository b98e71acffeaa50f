"""A process that publishes and is killed: `<root> point <point> <nth>` at a named point, `<root> loop <seed>`
by its parent at any moment. Each acknowledged request is told on standard output before the next begins."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from vault_publish_store import Store, text

from lorebank.errors import LorebankError, RevisionConflict
from lorebank.vaults.publish.points import Point, installed

FILES = {"a.md": text("a", 2, "new"), "b.md": text("b", 1, "b")}
PEOPLE = 6


def tell(word: str) -> None:
    os.write(1, f"{word}\n".encode())


def at_point(root: Path, point: Point, nth: int) -> None:
    """One save of two files, killed at the nth passing of the point. For the points of taking back, the
    last file is changed by an editor meanwhile."""
    store = Store(root)
    store.recover()
    left = [nth]

    def hook(reached: Point) -> None:
        if point in (Point.UNDOING, Point.UNDONE, Point.FORGOTTEN) and reached is Point.FILE_WRITTEN:
            (root / "vault/private/b.md").write_bytes(b"by hand")
        if reached is point:
            left[0] -= 1
            if not left[0]:
                tell("killed")
                os.kill(os.getpid(), signal.SIGKILL)

    with installed(hook):
        try:
            store.save(FILES, request="r1", agent="killed")
        except RevisionConflict:
            tell("refused")
    tell("ack r1")


def loop(root: Path, seed: int) -> None:
    """Saves of one to three files for ever."""
    store = Store(root)
    store.recover()
    tell("ready")
    dice = random.Random(seed)
    number = 0
    while True:
        number += 1
        names = dice.sample(range(PEOPLE), dice.randint(1, 3))
        request = f"{seed}-{number}"
        files = {f"p{name}.md": text(f"p{name}", _next(store, name), request) for name in names}
        tell(f"try {request}")
        try:
            receipt = store.save(files, request=request).receipt
        except LorebankError as exc:
            tell(f"no {request} {exc.code} {exc}")
            continue
        tell(f"ack {request} {receipt.generation} {','.join(sorted(files))}")


def _next(store: Store, name: int) -> int:
    return store.state.last_revisions("private").get(f"p{name}", 0) + 1


if __name__ == "__main__":
    if sys.argv[2] == "point":
        at_point(Path(sys.argv[1]), Point(sys.argv[3]), int(sys.argv[4]))
    else:
        loop(Path(sys.argv[1]), int(sys.argv[3]))
