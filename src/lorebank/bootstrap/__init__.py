"""Where lorebank starts: the only package that knows which concrete class does what.

Nothing here imports the server's parts before they are needed: a client command must start at once.
"""

from __future__ import annotations

import os
import sys

from lorebank.bootstrap.hooks import ProcessHooks

# Searches run side by side in threads of their own: a matrix library that adds more, and lets them spin
# between two products, only takes the cores away from them. Must be said before it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["main"]


def main() -> None:
    """The `lorebank` command."""
    from lorebank.cli.app import run

    sys.exit(run(ProcessHooks(), sys.argv[1:]))
