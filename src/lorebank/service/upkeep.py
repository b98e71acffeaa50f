"""Care for a whole data directory while it serves: check, compact, rebuild, re-embed, backup."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from lorebank.access.grant import Ticket
from lorebank.access.resolve import Resolver
from lorebank.banks import reembed
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.banks.rebuild import rebuild
from lorebank.errors import LorebankError, NotFound, Unavailable
from lorebank.ids import BankId
from lorebank.service.tasks import Progress
from lorebank.storage.ports import BankHandle, Banks

POLL_SECONDS = 0.2
REGISTRY = ""


class Directory(Protocol):
    """What the engine does for the directory as a whole."""

    @property
    def path(self) -> Path:
        """Where it is."""

    def backup(self, target: Path, *, root_key: bool = False, first: Callable[[Path], None] = ...) -> None:
        """A consistent copy in the empty or missing folder `target`, with the keys when asked; `first` adds
        to it what is not the engine's."""

    def check(self) -> list[str]:
        """What is wrong with the registry."""

    def compact(self) -> None:
        """Leave no deleted byte in the registry."""


class VectorWork(Protocol):
    """The builder of vectors."""

    @property
    def failures(self) -> Mapping[BankId, str]:
        """Why a bank's last attempt failed, for those whose did."""

    def notify(self, handle: BankHandle) -> None:
        """Say that the bank has vectors to build."""


class KnowledgeCare(Protocol):
    """The owner of the knowledge stores. Whatever is wrong comes as sentences that name the store."""

    @property
    def folder(self) -> Path:
        """Where they are; it may lie outside of the data directory."""

    def backup(self, target: Path, progress: Progress) -> tuple[int, list[str]]:
        """Copy all stores below `target`; how many, and what is wrong with some."""

    def check(self, progress: Progress) -> list[str]:
        """What is wrong with the registry and the stores."""

    def compact(self, progress: Progress) -> list[str]:
        """Leave no deleted byte in their databases; what could not be done."""


