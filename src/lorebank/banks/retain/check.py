"""What a retain request may not contain. Everything is checked before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lorebank.banks.retain.items import Item
from lorebank.errors import BadRequest, FieldProblem, InvalidInput

PENDING_TAG = "labels:pending"
"""The mark of memories whose tag labels rules could not decide. Only lorebank sets and clears it."""


def problem(index: int, field: str, message: str) -> InvalidInput:
    """422 about one field of one item."""
    path = f"items[{index}].{field}"
    return InvalidInput(f"{path}: {message}", fields=[FieldProblem(("body", "items", index, field), message)])


def check_items(items: Sequence[Item], document_tags: tuple[str, ...]) -> None:
    """`InvalidInput` or `BadRequest` that names the first wrong field."""
    if not items:
        raise InvalidInput(
            "items: send at least one item",
            fields=[FieldProblem(("body", "items"), "send at least one item", "too_short")],
        )
    if PENDING_TAG in document_tags:
        raise _reserved("document_tags")
    for index, item in enumerate(items):
        if not item.content.strip():
            raise problem(index, "content", "must not be empty")
        if PENDING_TAG in item.tags:
            raise _reserved(f"items[{index}].tags")


def check_distinct_documents(items: Sequence[Item]) -> None:
    """In an asynchronous batch each document may be named once (specs, Retain)."""
    named = Counter(item.document_id for item in items if item.document_id is not None)
    for document_id, count in named.items():
        if count > 1:
            raise BadRequest(
                f"items: document_id '{document_id[:200]}' is used by {count} items; an asynchronous batch "
                "may name each document once: put their texts into one item, or send async=false"
            )


def _reserved(field: str) -> BadRequest:
    return BadRequest(f"{field}: the tag '{PENDING_TAG}' is set by lorebank only; use another tag")
