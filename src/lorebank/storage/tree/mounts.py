"""Whether a folder is on a file system where every change is made by this machine: elsewhere (network
shares, folders of a virtual machine's host) changes come without inotify's knowledge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_LOCAL: Final = frozenset(
    ["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"]
)
_TABLE: Final = Path("/proc/self/mountinfo")


def is_local(folder: Path, table: Path = _TABLE) -> bool:
    """False when unknown."""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        real = folder.resolve(strict=True)
    except OSError:
        return False
    best, kind = -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4]))
        # Of two at one place the later one covers the earlier.
        if real.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split(" ")[0]
    return kind in _LOCAL
