"""What an import did, and what it left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lorebank.errors import one_line

MAX_PROBLEMS: Final = 1_000
"""Problems in one answer, as of diagnostics (seed 000, Limits)."""

Progress = Callable[[str, int, int], None]
"""Told (stage, done, total); it raises to end the import, which then leaves nothing."""


def unwatched(stage: str, done: int, total: int) -> None:
    """Nobody wants to know how far it is."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not imported, or not as it was. `path` is relative to the source."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """One partition of the new store. `records` can be read, `withheld` ones were copied and are not shown
    (no right envelope, another scope); `sources` are retained files with a descriptor that holds, `others`
    all other files."""

    folder: str
    records: int
    withheld: int
    sources: int
    descriptors: int
    ontology: bool
    others: int


@dataclass(frozen=True, slots=True)
class StoreReport:
    """One new store. `commits` of the source's git history came along; `problems` are in order of path."""

    source: str
    vault: str
    binding: str
    partitions: tuple[PartitionCounts, ...]
    commits: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """All stores of one source. `failed` are those that could not be imported, by their folder's name."""

    stores: tuple[StoreReport, ...]
    failed: Mapping[str, str] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        """JSON-ready; of each store at most 1,000 problems, with their number and whether some were cut."""
        return {"stores": [_store(one) for one in self.stores], "failed": dict(self.failed)}


def _store(report: StoreReport) -> dict[str, Any]:
    kind, _, name = report.binding.partition(":")
    shown = report.problems[:MAX_PROBLEMS]
    return {
        "source": report.source,
        "vaultId": report.vault,
        "name": name if kind == "named" else None,
        "agent": name if kind == "own" else None,
        "commits": report.commits,
        "partitions": [
            {
                "folder": one.folder,
                "records": one.records,
                "withheld": one.withheld,
                "sources": one.sources,
                "descriptors": one.descriptors,
                "ontology": one.ontology,
                "others": one.others,
            }
            for one in report.partitions
        ],
        "problems": [{"path": one_line(one.path), "message": one_line(one.message)} for one in shown],
        "totalProblems": len(report.problems),
        "truncated": len(report.problems) > len(shown),
    }
