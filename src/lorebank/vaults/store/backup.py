"""Knowledge in a backup: registry, store map and every store, each as of one moment, while agents save.

Everything is copied once before the store's lane is taken, and what changed since then inside it: agents wait
for little. A store that cannot be trusted is copied as it stands and said so: restored,
it is refused for the same reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lorebank.access.audience import Partition
from lorebank.access.reasons import BUSY, CONFLICTED_PUBLICATION, FOREIGN, PENDING_PUBLICATION
from lorebank.errors import Corrupt, LorebankError, StoreUnavailable, Unavailable
from lorebank.storage.sqlite.files import disk, make_folder, open_plain, plain_text, write_private
from lorebank.storage.sqlite.knowledge_copy import Place, copy_registry, copy_state
from lorebank.storage.sqlite.knowledge_file import REGISTRY_FILE, SENTINEL_FILE
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.storage.tree.copying import SETTLE_NS, copy_below, drop_vanished
from lorebank.storage.tree.names import CONVERSATIONS
from lorebank.vaults.store import making
from lorebank.vaults.store.pool import RuntimePool
from lorebank.vaults.store.runtime import Runtime

KNOWLEDGE: Final = "knowledge"
"""Where a backup has the knowledge folder, and a restored data directory too, wherever it was."""
_OBJECTS: Final = f"{making.VAULT}/.git/objects/"
_GIT: Final = f"{making.VAULT}/.git/"
_ATTEMPTS: Final = 10
_UNFINISHED: Final = frozenset({CONFLICTED_PUBLICATION, PENDING_PUBLICATION})


@dataclass(frozen=True, slots=True)
class CopiedKnowledge:
    """How many stores are in the copy, and what is wrong with some, or was left out, by store id (empty:
    the knowledge folder itself)."""

    stores: int = 0
    problems: Mapping[str, list[str]] = field(default_factory=dict)


def copy_knowledge(
    folder: Path,
    registry: SqliteKnowledgeRegistry,
    pool: RuntimePool,
    config: Path,
    data_dir: Path,
    target: Path,
    progress: Callable[[str, int, int], None],
) -> CopiedKnowledge:
    """Copy the knowledge folder `folder` to `<target>/knowledge`, and the store map at `config` when it lies
    in `data_dir`. Nothing is synced.

    Another program's registry (a gateway's), and a folder that another server uses, are not ours to copy:
    they are left out, and that is said.
    `Unavailable` when a store is busy for very long, or disk or configuration do not let it be done.
    """
    copying = _Copying(folder, pool, target / KNOWLEDGE)
    problem = registry.problem
    if problem is not None and problem.reason in (FOREIGN, BUSY):
        return CopiedKnowledge(0, {"": [f"the knowledge folder is left out: {problem.message}"]})
    if problem is not None:
        _keep_config(_read(config), config, data_dir, target)
        left = copy_below(folder, target / KNOWLEDGE, lambda path: True)
        said = f"copied as it stands: {problem.message}"
        return CopiedKnowledge(0, {"": [said, *left]})
    places = _registry_and_config(folder, registry, config, data_dir, target)
    ready = [place for place in places if place.ready]
    for number, place in enumerate(ready):
        progress("knowledge", number, len(ready))
        copying.store(place)
    return CopiedKnowledge(len(ready), copying.problems)


def _registry_and_config(
    folder: Path, registry: SqliteKnowledgeRegistry, config: Path, data_dir: Path, target: Path
) -> list[Place]:
    """Both from one moment: a change of the store map is in the file and in the registry, or the journal
    in the registry tells how to end it."""
    for _ in range(_ATTEMPTS):
        before = _read(config)
        places: list[Place] = []
        copy = target / KNOWLEDGE / REGISTRY_FILE
        if (folder / REGISTRY_FILE).exists():
            make_folder(copy.parent)
            with disk():
                copy.unlink(missing_ok=True)
            places = copy_registry(registry.backup, copy)
        if _read(config) == before:
            _keep_config(before, config, data_dir, target)
            if places or copy.exists():
                write_private(copy.with_name(SENTINEL_FILE), plain_text(folder / SENTINEL_FILE) or "")
            return places
    raise Unavailable("the store map is being edited all the time; back up again when that has ended")


def _read(config: Path) -> bytes | None:
    with disk():
        try:
            with open_plain(config) as file:
                return file.read()
        except FileNotFoundError:
            return None


def _keep_config(content: bytes | None, config: Path, data_dir: Path, target: Path) -> None:
    """The configuration is copied where it is the data directory's own; a gateway's stays with it."""
    if content is None or config.parent != data_dir:
        return
    with disk():
        (target / config.name).write_bytes(content)
        (target / config.name).chmod(0o600)


class _Copying:
    """One store after another. `target` is the copy's knowledge folder."""

    def __init__(self, folder: Path, pool: RuntimePool, target: Path) -> None:
        self._folder, self._pool, self._target = folder, pool, target
        self.problems: dict[str, list[str]] = {}

    def store(self, place: Place) -> None:
        """Copy a store, as of one moment where it can be trusted."""
        source, target = self._folder / place.former, self._target / place.location
        make_folder(target)
        try:
            with self._pool.using(place.vault) as runtime:
                begun = time.time_ns()
                copy_below(source, target, lambda path: _wanted(path, staging=False))
                with runtime.lane.entered():
                    self._standing(place, runtime, source, target, begun - SETTLE_NS)
        except StoreUnavailable as exc:
            if exc.reason == BUSY:
                raise
            self._broken(place, exc, source, target)
        except Corrupt as exc:
            self._broken(place, exc, source, target)

    def _standing(self, place: Place, runtime: Runtime, source: Path, target: Path, settled_ns: int) -> None:
        """In the lane: nobody saves now. A person's editor may; what it does is found as an edit later."""
        try:
            runtime.ready()
        except StoreUnavailable as exc:
            if exc.reason not in _UNFINISHED:
                raise
            self._note(place, [exc.message])
        for row in runtime.state.partitions():
            runtime.verify(Partition(row.folder.partition(f"{CONVERSATIONS}/")[2] or None))
        copy_state(runtime.state.backup, target / making.DATABASE)
        unfinished = bool(runtime.state.open_journal())
        # References before objects: what a reference names is then in the copy, also when a person commits.
        copy_below(source, target, _is_reference, settled_ns=settled_ns)
        left = copy_below(
            source, target, lambda path: _wanted(path, staging=unfinished), settled_ns=settled_ns
        )
        # Once more: a person's git may have packed objects that were passed by then.
        copy_below(source, target, lambda path: path.startswith(_OBJECTS))
        drop_vanished(source, target)
        make_folder(target / making.STAGING)
        self._note(place, left)

    def _broken(self, place: Place, exc: LorebankError, source: Path, target: Path) -> None:
        """As it stands, byte for byte: opening it would already change it."""
        self._note(place, [f"copied as it stands: {exc.message}"])
        with disk():
            for path in target.glob(f"{making.DATABASE}*"):
                path.unlink()
            if not source.is_dir():
                target.rmdir()
                return
        self._note(place, copy_below(source, target, lambda path: True))

    def _note(self, place: Place, problems: list[str]) -> None:
        if problems:
            self.problems.setdefault(place.vault, []).extend(problems)


def _is_reference(path: str) -> bool:
    """Whatever git has besides its objects."""
    return path.startswith(_GIT) and not path.startswith(_OBJECTS) and not path.endswith(".lock")


def _wanted(path: str, *, staging: bool) -> bool:
    if path.startswith(f"{making.STAGING}/"):
        return staging
    return not path.startswith(making.DATABASE) and not (path.startswith(_GIT) and path.endswith(".lock"))