class Upkeep:
    """The port `Maintenance`; opens banks with tickets that name this one purpose."""

    def __init__(
        self,
        directory: Directory,
        banks: Banks,
        resolver: Resolver,
        embedders: Embedders,
        indexes: Indexes,
        vectors: VectorWork,
        knowledge: KnowledgeCare | None = None,
    ) -> None:
        self._directory = directory
        self._banks = banks
        self._resolver = resolver
        self._embedders = embedders
        self._indexes = indexes
        self._vectors = vectors
        self._knowledge = knowledge

    def backup(self, target: Path, progress: Progress) -> dict[str, object]:
        """Copy everything, the keys included, so that a restored copy opens at once. `problems` tells of
        knowledge stores that were copied although something is wrong with them."""
        stores, problems = 0, list[str]()

        def knowledge(target: Path) -> None:
            nonlocal stores, problems
            if self._knowledge is not None:
                stores, problems = self._knowledge.backup(target, progress)
            progress("copy", 0, 0)

        self._directory.backup(target, root_key=True, first=knowledge)
        told: dict[str, object] = {"bytes": folder_bytes(target), "banks": len(self._names())}
        return told | {"knowledge_stores": stores, "problems": problems}

    def check(self, progress: Progress) -> dict[str, list[str]]:
        """bank id -> problems; a bank that cannot be opened has that as its problem. Those of knowledge
        stores are with the registry's, because they have no bank."""
        found = {REGISTRY: list(self._directory.check())}
        if self._knowledge is not None:
            found[REGISTRY] += self._knowledge.check(progress)
        for bank in self._each("check", progress):
            found[bank] = self._problems(bank)
        return found

    def _problems(self, bank: BankId) -> list[str]:
        try:
            return list(self._open(bank).check())
        except NotFound:
            return []
        except LorebankError as exc:
            return [exc.message]

    def compact(self, progress: Progress) -> dict[str, object]:
        """Rewrite every store; `failed` names the banks that could not be, with the reason."""
        before = self.disk_bytes()
        done, failed = self._with_each("compact", progress, lambda handle: handle.compact())
        self._directory.compact()
        if self._knowledge is not None:
            problems = self._knowledge.compact(progress)
            failed |= {BankId(REGISTRY): "; ".join(problems)} if problems else {}
        after = self.disk_bytes()
        return {"banks": done, "failed": failed, "bytes_before": before, "bytes_after": after}

    def rebuild(self, progress: Progress) -> dict[str, object]:
        """Make terms, token counts and search indexes anew from the texts; vectors stay as they are.

        `failed` names the banks where that could not be done, with the reason.
        """
        done, failed = self._with_each("rebuild", progress, self._rebuild)
        return {"banks": done, "failed": failed}

    def _rebuild(self, handle: BankHandle) -> None:
        rebuild(handle)
        self._indexes.drop(handle.store_id)
        self._indexes.snapshot(handle)
        self._vectors.notify(handle)

    def reembed(self, model_id: str, progress: Progress) -> dict[str, object]:
        """Aim every bank at the model, and watch until none is on its way any more.

        The aim is kept in the banks: what this does not see to its end goes on by itself. Raises
        `Unavailable` with the embedder's reason when a bank's attempt failed, and when all others have
        ended with that of a bank that could not be opened.
        """
        if self._embedders.find(model_id) is None:
            raise Unavailable("that embedder is not configured any more")
        aimed: list[BankId] = []

        def aim(handle: BankHandle) -> None:
            if reembed.aim(handle, model_id):
                aimed.append(BankId(handle.bank.bank_id))
                self._vectors.notify(handle)

        _, failed = self._with_each("aim", progress, aim)
        left = list(aimed)
        while left:
            left = [bank for bank in left if self._on_its_way(bank, model_id)]
            progress("embed", *self._vectors_made(aimed, left, model_id))
            self._refuse_failed(left)
            if left:
                time.sleep(POLL_SECONDS)
        for bank, reason in failed.items():
            raise Unavailable(f"{len(failed)} banks were left out, bank '{bank}' for this reason: {reason}")
        return {"banks": len(aimed), "model": model_id}

    def _on_its_way(self, bank: BankId, model_id: str) -> bool:
        try:
            with self._open(bank).read() as reader:
                return reembed.target(reader) == model_id
        except NotFound:
            return False

    def _vectors_made(self, aimed: list[BankId], left: list[BankId], model_id: str) -> tuple[int, int]:
        """(made, needed): vectors of the banks on their way, and one for each bank that has arrived."""
        made = total = len(aimed) - len(left)
        for bank in left:
            try:
                with self._open(bank).read() as reader:
                    counts = reader.counts()
                    made += reader.vector_models().get(model_id, 0)
            except NotFound:
                continue
            total += sum(counts.memories.values())
        return made, total

    def _refuse_failed(self, left: list[BankId]) -> None:
        for bank in left:
            reason = self._vectors.failures.get(bank)
            if reason is not None:
                raise Unavailable(f"{reason} The re-embed goes on by itself as soon as that is mended.")

    def disk_bytes(self) -> int:
        """Bytes of all files, those of knowledge stores elsewhere included."""
        total = folder_bytes(self._directory.path)
        if self._knowledge is not None and self._directory.path not in self._knowledge.folder.parents:
            total += folder_bytes(self._knowledge.folder)
        return total

    def _names(self) -> list[BankId]:
        rows = self._banks.all_rows(self._resolver.ticket(Ticket.MAINTAIN))
        return [BankId(row.bank_id) for row in rows]

    def _open(self, bank: BankId) -> BankHandle:
        return self._banks.open(self._resolver.ticket(Ticket.MAINTAIN, bank))

    def _each(self, stage: str, progress: Progress) -> Iterator[BankId]:
        """Every bank, progress being told before each."""
        names = self._names()
        for place, bank in enumerate(names):
            progress(stage, place, len(names))
            yield bank
        progress(stage, len(names), len(names))

    def _with_each(
        self, stage: str, progress: Progress, work: Callable[[BankHandle], None]
    ) -> tuple[int, dict[BankId, str]]:
        """Do `work` with every bank: with how many it went well, and why not with the others.

        A bank that is deleted meanwhile counts nothing, and a damaged one keeps no other waiting.
        """
        done, failed = 0, dict[BankId, str]()
        for bank in self._each(stage, progress):
            try:
                work(self._open(bank))
                done += 1
            except NotFound:
                continue
            except LorebankError as exc:
                failed[bank] = exc.message
        return done, failed


def folder_bytes(folder: Path) -> int:
    """Bytes of all files under `folder`; files that vanish meanwhile count nothing."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total
