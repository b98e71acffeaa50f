"""Where lorebank starts: the only package that knows which concrete class does what.

Nothing here imports the server's parts before they are needed: a client command must start at once.
"""

from __future__ import annotations

import sys

from lorebank.bootstrap.hooks import ProcessHooks
from lorebank.bootstrap.serve import serve

__all__ = ["main", "serve"]


def main() -> None:
    """The `lorebank` command."""
    from lorebank.cli.app import run

    sys.exit(run(ProcessHooks(), sys.argv[1:]))
