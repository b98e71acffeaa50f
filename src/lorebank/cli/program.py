"""How this program is called here: what a person can paste into the next line."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

NAME = "lorebank"


def program() -> str:
    """`lorebank` where the shell finds it by that name, otherwise the path that it was started with.

    A path below the current folder is shown relative to it, quoted for a shell.
    """
    started = sys.argv[0] if sys.argv else ""
    if os.path.basename(started) != NAME or not os.path.isfile(started):
        return NAME
    found = shutil.which(NAME)
    if found is not None and os.path.samefile(found, started):
        return NAME
    below = os.path.relpath(started)
    return shlex.quote(started if below.startswith(os.pardir) else below)
