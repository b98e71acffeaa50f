"""Which bank an id belongs to where the wire's path does not name one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank.banks.chunk_ids import bank_of_chunk
from lorebank.banks.transfer.keys import bank_of_file
from lorebank.errors import NotFound


def bank_of_chunk_params(params: Mapping[str, Any]) -> str:
    """The bank of `chunk_id`; `NotFound` when the id is none of ours."""
    bank = bank_of_chunk(params["chunk_id"])
    if bank is None:
        raise NotFound(f"Chunk '{params['chunk_id']}' not found")
    return bank


def bank_of_file_params(params: Mapping[str, Any]) -> str:
    """The bank of a file `key`; `NotFound` when the key is none of ours."""
    bank = bank_of_file(params["key"])
    if bank is None:
        raise NotFound(f"File '{params['key']}' not found")
    return bank
