"""What searching by meaning asks of a store and gives it (setting `semantic`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lorebank.access.audience import Partition


class Meaning(Protocol):
    """What makes vectors, as a store sees it. The model stays the same as long as a store is open."""

    @property
    def model_id(self) -> str:
        """The name to keep beside vectors."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 where there is no model."""

    @property
    def on(self) -> bool:
        """Whether meaning is searched now: the setting, and a model."""

    def soon(self, vault: str, partition: Partition) -> None:
        """Say that records may lack a vector. Returns at once, also inside the lane."""


@dataclass(frozen=True, slots=True)
class Made:
    """The float16 vector of a record, made from the file with this SHA-256."""

    key: int
    sha256: str
    vector: bytes
