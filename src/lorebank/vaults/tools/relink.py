"""`knowledge_relink`: link remembered claims to the one entity page that they name (seed 002)."""

from __future__ import annotations

from typing import Any

from lorebank.errors import Forbidden
from lorebank.vaults.relink.values import Ask
from lorebank.vaults.store.values import VaultHandle


def run(handle: VaultHandle, ask: Ask) -> dict[str, Any]:
    """One page of claims in the caller's partition.

    A dry run needs the right to save too (statement 4.1.16): it shows what saving would do. Refused with
    `Forbidden`, and before that, where writes are off, by the decision that made the handle's grant.
    """
    if not handle.grant.may_save:
        raise Forbidden("knowledge_relink needs the right to save, for a dry run too")
    from lorebank.vaults.relink.run import relink  # the rules only once somebody asks

    return relink(handle, ask).answer()
