"""`lorebank vault import`: whole new stores from a source, or none.

Each store is built in a folder that nobody reads. When it is whole and durable it waits under another name,
the registry learns of it with its binding in one step, it gets its place, and counts as ready. A kill leaves
either something the registry does not know of, which the next start removes, or something that it knows
of and that is whole, which the next start puts into its place (`store.making.sweep`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from lorebank import clock
from lorebank.access.reasons import BUSY
from lorebank.clock import Clock
from lorebank.errors import Conflict, InvalidInput, LorebankError, StoreUnavailable, Unavailable
from lorebank.ids import check_agent_id, new_uuid
from lorebank.storage.knowledge_ports import KnowledgeRegistry, StoreRow
from lorebank.storage.sqlite.files import disk, make_folder, remove_folder, sync_filesystem, sync_folder
from lorebank.storage.tree.tree import FileTree
from lorebank.vaults.assignments.config import check_store_name
from lorebank.vaults.importing import recording
from lorebank.vaults.importing.copying import PartitionDraft, copy_partition
from lorebank.vaults.importing.report import ImportReport, Problem, Progress, StoreReport, unwatched
from lorebank.vaults.importing.sources import SourceVault, partitions_of, refuse_overlap, vaults_in
from lorebank.vaults.store import making

STEPS: Final = ("built", "copied", "committed", "noted", "finished", "registered", "ready")
"""Between any two of them a kill must do no harm; `step` is told each when it is behind."""


def no_step(name: str) -> None:
    """What runs outside of tests."""


def import_store(
    source: Path,
    folder: Path,
    registry: KnowledgeRegistry,
    *,
    name: str | None = None,
    agent: str | None = None,
    reserved: Collection[str] = (),
    progress: Progress = unwatched,
    now: Clock = clock.now,
    step: Callable[[str], None] = no_step,
) -> ImportReport:
    """Read the vaults at `source` into new stores of the knowledge folder `folder`.

    Each is bound to `named:<name>`, by default its folder's name made unlike all bound and `reserved` ones
    (those of the store map): nobody reaches it until an operator lets agents use it. Or to `own:<agent>`,
    when that agent has no store of its own. `name` and `agent` are for a source with one vault. The source
    stays byte for byte as it is. One import at a time.

    `InvalidInput`: the source holds nothing, or several vaults where one must be; it overlaps `folder`.
    `Conflict`: the name or the agent's own store is taken. `StoreUnavailable`: the registry cannot be used,
    a limit is exceeded, or the source cannot be read. Of several vaults those that fail are named in the
    report; when all fail, the first error is raised.
    """
    if registry.problem is not None:
        raise StoreUnavailable(registry.problem.reason, registry.problem.message)
    refuse_overlap(source, folder)
    with disk():
        vaults = vaults_in(source)
    if len(vaults) > 1 and (name is not None or agent is not None):
        raise InvalidInput(
            f"the source holds {len(vaults)} vaults; name the folder of one of them, or leave the name out"
        )
    making.sweep(folder, registry)
    stores: list[StoreReport] = []
    failed: dict[str, str] = {}
    first: LorebankError | None = None
    for vault in vaults:
        try:
            binding = _binding(vault, registry, name, agent, reserved)
            stores.append(_Import(vault, binding, folder, registry, progress, now, step).run())
        except LorebankError as exc:
            if type(exc) is Unavailable:
                raise  # the server ends, or the disk fails: so would all others
            failed[vault.name] = exc.message
            first = first or exc
    if first is not None and not stores:
        raise first
    return ImportReport(tuple(stores), failed)


def _binding(
    vault: SourceVault,
    registry: KnowledgeRegistry,
    name: str | None,
    agent: str | None,
    reserved: Collection[str],
) -> str:
    """Whose the new store will be; `Conflict` when that is somebody's already."""
    taken = registry.bindings()
    if agent is not None and name is not None:
        raise InvalidInput("name a store or an agent, not both")
    if agent is not None:
        binding = f"own:{check_agent_id(agent, 'agent')}"
        if binding in taken:
            raise Conflict("the agent has a store of its own already; import into a named store")
        return binding
    if name is not None:
        binding = f"named:{check_store_name(name, 'name')}"
        if binding in taken:
            raise Conflict("another store has this name already; choose another one")
        return binding
    return f"named:{_free_name(vault.name, taken, reserved)}"


def _free_name(wanted: str, taken: Collection[str], reserved: Collection[str]) -> str:
    try:
        base = check_store_name(wanted, "name")
    except InvalidInput:
        base = "imported"
    number, name = 1, base
    while f"named:{name}" in taken or name in reserved:
        number += 1
        name = f"{base}-{number}"
    return name


class _Import:
    """One vault on its way into a store."""

    def __init__(
        self,
        source: SourceVault,
        binding: str,
        folder: Path,
        registry: KnowledgeRegistry,
        progress: Progress,
        now: Clock,
        step: Callable[[str], None],
    ) -> None:
        self._source, self._binding = source, binding
        self._folder, self._registry = folder, registry
        self._progress, self._now, self._step = progress, now, step
        self._vault = new_uuid()
        self._draft = making.draft_of(folder, self._vault)
        self._finished = making.finished_draft(folder, self._vault)

    def run(self) -> StoreReport:
        """Build it, then give it its place. What fails leaves nothing."""
        with disk():
            make_folder(self._folder / making.STORES)
        registered = False
        try:
            report = self._build()
            with disk():
                sync_filesystem(self._draft)
                self._draft.rename(self._finished)
                sync_folder(self._finished.parent)
            self._step("finished")
            row = self._register()
            registered = True
            self._step("registered")
        finally:
            if not registered:
                remove_folder(self._draft)
                remove_folder(self._finished)
        making.complete(self._folder, self._registry, row, writable=False)
        self._step("ready")
        return report

    def _build(self) -> StoreReport:
        making.build(self._draft, self._vault, writable=False)
        self._step("built")
        tree = FileTree(self._source.root)
        try:
            partitions, problems = partitions_of(tree, self._source)
            parts: list[PartitionDraft] = []
            for one in partitions:
                done = sum(len(part.paths) for part in parts)
                parts.append(copy_partition(tree, one, self._draft, self._progress, done))
        finally:
            tree.close()
        self._step("copied")
        committed = recording.commit(self._draft, self._source.root / ".git", parts, self._progress)
        self._step("committed")
        counts = recording.note(self._draft, parts, committed, self._now, self._progress)
        self._step("noted")
        found = [*problems, *(problem for part in parts for problem in part.problems)]
        if committed.problem is not None:
            found.append(Problem(".git", committed.problem))
        return StoreReport(
            source=self._source.name,
            vault=self._vault,
            binding=self._binding,
            partitions=counts,
            commits=committed.commits,
            problems=tuple(sorted(found, key=lambda one: one.path)),
        )

    def _register(self) -> StoreRow:
        """From here on the store counts, although it is not in its place yet."""
        if self._registry.open_assignment() is not None:
            raise StoreUnavailable(BUSY, "stores are being assigned at this moment; try again")
        kind, _, name = self._binding.partition(":")
        row = StoreRow(
            vault=self._vault,
            location=making.location_of(self._vault),
            state="creating",
            last_name=name if kind == "named" else None,
            created_at=self._now(),
        )
        self._registry.add_store(row, self._binding)
        return row
