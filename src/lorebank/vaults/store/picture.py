"""From the known files of a partition to the view that everybody gets.

Whatever concerns all records together is decided here: which ids stand twice, which references lead nowhere.
A view is immutable, so each gets tables of its own; what did not change is carried over into them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from lorebank.access.audience import Partition
from lorebank.storage.tree.ports import Tree, TreeProblem
from lorebank.vaults.evidence.ports import Verdicts
from lorebank.vaults.record.descriptors import parse_descriptor
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.references import judged
from lorebank.vaults.record.values import Finding, Record
from lorebank.vaults.store.links import Links, Step
from lorebank.vaults.store.meaning import Made
from lorebank.vaults.store.passages import passage
from lorebank.vaults.store.rows import Known
from lorebank.vaults.store.sense import PartitionVectors
from lorebank.vaults.store.values import Descriptor, Entry
from lorebank.vaults.store.view import PartitionView

FED_AT_ONCE: Final = 10_000
"""Records that the index takes at once."""


class Picture:
    """Draws one view after another of a partition, and feeds its search index."""

    def __init__(
        self, partition: Partition, tree: Tree, verdicts: Verdicts, vectors: PartitionVectors
    ) -> None:
        self._partition, self._tree, self._verdicts = partition, tree, verdicts
        self._vectors, self._index = vectors, vectors.index()
        self._indexed: dict[int, Record] = {}
        self._links = Links()
        self._records: dict[str, Record] = {}
        self._own: dict[str, tuple[Finding, ...]] = {}
        self._entries: dict[str, Entry] = {}
        self._sources: dict[str, Descriptor] = {}
        self._descriptors: dict[str, Descriptor] = {}
        self._twice: list[Finding] = []
        self._ontology: Ontology | None = None
        # What searches derive from a view and the next one begins from (see `find.ports`).
        self._carry: dict[str, Any] = {}

    def drawn(
        self,
        files: Mapping[str, Known],
        refused: Collection[str],
        problems: Iterable[TreeProblem],
        ontology: tuple[Ontology, Sequence[Finding]],
        changed: Collection[str] | None,
    ) -> PartitionView:
        """The view of `files`. Those at `refused` paths are withheld: a link stands there, or a name that no
        file may have. `changed` are the paths that may be other than in the view before; None: all."""
        whole = changed is None or ontology[0] is not self._ontology
        paths = set(changed or ())
        if whole:
            paths = files.keys() | self._entries.keys() | self._sources.keys() | self._own.keys()
        self._ontology = ontology[0]
        self._take_sources(paths, files, refused)
        steps = [self._step(path, files.get(path), refused) for path in paths]
        concerned = None if whole else self._links.follow(steps, self._records, self._descriptors.keys())
        if concerned is None:
            records = [self._records[path] for path in sorted(self._records)]
            self._links.renew(records, ontology[0], self._descriptors.keys())
            concerned = files.keys() | self._entries.keys()
        self._enter(paths | concerned, files)
        self._feed()
        findings = [one for found in (*self._own.values(), *self._links.found.values()) for one in found]
        findings += [*self._twice, *ontology[1], *self._of_tree(problems)]
        findings.sort(key=lambda one: (one.path, one.line, one.rule))
        return PartitionView(
            self._partition,
            ontology[0],
            self._entries,
            self._descriptors,
            findings,
            self._index.snapshot(),
            self._tree,
            self._verdicts,
            self._carry,
        )

    def take(self, made: Sequence[Made]) -> None:
        """Let the next view search by these vectors too."""
        self._vectors.put(made, self._entries.values(), self._index)

    def lacking(self) -> list[Entry]:
        """The records of the last view that have no vector."""
        return [] if self.complete else self._vectors.lacking(self._entries)

    @property
    def complete(self) -> bool:
        """Whether all records of the last view have one."""
        return self._vectors.complete(len(self._indexed))

    def _step(self, path: str, known: Known | None, refused: Collection[str]) -> Step:
        """Take over what one file says by itself."""
        before = self._records.pop(path, None)
        record = None if known is None or path in refused else known.record
        if record is not None:
            self._records[path] = record
        self._own.pop(path, None)
        if known is not None and known.findings:
            self._own[path] = known.findings
        return Step(path, before, record)

    def _take_sources(
        self, paths: Iterable[str], files: Mapping[str, Known], refused: Collection[str]
    ) -> None:
        """Take over descriptors. An id that two files have names neither of them."""
        changed = {}
        for path in paths:
            known = files.get(path)
            if path in self._sources or (known is not None and known.kind == "descriptor"):
                changed[path] = None if known is None or path in refused else self._described(known)
        if not changed:
            return
        sources = {**self._sources, **changed}
        self._sources = {path: one for path, one in sources.items() if one is not None}
        places: dict[str, list[str]] = {}
        for path, one in self._sources.items():
            places.setdefault(one.id, []).append(path)
        self._descriptors = {one.id: one for one in self._sources.values() if len(places[one.id]) == 1}
        message = "this descriptor's id stands in more than one file; give one of them another id"
        self._twice = [
            Finding(path, 0, "id.duplicate", message)
            for same in places.values()
            if len(same) > 1
            for path in same
        ]

    def _described(self, known: Known) -> Descriptor | None:
        found = parse_descriptor(known.path, known.data.encode(), self._partition) if known.data else None
        return found if isinstance(found, Descriptor) else None

    def _enter(self, paths: Collection[str], files: Mapping[str, Known]) -> None:
        """Make the entries of these paths anew. A record that is shown as before stays the same object, so
        that the index need not take it again."""
        entries = dict(self._entries)
        for path in paths:
            known = files.get(path)
            had = entries.pop(path, None) if known is None or known.kind != "record" else entries.get(path)
            if known is None or known.kind != "record":
                continue
            record = self._records.get(path)
            shown = None if record is None else judged(record, self._links.found.get(path, ()))
            if had is not None and shown is not record and shown == had.record:
                shown = had.record
            entries[path] = known.entry(shown)
        if entries.keys() != self._entries.keys():
            entries = {path: entries[path] for path in sorted(entries)}
        self._entries = entries

    def _feed(self) -> None:
        """Bring the index to what the entries say."""
        wanted = {one.key: one.record for one in self._entries.values() if one.record is not None}
        known, stale = self._indexed, self._vectors.stale(self._entries.values())
        changed = sorted(k for k, record in wanted.items() if known.get(k) is not record or k in stale)
        gone = (known.keys() - wanted.keys()) | stale
        mark = self._index.watermark + 1
        if gone:  # first, because the index would keep the vector of a text with the same terms
            self._index.apply((), gone, mark)
        for begin in range(0, len(changed), FED_AT_ONCE):
            part = changed[begin : begin + FED_AT_ONCE]
            self._index.apply([passage(key, wanted[key]) for key in part], (), mark)
        self._indexed = wanted
        self._vectors.load(self._entries.values(), self._index)

    def _of_tree(self, problems: Iterable[TreeProblem]) -> Iterator[Finding]:
        top = f"{self._partition.folder}/"
        for one in problems:
            yield Finding(one.path.removeprefix(top), 0, f"tree.{one.rule}", f"{one.message}.")
