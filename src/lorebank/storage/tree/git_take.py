"""Taking another program's git history over into a new repository, without trusting what else is in it.

Only objects that the branch reaches come along, each checked against its id. The other repository is read
and never written: no reference, no configuration, no hook of it counts here.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from pygit2.enums import SortMode

from lorebank.storage.tree import refusals
from lorebank.storage.tree.git_check import BROKEN
from lorebank.storage.tree.git_setup import MAIN, open_repository, plain_folder

_BORROWED: Final = ("objects/info/alternates", "commondir", "shallow")
"""Files by which a repository has its objects elsewhere, or not all of them."""
_READ: Final = ("HEAD", "config", "packed-refs", "objects", "refs")
_WALKED: Final = ("objects", "refs")


def take_history(source: Path, git: Path) -> int:
    """Copy the branch that `source` (a `.git`) is on to `main` of the empty repository `git`; how many
    commits that are. 0 when there is no repository or no commit.

    `StoreUnavailable` (damaged, unsafe_file) when it cannot be taken over whole; then make `git` anew.
    """
    if plain_folder(source) is None:
        return 0
    _refuse_links(source)
    theirs = ours = None
    try:
        theirs = open_repository(source)
        if theirs.head_is_unborn:
            return 0
        ours = open_repository(git)
        ours.remotes.create_anonymous(str(source)).fetch([f"+HEAD:{MAIN}"])
        # It names the place of the source.
        (git / "FETCH_HEAD").unlink(missing_ok=True)
        tip = ours.lookup_reference(MAIN).peel()
        return sum(1 for _ in ours.walk(tip.id, SortMode.NONE))
    except BROKEN as error:
        raise refusals.damaged("the source's .git could not be read to its end", error) from error
    finally:
        for opened in (theirs, ours):
            if opened is not None:
                opened.free()


def _refuse_links(source: Path) -> None:
    """What is read of it must be its own: no link leads out of it, nothing is borrowed."""
    for name in _BORROWED:
        if os.path.lexists(source / name):
            raise refusals.damaged(f"the source's .git has {name}: its history is not all in it")
    _refuse_link(source, [name for name in _READ if os.path.lexists(source / name)], source)
    for top in _WALKED:
        for folder, below, names in os.walk(source / top, onerror=_raise):
            _refuse_link(Path(folder), [*below, *names], source)


def _refuse_link(folder: Path, names: list[str], source: Path) -> None:
    for name in names:
        found = os.lstat(folder / name)
        if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
            path = os.path.relpath(folder / name, source)
            raise refusals.unsafe(f".git/{path}", "a link or no plain file")


def _raise(error: OSError) -> None:
    raise refusals.unreadable(".git", error) from error
