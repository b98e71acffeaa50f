"""What there is to import in a folder that another program made. Nothing in it is ever written or opened
but plain files, read-only; databases are not touched at all.

Accepted, in this order: a folder with `private/` or `conversations/` (a vault), one whose `vault/` is a vault
(a store), one with `stores/` (a whole knowledge folder) or with `knowledge/stores/` (a gateway's state
folder), and a folder of Markdown records, which becomes a private partition.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lorebank.access.audience import PRIVATE, Partition
from lorebank.errors import InvalidInput
from lorebank.storage.tree.names import CONVERSATIONS, passed_over, refusal
from lorebank.storage.tree.ports import Tree
from lorebank.storage.tree.scan import shown
from lorebank.vaults.importing.report import Problem
from lorebank.vaults.store import making, manifest

STORES: Final = "stores"
KNOWLEDGE: Final = "knowledge"
_UNNAMED: Final = frozenset({making.VAULT, KNOWLEDGE, PRIVATE.folder})


@dataclass(frozen=True, slots=True)
class SourceVault:
    """One vault to import. `loose`: its records lie in the folder itself and are private ones."""

    root: Path
    name: str
    loose: bool = False


@dataclass(frozen=True, slots=True)
class SourcePartition:
    """A partition, and where it is in the source."""

    partition: Partition
    folder: str


def vaults_in(source: Path) -> tuple[SourceVault, ...]:
    """The vaults of a source, by name; `InvalidInput` when there are none."""
    if not _is_folder(source):
        raise InvalidInput("the source is no folder on the server's machine; name the folder itself, no link")
    found = _vault(source)
    if found is not None:
        return (found,)
    for stores in (source / STORES, source / KNOWLEDGE / STORES):
        if _is_folder(stores):
            several = tuple(one for path in _folders(stores) if (one := _vault(path)) is not None)
            if several:
                return several
    if _has_records(source):
        return (SourceVault(source, _name(source), loose=True),)
    raise InvalidInput(
        "the source has neither private/ nor conversations/, stores/ or Markdown records; "
        "name a vault's folder or a whole knowledge folder"
    )


def partitions_of(tree: Tree, vault: SourceVault) -> tuple[tuple[SourcePartition, ...], tuple[Problem, ...]]:
    """The vault's partitions, private first, and what is none. A conversation's folder is a UUID in lower
    case: records under any other name could say no scope that is theirs."""
    if vault.loose:
        return (SourcePartition(PRIVATE, ""),), ()
    found: list[SourcePartition] = []
    problems: list[Problem] = []
    for name in _names(tree, ""):
        if name == PRIVATE.folder and _is_folder(vault.root / name):
            found.append(SourcePartition(PRIVATE, name))
        elif name == CONVERSATIONS and _is_folder(vault.root / name):
            for session in _names(tree, name):
                folder = f"{name}/{session}"
                if _is_session(session) and _is_folder(vault.root / folder):
                    found.append(SourcePartition(Partition(session), folder))
                else:
                    message = "is not imported: a conversation's folder is named by a UUID in lower case"
                    problems.append(Problem(shown(folder), message))
        elif name != manifest.NAME:
            problems.append(Problem(shown(name), "is not imported: it belongs to no partition"))
    found.sort(key=lambda one: (one.partition != PRIVATE, one.folder))
    return tuple(found), tuple(problems)


def _vault(path: Path) -> SourceVault | None:
    for root in (path, path / making.VAULT):
        if _is_folder(root) and any(_is_folder(root / name) for name in (PRIVATE.folder, CONVERSATIONS)):
            return SourceVault(root, _name(root))
    return None


def _name(root: Path) -> str:
    """What the store shall be called: its folder, or the one above where all are called the same."""
    while root.name in _UNNAMED and root.parent != root:
        root = root.parent
    return shown(root.name)


def _names(tree: Tree, folder: str) -> Iterator[str]:
    yield from sorted(n for n in os.listdir(tree.root / folder) if not passed_over(n))


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as exc:
        raise InvalidInput("the source cannot be read; give the server the right to", cause=exc) from exc


def _folders(path: Path) -> list[Path]:
    return sorted(one for one in path.iterdir() if not passed_over(one.name) and _is_folder(one))


def _has_records(source: Path) -> bool:
    """Whether a Markdown file is anywhere below, without following links."""
    for _, below, names in os.walk(source):
        below[:] = [name for name in below if not passed_over(name)]
        if any(name.endswith(".md") and refusal(name) is None for name in names):
            return True
    return False


def _is_session(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def refuse_overlap(source: Path, knowledge: Path) -> None:
    """A source that is (in) the knowledge folder would be imported into itself."""
    one, other = Path(os.path.realpath(source)), Path(os.path.realpath(knowledge))
    if one == other or one in other.parents or other in one.parents:
        raise InvalidInput(
            "the source lies in this server's knowledge folder, or around it; move or copy it aside first"
        )
