"""Changing the embedding model online: new vectors are made beside the old ones, which answer until then.

The aim is kept in the bank, so a killed re-embed goes on after the restart. The switch is one
transaction: it names the new model and drops the old vectors, only when none is missing.
"""

from __future__ import annotations

from lorebank.banks.embedders import ACTIVE_MODEL
from lorebank.storage.ports import BankHandle, BankReader, BankWriter

TARGET_MODEL = "reembed_target"


def aim(handle: BankHandle, model_id: str) -> bool:
    """Ask for vectors of `model_id`; False when those answer already.

    What an earlier aim had made of a third model is dropped: nobody would ever complete it.
    """
    with handle.write() as writer:
        active = writer.meta(ACTIVE_MODEL)
        arrived = active in (model_id, None)
        writer.set_meta(TARGET_MODEL, None if arrived else model_id)
        _keep_only(writer, {active or model_id, model_id})
        return not arrived


def _keep_only(writer: BankWriter, models: set[str]) -> None:
    for other in writer.vector_models().keys() - models:
        writer.drop_vectors(other)


def target(reader: BankReader) -> str | None:
    """The model that the bank is on its way to, None when it is not on its way."""
    stored = reader.meta(TARGET_MODEL)
    return stored if isinstance(stored, str) else None


def switch(handle: BankHandle, model_id: str) -> bool:
    """Let the vectors of `model_id` answer if every memory has one; False while some are missing."""
    with handle.write() as writer:
        if writer.meta(TARGET_MODEL) != model_id or writer.missing_vectors(model_id, 1):
            return False
        writer.set_meta(ACTIVE_MODEL, model_id)
        writer.set_meta(TARGET_MODEL, None)
        _keep_only(writer, {model_id})
        return True
