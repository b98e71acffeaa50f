"""Where the files below a partition's `artifacts/` go: sources and descriptors to their places in our
layout, everything else to where it was. Pure.

A descriptor of ours in its place stays byte for byte. Another one whose file is there is written anew; one
that speaks of another scope is copied as it is and stays withheld, because nobody relabels (seed 000,
Partitions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from lorebank.access.audience import Partition
from lorebank.storage.tree.names import fold
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.importing.foreign import Told, told_by
from lorebank.vaults.importing.report import Problem
from lorebank.vaults.record.descriptors import parse_descriptor
from lorebank.vaults.store.values import Descriptor


@dataclass(frozen=True, slots=True)
class Held:
    """A file of the source that was read: its path in the partition, digest and size; `raw` of those that may
    be descriptors."""

    path: str
    sha256: str
    size: int
    raw: bytes | None = None


@dataclass(slots=True)
class Placed:
    """`copied` are (from, to) paths, `written` new contents by path; `sources` and `descriptors` count those
    that hold."""

    copied: list[tuple[str, str]] = field(default_factory=list)
    written: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    sources: int = 0
    descriptors: int = 0
    others: int = 0


def placed(held: Sequence[Held], partition: Partition) -> Placed:
    """Decide for all files of one partition's evidence."""
    return _Placing(held, partition).run()


class _Placing:
    def __init__(self, held: Sequence[Held], partition: Partition) -> None:
        self._held, self._partition = held, partition
        self._by_sha = {one.sha256: one for one in reversed(held)}
        self._sizes = {one.sha256: one.size for one in held}
        self._found = Placed()
        self._taken: set[str] = set()
        self._ids: set[str] = set()
        self._done: set[str] = set()
        self._described: set[str] = set()
        self._noted: set[str] = set()

    def run(self) -> Placed:
        for one in self._held:
            if self._ours(one):
                self._done.add(one.path)
        told = [(one, self._told(one)) for one in self._held if one.path not in self._done]
        self._described.update(t.descriptor.sha256 for _, t in told if isinstance(t, Told))
        for one, said in told:
            # A retained JSON file is no descriptor, whatever it says.
            if one.sha256 not in self._described and isinstance(said, Told):
                self._foreign(one, said)
        self._contents()
        reasons = {one.path: said for one, said in told if isinstance(said, str)}
        for one in self._held:
            if one.path not in self._done:
                self._as_it_is(one, reasons.get(one.path))
        return self._found

    def _ours(self, one: Held) -> bool:
        """Whether it is a descriptor of ours in its place whose source is there."""
        if one.raw is None:
            return False
        found = parse_descriptor(one.path, one.raw, self._partition)
        if not isinstance(found, Descriptor) or self._sizes.get(found.sha256) != found.size:
            return False
        self._described.add(found.sha256)
        self._ids.add(found.id)
        self._found.descriptors += 1
        self._take(one.path)
        self._found.copied.append((one.path, one.path))
        return True

    def _told(self, one: Held) -> Told | str | None:
        return None if one.raw is None else told_by(one.raw, one.path, self._partition, self._sizes)

    def _foreign(self, one: Held, told: Told) -> None:
        descriptor = told.descriptor
        target = descriptor_path(descriptor.sha256, descriptor.id)
        if not told.scoped:
            self._problem(one.path, "speaks of another scope: copied as it is, and withheld")
            return
        if descriptor.id in self._ids or not self._take(target):
            self._problem(one.path, "has the id of another descriptor: copied as it is, and not used")
            return
        self._ids.add(descriptor.id)
        self._found.written[target] = encode(descriptor, self._partition)
        self._found.descriptors += 1
        self._done.add(one.path)
        if told.named is not None:
            self._problem(
                one.path,
                f"has the id {told.named[:100]!r}, which is no UUID; it is {descriptor.id} now, and records "
                "that cite it must be changed to that",
            )

    def _contents(self) -> None:
        """The sources that a descriptor names, each once."""
        for sha256 in sorted(self._described):
            one, target = self._by_sha[sha256], content_path(sha256)
            if self._take(target):
                self._found.copied.append((one.path, target))
                self._found.sources += 1
        self._done.update(one.path for one in self._held if one.sha256 in self._described)

    def _as_it_is(self, one: Held, reason: str | None) -> None:
        if not self._take(one.path):
            self._problem(one.path, "is not imported: another file has its place now")
            return
        self._found.copied.append((one.path, one.path))
        self._found.others += 1
        if one.path not in self._noted:
            said = reason or "no descriptor that can be understood names it"
            self._problem(one.path, f"is copied as it is: {said}")

    def _take(self, path: str) -> bool:
        """Whether the place was free, also on a file system that knows no letter case."""
        folded = fold(path)
        free = folded not in self._taken
        self._taken.add(folded)
        return free

    def _problem(self, path: str, message: str) -> None:
        self._noted.add(path)
        self._found.problems.append(Problem(path, message))


def held(path: str, raw: bytes) -> Held:
    """A file that was read whole."""
    return Held(path, hashlib.sha256(raw).hexdigest(), len(raw), raw)
