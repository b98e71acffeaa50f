"""The facts that decisions on knowledge rest on, as one snapshot of configuration and registry.

Every look notices an edited configuration by one `stat`, and every change of the registry announces itself.
The new snapshot is in place before the access epoch rises, so nobody can decide anew by old facts.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from lorebank.access.knowledge import ConversationGrant, KnowledgeData
from lorebank.access.reasons import CONFIG_INVALID
from lorebank.access.resolve import Epoch
from lorebank.errors import LorebankError, StoreUnavailable, Unavailable
from lorebank.storage.knowledge_ports import KnowledgeRegistry, RegistryPicture
from lorebank.vaults.assignments.config_file import LoadedConfig, Signature, load_config, signature_of
from lorebank.vaults.assignments.recovery import outcome_of, planned_bindings

_EMPTY = RegistryPicture({}, (), None, frozenset(), frozenset(), None)


class VaultFacts:
    """`access.knowledge.KnowledgeFacts`. Making it settles an assignment that a kill left open."""

    def __init__(self, registry: KnowledgeRegistry, config: Path, epoch: Epoch) -> None:
        self._registry = registry
        self._path = config
        self._epoch = epoch
        self._lock = threading.RLock()
        self._assigning = 0
        self._signature: Signature | None = None
        self._config = load_config(config)
        self._ended: frozenset[str] = frozenset()
        self._data = KnowledgeData()
        registry.listen(self._registry_changed)
        self._renew()

    @property
    def data(self) -> KnowledgeData:
        """See the port."""
        problem = self._registry.problem
        stale = self._signature is None or signature_of(self._path) != self._signature
        if stale or (problem is not None and self._data.problem is None):
            self.refresh()
        return self._data

    @property
    def config(self) -> LoadedConfig:
        """The configuration file as it was read last."""
        return self._config

    @property
    def config_path(self) -> Path:
        """Where it is."""
        return self._path

    def session_uuid(self, session_id: str, *, record: bool) -> str:
        """See the port."""
        return self._registry.session_uuid(session_id, record=record)

    def invocation_ended(self, invocation: str) -> bool:
        """See the port."""
        return invocation in self._ended

    def refresh(self) -> LoadedConfig:
        """Read the configuration again; the epoch rises when that changed anything."""
        with self._lock:
            before = self._data
            self._config = load_config(self._path)
            self._renew()
            if self._data != before:
                self._epoch.advance()
            return self._config

    def begin_assigning(self) -> None:
        """From here to `end_assigning` the open assignment is somebody's who is at work on it."""
        with self._lock:
            self._assigning += 1

    def end_assigning(self) -> None:
        """See `begin_assigning`; what was left open is settled by the file."""
        with self._lock:
            self._assigning -= 1
        self.refresh()

    def _registry_changed(self, rights: bool) -> None:
        with self._lock:
            self._renew()
            if rights:
                self._epoch.advance()

    def _renew(self) -> None:
        """A snapshot from the configuration read last and the registry as it is."""
        with self._lock:
            config = self._config
            self._signature = config.signature
            data = self._made(config)
            if data != self._data:  # one that says the same stays, so that nobody compares it again
                self._data = data

    def _made(self, config: LoadedConfig) -> KnowledgeData:
        try:
            picture = self._settled(config)
        except LorebankError as exc:
            if not isinstance(exc, StoreUnavailable):
                self._signature = None  # a passing trouble of the disk: look again at the next time
            return KnowledgeData(problem=exc.message, reason=_reason(exc))
        self._ended = picture.ended
        return KnowledgeData(
            settings=config.settings,
            problem=config.problem,
            reason=CONFIG_INVALID,
            bindings=MappingProxyType(planned_bindings(picture, config)),
            grants=_by_agent(picture.grants),
            known=picture.known,
            removed=picture.removed,
        )

    def _settled(self, config: LoadedConfig) -> RegistryPicture:
        """The registry's picture, after a change that nobody is at work on was brought to its end."""
        picture = self._registry.picture()
        if picture.open is None or self._assigning:
            return picture
        outcome = outcome_of(picture.open, config)
        if outcome is None:
            return picture
        self._assigning += 1  # settling announces itself, and comes here again
        try:
            self._registry.settle_assignment(picture.open.id, outcome)
        finally:
            self._assigning -= 1
        return self._registry.picture()


def _by_agent(grants: Sequence[ConversationGrant]) -> Mapping[str, tuple[ConversationGrant, ...]]:
    found: dict[str, tuple[ConversationGrant, ...]] = {}
    for grant in grants:
        found[grant.agent] = (*found.get(grant.agent, ()), grant)
    return MappingProxyType(found)


def _reason(exc: LorebankError) -> str:
    if isinstance(exc, StoreUnavailable):
        return exc.reason
    return "busy" if isinstance(exc, Unavailable) else "damaged"
