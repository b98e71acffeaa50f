"""Which banks a document names by their exact ids. One that stands for another bank would match nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lorebank.access.actions import on_agents
from lorebank.access.policy.document import parse_policy
from lorebank.access.policy.values import PolicyDocument
from lorebank.errors import InvalidInput


def named_banks(document: PolicyDocument) -> Iterator[tuple[int, str]]:
    """(statement, pattern) of every pattern that is one bank's id, where not only agents are spoken of."""
    for index, statement in enumerate(document.statements):
        if all(map(on_agents, statement.actions)):
            continue
        for pattern in statement.banks:
            if pattern != "*" and not pattern.endswith("::*"):
                yield index, pattern


def denies_bank(text: str, bank: str) -> bool:
    """Whether the document of this JSON text denies something on exactly this bank; a broken one does not."""
    try:
        document = parse_policy(json.loads(text))
    except (InvalidInput, ValueError, RecursionError):
        return False
    named = (index for index, pattern in named_banks(document) if pattern == bank)
    return any(document.statements[index].effect == "deny" for index in named)
