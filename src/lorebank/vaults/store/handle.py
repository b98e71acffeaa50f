"""`VaultHandle`: one partition of one store, opened with a grant (see `values.VaultHandle`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import VaultResolver
from lorebank.errors import Forbidden, LorebankError, NotFound, WritesDisabled
from lorebank.storage.knowledge_ports import CatalogueRow, HistoryLine
from lorebank.vaults.publish.history import content_of
from lorebank.vaults.publish.parts import Order
from lorebank.vaults.publish.publish import publish
from lorebank.vaults.store.pool import RuntimePool
from lorebank.vaults.store.runtime import Runtime
from lorebank.vaults.store.staging import stage
from lorebank.vaults.store.values import Draft, FileChange, HistoryRow, Receipt, View


class PartitionHandle:
    """See `values.VaultHandle`. `vault` is the store's id."""

    def __init__(self, grant: VaultGrant, vault: str, pool: RuntimePool, resolver: VaultResolver) -> None:
        self._grant, self.vault = grant, vault
        self._pool, self._resolver = pool, resolver

    @property
    def grant(self) -> VaultGrant:
        """See `values.VaultHandle`."""
        return self._grant

    def check(self) -> None:
        """See `values.VaultHandle`."""
        self._authority()
        with self._pool.using(self.vault) as runtime:
            runtime.verify_after(self._grant.partition)

    @contextmanager
    def reading(self) -> Iterator[View]:
        """See `values.VaultHandle`. An error from inside goes out only past the same checks."""
        self._authority()
        with self._pool.using(self.vault) as runtime:
            view = runtime.view(self._grant.partition)
            self._authority()
            try:
                yield view
            except LorebankError:
                self._after(runtime)
                raise
            self._after(runtime)

    def publish(
        self, request_id: str, digest: str, plan: Callable[[View], Draft], *, change: str = "save"
    ) -> Receipt:
        """See `values.VaultHandle`."""
        self._authority()
        partition = self._grant.partition
        with self._pool.using(self.vault) as runtime:
            self._may_write(runtime)
            order = Order(request_id, digest, partition, self._grant.agent or None, change)

            def planned(view: View) -> Draft:
                draft = plan(view)
                # Not sooner: what the plan refuses leaves nothing behind.
                runtime.make_partition(partition)
                return draft

            with runtime.lane.entered():
                runtime.ready()
                done = publish(runtime.parts(), _Desk(self, runtime), order, planned)
                runtime.install(partition, done.rows)
            self._authority()
        return done.receipt

    def stage(
        self, chunks: Iterator[bytes], *, size: int | None, sha256: str | None
    ) -> tuple[Path, str, int]:
        """See `values.VaultHandle`."""
        self._authority()
        with self._pool.using(self.vault) as runtime:
            self._may_write(runtime)
            with runtime.lane.entered():
                # What recovery sweeps must be swept before the file comes.
                runtime.ready()

            def check() -> None:
                self._authority()
                runtime.lane.check()

            return stage(runtime.staging, chunks, size, sha256, check)

    def history(self, record_id: str, *, before: int | None, limit: int) -> Sequence[HistoryRow]:
        """See `values.VaultHandle`."""
        with self.reading(), self._pool.using(self.vault) as runtime:
            folder = self._grant.partition.folder
            return [_row(line) for line in runtime.state.history(folder, record_id, before, limit)]

    def recent(self, limit: int) -> Sequence[HistoryRow]:
        """See `values.VaultHandle`."""
        with self.reading(), self._pool.using(self.vault) as runtime:
            return [_row(line) for line in runtime.state.recent(self._grant.partition.folder, limit)]

    def content_of(self, row: HistoryRow) -> bytes | None:
        """See `values.VaultHandle`. `NotFound` when the row is not of this partition, or its text is not to
        be had any more."""
        with self.reading(), self._pool.using(self.vault) as runtime, runtime.lane.entered():
            line = runtime.state.line(self._grant.partition.folder, row.seq)
            if line is None:
                raise NotFound("this partition's history has no such row")
            return content_of(runtime.state, runtime.tree, runtime.git, line)

    def _authority(self) -> None:
        self._resolver.current(self._grant, vault=self.vault)

    def _after(self, runtime: Runtime) -> None:
        runtime.verify_after(self._grant.partition)
        self._authority()

    def _may_write(self, runtime: Runtime) -> None:
        if not runtime.writable:
            raise WritesDisabled("knowledge is read-only here: `writesEnabled` is false")
        if not self._grant.publishes:
            raise Forbidden("this may read knowledge and not change it")


class _Desk:
    """What one publication asks of the runtime (`publish.parts.Desk`)."""

    def __init__(self, handle: PartitionHandle, runtime: Runtime) -> None:
        self._handle, self._runtime = handle, runtime
        self._partition = handle.grant.partition

    def check(self) -> None:
        """Authority, settings and the store's identity as they are now."""
        self._handle._authority()
        self._handle._may_write(self._runtime)
        self._runtime.lane.check()
        self._runtime.verify(self._partition)

    def refresh(self) -> View:
        """The newest view."""
        return self._runtime.refreshed(self._partition)

    def describe(self, change: FileChange) -> CatalogueRow:
        """What the catalogue will say of a file."""
        return self._runtime.catalogue(self._partition).describe(change.path, change.content, change.sha256)


def _row(line: HistoryLine) -> HistoryRow:
    return HistoryRow(
        seq=line.seq,
        record_id=line.record_id,
        revision=line.revision,
        path=line.path,
        change=line.change,
        agent=line.agent,
        at=line.at,
        sha256=line.sha256,
        blob=line.blob,
        commit=line.commit,
        request_id=line.request_id,
        message=line.message,
    )
