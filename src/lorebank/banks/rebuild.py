"""What is derived from texts by rule (terms, token counts, speakers), made anew without a model."""

from __future__ import annotations

from lorebank import tokens
from lorebank.search import asks, speaker_of, terms
from lorebank.storage.ports import BankHandle
from lorebank.storage.rows import Derived

_BATCH = 500


def rebuild(handle: BankHandle) -> int:
    """Write what is derived from each memory's text anew, some hundred a transaction; how many changed."""
    with handle.read() as reader:
        texts = [(stored.memory.key, stored.memory.text) for stored in reader.dump_memories()]
    changed = 0
    for at in range(0, len(texts), _BATCH):
        part = [_derived(key, text) for key, text in texts[at : at + _BATCH]]
        with handle.write() as writer:
            changed += writer.put_derived(part)
    return changed


def _derived(key: int, text: str) -> Derived:
    return Derived(key, text, " ".join(terms(text)), tokens.count(text), speaker_of(text), asks(text))
