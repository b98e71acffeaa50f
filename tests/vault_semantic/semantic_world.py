"""Stores with a model, and what their callers find."""

from __future__ import annotations

from pathlib import Path

from store_world import World

from lorebank import clock
from lorebank.access.audience import Audience
from lorebank.errors import LorebankError
from lorebank.models.service import EmbedService
from lorebank.search.columns import Floats
from lorebank.storage.sqlite.vault_state import SqliteVaultState
from lorebank.vaults.find.question import Question
from lorebank.vaults.store.options import Options
from lorebank.vaults.store.vaults import KnowledgeVaults
from lorebank.vaults.store.vectors import Embedding
from lorebank.vaults.tools import remember, search

ON, OFF = "{semantic: true}", "{semantic: false}"
PATIENCE = 60.0


class SemanticWorld(World):
    """`World` with a model for records and questions."""

    def __init__(self, root: Path, model: EmbedService, *, config: str = ON) -> None:
        super().__init__(root, config=config)
        self.model = model
        self.vaults.close()
        self.embedding = Embedding(model, lambda: self.facts.data.settings.semantic)
        self.vaults = KnowledgeVaults(
            self.folder, self.registry, self.resolver, options=Options(), embedding=self.embedding
        )

    def question(self, text: str) -> Floats | None:
        """As `bootstrap` does it."""
        if not self.embedding.wanted():
            return None
        try:
            return self.model.embed_query(text, PATIENCE)
        except LorebankError:
            return None

    def remember(self, text: str, speaks: Audience | None = None) -> str:
        """Save a claim; its id."""
        return str(remember.run(self.open(speaks), remember.Remember(text), clock.now)["id"])

    def found(self, question: str, speaks: Audience | None = None) -> list[str]:
        """The ids that a search finds, best first."""
        ask = search.SearchAsk(Question(question))
        return [hit["id"] for hit in search.run(self.recall(speaks), ask, self.question)["hits"]]

    def settle(self) -> None:
        """Wait until all vectors are there."""
        assert self.vaults.vectors is not None and self.vaults.vectors.drain(PATIENCE)

    def vectors(self, folder: str = "private") -> list[tuple[int, str, str, bytes]]:
        """What the database of main's store has."""
        state = SqliteVaultState(self.store() / "state.sqlite")
        try:
            return list(state.vectors(folder))
        finally:
            state.close()

    def again(self) -> SemanticWorld:
        """The same after a restart."""
        self.close()
        return SemanticWorld(self.root, self.model)
