"""Chunk ids: they name their bank, because the wire reads a chunk by its id alone.

Form: `<bank id, percent-encoded>:<document id>:<part>`. Percent-encoding leaves no colon in the bank
id, so the first colon ends it; what follows is free text to every reader.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from lorebank.errors import BadRequest
from lorebank.ids import check_id

SEPARATOR = ":"


def chunk_id(bank_id: str, document_id: str, part: str | int) -> str:
    """The id of one chunk; `part` (an index or a hash) tells the chunks of a document apart."""
    return f"{bank_prefix(bank_id)}{document_id}{SEPARATOR}{part}"


def bank_prefix(bank_id: str) -> str:
    """What every chunk id of the bank starts with."""
    return quote(bank_id, safe="") + SEPARATOR


def bank_of_chunk(chunk_id: str) -> str | None:
    """The bank id inside a chunk id; None when the id was not made by `chunk_id`."""
    encoded, separator, rest = chunk_id.partition(SEPARATOR)
    if not separator or not rest:
        return None
    try:
        bank_id = unquote(encoded, errors="strict")
        return check_id(bank_id, "chunk_id") if quote(bank_id, safe="") == encoded else None
    except (UnicodeDecodeError, BadRequest):
        return None


def moved(chunk_id: str, source_bank: str, target_bank: str) -> str:
    """The same chunk's id in another bank; ids of an unknown form stay as they are."""
    prefix = bank_prefix(source_bank)
    if not chunk_id.startswith(prefix):
        return chunk_id
    return bank_prefix(target_bank) + chunk_id[len(prefix) :]
