"""Writing down what was copied into a new store: git history first, then catalogue and history rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lorebank.clock import Clock
from lorebank.errors import StoreUnavailable
from lorebank.storage.knowledge_ports import CatalogueRow, HistoryLine, PartitionRow, VaultState
from lorebank.storage.sqlite.files import remove_folder
from lorebank.storage.sqlite.vault_state import SqliteVaultState
from lorebank.storage.tree.ports import Tree
from lorebank.storage.tree.tree import FileTree
from lorebank.vaults.importing.copying import PartitionDraft
from lorebank.vaults.importing.report import PartitionCounts, Progress
from lorebank.vaults.record.extension import ONTOLOGY_FILE
from lorebank.vaults.store import making
from lorebank.vaults.store.holdings import Holdings
from lorebank.vaults.store.looking import look
from lorebank.vaults.store.turn import Turn

CHANGE: Final = "import"
"""How history calls it."""
AUTHOR: Final = "lorebank"
MESSAGE: Final = "Imported\n"
_NOTHING: Final[Mapping[str, bytes]] = {}


@dataclass(frozen=True, slots=True)
class Committed:
    """The commit "Imported", the blobs of its files, and how many commits came along."""

    commit: str
    blobs: Mapping[str, str | None]
    commits: int
    problem: str | None


def commit(draft: Path, source_git: Path, parts: Sequence[PartitionDraft], progress: Progress) -> Committed:
    """The source's history with one commit on top that has exactly the draft's files; a new history where
    the source has none, or one that cannot be taken over whole."""
    # git is loaded once knowledge is used, not at the server's start.
    from lorebank.storage.tree.git import GitHistory
    from lorebank.storage.tree.git_setup import make_repository
    from lorebank.storage.tree.git_take import take_history

    vault = draft / making.VAULT
    progress("history", 0, 0)
    make_repository(vault / ".git")
    commits, problem = 0, None
    try:
        commits = take_history(source_git, vault / ".git")
    except StoreUnavailable as exc:
        problem = f"is not imported: {exc.message}"
        remove_folder(vault / ".git")
        make_repository(vault / ".git")
    files = [f"{part.partition.folder}/{path}" for part in parts for path in part.paths]
    git = GitHistory(vault, create=False)
    try:
        made = git.commit(
            {path: vault / path for path in files}, author=AUTHOR, message=MESSAGE, exactly=True
        )
        blobs = {path: git.blob_at(made, path) for path in files}
        git.refresh_index()
    finally:
        git.close()
    return Committed(made, blobs, commits, problem)


def note(
    draft: Path, parts: Sequence[PartitionDraft], committed: Committed, now: Clock, progress: Progress
) -> tuple[PartitionCounts, ...]:
    """Write down every partition, file and record, so that the first look finds what it knows."""
    tree = FileTree(draft / making.VAULT)
    state = _ImportState(draft / making.DATABASE, committed)
    try:
        known = {row.folder for row in state.partitions()}
        counts = []
        for number, part in enumerate(parts):
            progress("catalogue", number, len(parts))
            folder = part.partition.folder
            if folder not in known:
                found = (draft / making.VAULT / folder).stat()
                state.add_partition(PartitionRow(folder, found.st_dev, found.st_ino))
            counts.append(_noted(tree, state, part, now))
        progress("catalogue", len(parts), len(parts))
        return tuple(counts)
    finally:
        state.close()
        tree.close()


def _noted(tree: Tree, state: VaultState, part: PartitionDraft, now: Clock) -> PartitionCounts:
    held = Holdings(part.partition, tree, state, now)
    held.load()
    Turn(held, look(tree, part.partition, {}, ()), record=True).run()
    records = [known for known in held.files.values() if known.kind == "record"]
    readable = sum(known.record is not None for known in records)
    return PartitionCounts(
        folder=part.partition.folder,
        records=readable,
        withheld=len(records) - readable,
        sources=part.placed.sources,
        descriptors=part.placed.descriptors,
        ontology=ONTOLOGY_FILE in held.files,
        others=part.others + part.placed.others,
    )


class _ImportState(SqliteVaultState):
    """The database of the new store, which is told of an import where it would be told of additions by hand.
    git has them already, so nothing is kept for it."""

    def __init__(self, path: Path, committed: Committed) -> None:
        super().__init__(path)
        self._committed = committed

    def apply_catalogue(
        self,
        folder: str,
        upserts: Sequence[CatalogueRow],
        deleted: Sequence[int],
        history: Sequence[HistoryLine],
        contents: Mapping[str, bytes] = _NOTHING,
    ) -> Mapping[str, int]:
        """The same, with the lines of history as an import's."""
        made = self._committed
        lines = [
            replace(line, change=CHANGE, blob=made.blobs.get(f"{folder}/{line.path}"), commit=made.commit)
            for line in history
        ]
        return super().apply_catalogue(folder, upserts, deleted, lines)
