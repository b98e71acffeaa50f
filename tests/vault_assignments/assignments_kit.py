"""A knowledge folder with its configuration, for tests of stores and sharing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lorebank.access.resolve import Epoch
from lorebank.ids import new_uuid
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.assignments.facts import VaultFacts
from lorebank.vaults.assignments.grants import Grants
from lorebank.vaults.assignments.host import Host
from lorebank.vaults.assignments.inventory import Inventory, files_probe, inventory
from lorebank.vaults.assignments.operator import Operator
from lorebank.vaults.assignments.sharing import Sharing
from lorebank.vaults.store import making

OWNER = Operator("owner", lambda agent: True, everything=True)

SHARED = """// Who shares what.
{
  // The family's knowledge.
  stores: {
    personal: { label: "Personal", agents: ["main", "research"] }, // both mine
    /* at work */
    team: {
      label: 'Team',
      agents: [
        "clerk", // she
        "bot",
      ],
    },
  },
  operatorRead: true, // I look myself
}
"""


def role(*agents: str) -> Operator:
    """An operator whose role names these agents."""
    return Operator("deputy", lambda agent: agent in agents)


@dataclass
class World:
    """Everything over one folder."""

    root: Path
    registry: SqliteKnowledgeRegistry
    facts: VaultFacts
    sharing: Sharing
    grants: Grants
    host: Host

    @property
    def config(self) -> Path:
        return self.root / "knowledge.json5"

    @property
    def knowledge(self) -> Path:
        return self.root / "knowledge"

    def use(self, agent: str) -> str:
        """What the agent's first authorised use does: make the store's folder and files."""
        membership = self.facts.data.membership(agent)
        assert membership.binding
        new = new_uuid()
        row = self.registry.begin_store(new, f"stores/{new}", membership.binding, 1)
        folder = self.knowledge / row.location
        if row.state == "creating":
            making.build(folder, new, writable=False)
            self.registry.store_ready(row.vault)
        return row.vault

    def vault(self, agent: str) -> str | None:
        return self.facts.data.membership(agent).vault

    def state(self, agent: str) -> str:
        return self.facts.data.membership(agent).state

    def look(self, operator: Operator = OWNER) -> Inventory:
        return inventory(self.facts, self.registry, operator, files_probe(self.knowledge))

    def tree(self) -> list[tuple[str, bytes]]:
        """All store files."""
        files = sorted(path for path in self.knowledge.glob("stores/**/*"))
        return [(str(path), path.read_bytes() if path.is_file() else b"") for path in files]


@contextmanager
def opened(root: Path, config: str | None = None) -> Iterator[World]:
    """The world in a folder, with this configuration if any is given."""
    if config is not None:
        (root / "knowledge.json5").write_text(config)
    registry = SqliteKnowledgeRegistry(root / "knowledge")
    facts = VaultFacts(registry, root / "knowledge.json5", Epoch())
    yield World(root, registry, facts, Sharing(facts, registry), Grants(facts, registry), Host(registry))
    registry.close()


Opener = Callable[[str | None], World]
