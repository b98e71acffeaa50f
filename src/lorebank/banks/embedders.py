"""Which embedder answers for which bank: the configured one, or the one a bank's vectors came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lorebank.models.service import EmbedService
from lorebank.storage.ports import BankReader

ACTIVE_MODEL = "active_model"
"""The bank's meta entry that names the model whose vectors answer its questions."""


@dataclass(frozen=True, slots=True)
class Embedders:
    """All embedders that this server can use; `target` is the configured one, for new banks."""

    target: EmbedService
    others: Sequence[EmbedService] = ()

    def find(self, model_id: str) -> EmbedService | None:
        """The service of a model, None when this server has not got it."""
        for service in (self.target, *self.others):
            if service.model_id == model_id:
                return service
        return None

    def named(self, name: str) -> EmbedService | None:
        """The service that the setting `embedder` calls `name` (`local`, `hosted`)."""
        kind = "local" if name == "local" else "hosted"
        for service in (self.target, *self.others):
            if service.model_id != "off" and service.model_id.startswith("hosted:") == (kind == "hosted"):
                return service
        return None


def active_model(reader: BankReader, embedders: Embedders) -> str:
    """The id of the model whose vectors answer this bank's questions.

    A bank without vectors follows the configured embedder; one with vectors keeps their model until
    a re-embed has made all the new ones. The id decides, never the width of a vector.
    """
    stored = reader.meta(ACTIVE_MODEL)
    return stored if isinstance(stored, str) else embedders.target.model_id
