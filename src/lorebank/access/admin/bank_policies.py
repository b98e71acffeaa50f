"""Bank policies: retain strategies of a bank, and what it gives to unmapped senders. It need not exist."""

from __future__ import annotations

from typing import Any

from lorebank.access.admin.desk import Desk
from lorebank.access.admin.policies import document_text
from lorebank.access.directory import AccessData, stored_document
from lorebank.access.policy.document import parse_bank_policy
from lorebank.errors import NotFound, printable


def document_of(data: AccessData, bank_id: str) -> Any:
    """The document as it was sent; `NotFound` without one, `Corrupt` when it cannot be read."""
    text = data.bank_policies.get(bank_id)
    if text is None:
        raise NotFound(f"Bank '{bank_id}' has no policy")
    return stored_document(text, f"the policy of bank '{printable(bank_id)}'")


def put(desk: Desk, bank_id: str, document: Any) -> None:
    """Insert or replace; `InvalidInput` for a wrong document."""
    parse_bank_policy(document)
    with desk.change() as writer:
        writer.put_bank_policy(bank_id, document_text(document), desk.now)


def delete(desk: Desk, bank_id: str) -> None:
    """Remove; `NotFound` without one."""
    with desk.change() as writer:
        if not writer.delete_bank_policy(bank_id):
            raise NotFound(f"Bank '{bank_id}' has no policy")
