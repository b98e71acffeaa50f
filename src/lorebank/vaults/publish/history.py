"""The text of a revision: from git, and while git is behind from where it waits to be committed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable

from lorebank.errors import InvalidInput, NotFound, StoreUnavailable, Unavailable
from lorebank.storage.knowledge_ports import HistoryLine, VaultState
from lorebank.storage.tree.ports import History, Tree
from lorebank.vaults.publish.planned import decode
from lorebank.vaults.record.values import MAX_RECORD_BYTES

_log = logging.getLogger(__name__)


def content_of(state: VaultState, tree: Tree, git: History, line: HistoryLine) -> bytes | None:
    """The file's bytes as this line says they were, in the store's lane; None for a deletion.

    `NotFound` when they are nowhere any more (the git history was removed or damaged). Nothing is given
    that does not have the line's SHA-256.
    """
    if line.sha256 is None:
        return None
    sha256 = line.sha256
    places: tuple[Callable[[], bytes | None], ...] = (
        lambda: _from_git(git, line),
        lambda: _from_journal(state, line),
        lambda: state.kept(sha256),
        lambda: _from_file(tree, line),
        lambda: under_a_save(state, sha256),
    )
    for place in places:
        found = place()
        if found is not None and hashlib.sha256(found).hexdigest() == sha256:
            return found
    raise NotFound("the text of this revision is not in the vault's git history any more")


def _from_git(git: History, line: HistoryLine) -> bytes | None:
    if line.blob is None:
        return None
    try:
        return git.blob(line.blob)
    except Unavailable as exc:
        _log.warning("a revision cannot be read from git: %s", exc.message)
        return None


def _from_journal(state: VaultState, line: HistoryLine) -> bytes | None:
    row = None if line.request_id is None else state.journaled(line.folder, line.request_id)
    if row is None:
        return None
    return next((file.content for file in decode(row.files, row.folder) if file.path == line.path), None)


def _from_file(tree: Tree, line: HistoryLine) -> bytes | None:
    try:
        return tree.read(f"{line.folder}/{line.path}", max_bytes=MAX_RECORD_BYTES)[1]
    except (NotFound, InvalidInput, StoreUnavailable):
        return None


def under_a_save(state: VaultState, sha256: str) -> bytes | None:
    """What a publication that git does not have yet found in the file's place."""
    for row in state.unfinished():
        for file in decode(row.files, row.folder):
            if file.had == sha256 and file.before is not None:
                return file.before
    return None
