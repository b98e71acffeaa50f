"""`knowledge_context`: what a gateway puts into a prompt before a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lorebank.vaults.find.index import (
    INDEX_TOKENS,
    READ_GUIDANCE,
    RECENT_TOKENS,
    SAVE_GUIDANCE,
    index_text,
    knowledge_index,
    recent_changes,
    recent_text,
)
from lorebank.vaults.store.values import VaultHandle
from lorebank.vaults.tools.reading import read


@dataclass(frozen=True, slots=True)
class ContextAsk:
    """How many tokens the two texts may have, and how many changes are looked at."""

    index_tokens: int = INDEX_TOKENS
    recent_tokens: int = RECENT_TOKENS
    recent_limit: int = 20


def run(handle: VaultHandle, ask: ContextAsk) -> dict[str, Any]:
    """`text` for the prompt, and its parts as data.

    A conversation with a read grant gets the index and the changes of the private partition like its owner
    (statement 1.3.29), and no word about saving (1.3.23).
    """
    index, changes = read(
        handle, lambda view: (knowledge_index(view), recent_changes(view, handle.recent(ask.recent_limit)))
    )
    guidance = [READ_GUIDANCE, SAVE_GUIDANCE] if handle.grant.may_save else [READ_GUIDANCE]
    parts = [
        "## Knowledge",
        " ".join(guidance),
        "### Index",
        index_text(index, ask.index_tokens),
        "### Recent changes",
        recent_text(changes, ask.recent_tokens),
    ]
    return {"text": "\n\n".join(parts), "index": index, "recent": changes, "maySave": handle.grant.may_save}
