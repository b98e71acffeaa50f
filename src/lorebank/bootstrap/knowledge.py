"""The knowledge stores of one server, put together from settings and an opened data directory."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from lorebank.access.reasons import BUSY, DAMAGED
from lorebank.access.resolve import Epoch, Resolver
from lorebank.access.signed_token import TokenRules
from lorebank.access.vault_resolve import VaultResolver
from lorebank.banks.embedders import Embedders
from lorebank.config import Settings
from lorebank.errors import Conflict, LorebankError, StoreUnavailable
from lorebank.search.columns import Floats
from lorebank.service.context import Knowledge
from lorebank.service.knowledge_upkeep import KnowledgeUpkeep
from lorebank.storage.sqlite.audience_key import ensure_audience_key
from lorebank.storage.sqlite.files import make_folder
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.storage.sqlite.lock import DirectoryLock
from lorebank.vaults.assignments.facts import VaultFacts
from lorebank.vaults.assignments.grants import Grants
from lorebank.vaults.assignments.host import Host
from lorebank.vaults.assignments.inventory import files_probe
from lorebank.vaults.assignments.sharing import Sharing
from lorebank.vaults.find.candidates import Candidates
from lorebank.vaults.find.ports import Embed
from lorebank.vaults.maintenance.service import Maintenance
from lorebank.vaults.maintenance.visits import TicketVisits
from lorebank.vaults.store.care import KnowledgeCare
from lorebank.vaults.store.making import sweep
from lorebank.vaults.store.options import Options
from lorebank.vaults.store.vaults import KnowledgeVaults
from lorebank.vaults.store.vectors import Embedding

log = logging.getLogger(__name__)
_EMBED_S = 2.0


@dataclass(frozen=True, slots=True)
class Shelf:
    """The knowledge of one server and what has to be ended with it."""

    knowledge: Knowledge
    vaults: KnowledgeVaults
    registry: SqliteKnowledgeRegistry
    maintenance: Maintenance
    care: KnowledgeCare
    lock: DirectoryLock | None

    def start(self) -> None:
        """Begin the scheduled pass."""
        self.maintenance.start()

    def drain(self, seconds: float) -> None:
        """Give the vectors of records that were just used at most `seconds` to be completed."""
        if self.vaults.vectors is not None:
            self.vaults.vectors.drain(seconds)

    def close(self) -> None:
        """End the pass, then everything that is under way in the stores."""
        self.maintenance.close()
        self.vaults.close()
        self.registry.close()
        if self.lock is not None:
            self.lock.release()


def build_knowledge(settings: Settings, epoch: Epoch, resolver: Resolver, embedders: Embedders) -> Shelf:
    """Opens nothing but the registry, and never fails for what is wrong with it: banks must be served."""
    folder = settings.knowledge_folder
    lock, problem = _held(folder, settings.data_dir)
    registry = SqliteKnowledgeRegistry(folder, problem)
    _tidy(folder, registry)
    facts = VaultFacts(registry, settings.knowledge_file, epoch)
    deciding = VaultResolver(facts, resolver)
    embedding = Embedding(embedders.target, lambda: facts.data.settings.semantic)
    options = Options(watch=settings.watch_vaults)
    vaults = KnowledgeVaults(folder, registry, deciding, options=options, embedding=embedding)
    maintenance = Maintenance(facts, registry, TicketVisits(vaults, deciding))
    knowledge = Knowledge(
        vaults=vaults,
        facts=facts,
        registry=registry,
        resolver=deciding,
        assigned=facts,
        sharing=Sharing(facts, registry),
        grants=Grants(facts, registry),
        host=Host(registry),
        probe=files_probe(folder),
        candidates=Candidates(),
        maintenance=maintenance,
        upkeep=KnowledgeUpkeep(folder, registry, vaults, deciding),
        embed=_questions(embedding),
    )
    care = KnowledgeCare(folder, registry, vaults, settings.knowledge_file, settings.data_dir, facts)
    return Shelf(knowledge, vaults, registry, maintenance, care, lock)


def _tidy(folder: Path, registry: SqliteKnowledgeRegistry) -> None:
    """Finish or remove what a killed import left. What cannot be done now is done at the next start."""
    try:
        sweep(folder, registry)
    except LorebankError as exc:
        log.warning("leftovers of an import stay in the knowledge folder: %s", exc.message)


def _held(folder: Path, data_dir: Path) -> tuple[DirectoryLock | None, StoreUnavailable | None]:
    """The lock of a knowledge folder that the data directory's own lock does not cover, and why it is not
    to be used when another server has it."""
    if folder.is_relative_to(data_dir):
        return None, None
    try:
        make_folder(folder)
        return DirectoryLock(folder, ""), None
    except Conflict as exc:
        why = "another lorebank server uses this knowledge folder; stop it, or set another knowledge_dir"
        return None, StoreUnavailable(BUSY, why, cause=exc)
    except LorebankError as exc:
        return None, StoreUnavailable(DAMAGED, exc.message, cause=exc)


def audience_rules(settings: Settings) -> TokenRules:
    """Which audience tokens the server accepts; without secrets in the settings those of `audience.key`."""
    secrets = settings.audience_secrets or (ensure_audience_key(settings.data_dir),)
    return TokenRules(secrets, settings.audience_lifetime, settings.token_leeway)


def _questions(embedding: Embedding) -> Embed:
    """Vectors of questions, where `semantic` asks for them now."""

    def embed(text: str) -> Floats | None:
        if not embedding.wanted():
            return None
        try:
            return embedding.service.embed_query(text, _EMBED_S)
        except LorebankError:
            return None

    return embed
