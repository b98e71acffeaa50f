"""All generated parts of docs/: those of the command line, and the table of actions.

`python -m lorebank.bootstrap.docs FOLDER` writes them anew between their marks; a test fails when the
files are not current. It stands here because the table needs the routes as well as the operations.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping

from lorebank.access.actions import ACTIONS, EVERY_USER, EVERYBODY, IMPLIED, IMPLYING
from lorebank.cli import docs
from lorebank.http.routes.all import BINDINGS
from lorebank.service.table import OPERATIONS

_KIND = re.compile(r":path\}")


def actions_table() -> str:
    """Every action: what it allows, the operations that ask for it with their routes, what implies it."""
    operations = _operations()
    rows = [
        (f"`{action}`", docs.cell(meaning), _opened(operations.get(action, ())), _given_by(action))
        for action, meaning in ACTIONS.items()
    ]
    return docs.table(("action", "allows to", "operations", "also given by"), rows)


def implications() -> str:
    """What an action gives besides itself."""
    rows = [
        (f"`{action}`", ", ".join(f"`{one}`" for one in sorted(given))) for action, given in IMPLIED.items()
    ]
    return docs.table(("action", "implies"), rows)


def public_operations() -> str:
    """The operations that need no credential."""
    names = sorted(name for name, one in OPERATIONS.items() if not one.action)
    return "\n".join(f"- {_told(name)}" for name in names)


def _operations() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, one in OPERATIONS.items():
        if one.action:
            found.setdefault(one.action, []).append(name)
    return found


def _opened(names: list[str] | tuple[()]) -> str:
    return "<br>".join(_told(name) for name in names)


def _told(name: str) -> str:
    return f"{name}: " + ", ".join(f"`{route}`" for route in _routes(name))


def _routes(name: str) -> Iterator[str]:
    for one in BINDINGS:
        if one.operation == name:
            yield f"{one.method} {_KIND.sub('}', one.path)}"


def _given_by(action: str) -> str:
    if action in EVERYBODY:
        return "everybody has it"
    if action in EVERY_USER:
        return "every user has it"
    return ", ".join(f"`{giver}`" for giver in IMPLYING.get(action, ()))


PARTS: Mapping[str, Callable[[], str]] = {
    **docs.PARTS,
    "actions": actions_table,
    "implications": implications,
    "public operations": public_operations,
}


if __name__ == "__main__":
    docs.main(sys.argv[1], PARTS)
