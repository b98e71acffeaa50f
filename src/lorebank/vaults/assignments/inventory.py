"""The settings list: every agent with its store, and every store there is (statement 1.2.19).

Looking makes nothing (statement 1.1.9). Who has a role sees the stores of its agents only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from lorebank.access.knowledge import KnowledgeData
from lorebank.access.reasons import DUPLICATE_MEMBERSHIP, MANIFEST_MISMATCH, SCAN_INCOMPLETE
from lorebank.errors import StoreUnavailable, Unavailable
from lorebank.storage.knowledge_ports import KnowledgeRegistry, StoreRow
from lorebank.storage.sqlite.foreign import check_ours
from lorebank.vaults.assignments.facts import VaultFacts
from lorebank.vaults.assignments.operator import Operator
from lorebank.vaults.store import making, manifest

AgentStatus = Literal["ok", "not_created", "unavailable", "duplicate", "removed"]
StoreStatus = Literal["ok", "not_created", "unavailable"]
StoreUse = Literal["assigned", "unassigned", "unused"]
Probe = Callable[[StoreRow], str | None]
"""Why a store cannot be used (a code of `access.reasons`), None when nothing is wrong. Opens nothing."""


@dataclass(frozen=True, slots=True)
class AgentLine:
    """One agent. `binding` is `own:<agent>` or `named:<name>`, empty when no store is the agent's.
    `reported`: the host has it now; None before the first report."""

    agent: str
    binding: str
    vault: str | None
    status: AgentStatus
    reason: str | None
    reported: bool | None


@dataclass(frozen=True, slots=True)
class StoreLine:
    """One store. `use`: assigned to somebody or at least in the map; unassigned, a named one whose entry was
    removed; unused, an isolated one whose agent uses another or is gone. `agents`: those who use it now and
    are within the role."""

    binding: str
    name: str | None
    label: str | None
    vault: str | None
    use: StoreUse
    status: StoreStatus
    reason: str | None
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inventory:
    """Both lists, each in order. `problem` says why nothing can be used (configuration or registry)."""

    agents: tuple[AgentLine, ...]
    stores: tuple[StoreLine, ...]
    problem: str | None
    reason: str | None


def inventory(facts: VaultFacts, registry: KnowledgeRegistry, operator: Operator, probe: Probe) -> Inventory:
    """What this operator may see."""
    data = facts.data
    if data.problem is not None:
        return Inventory((), (), data.problem, data.reason)
    rows = {row.vault: row for row in registry.stores()}
    probe = cache(probe)  # many agents may share a store
    agents = _agents(data)
    lines = tuple(_agent_line(data, agent, rows, probe) for agent in sorted(agents) if operator.may(agent))
    stores = [
        _store_line(data, binding, agents, rows, probe, operator) for binding in _bindings(data, agents)
    ]
    loose = [row for vault, row in rows.items() if vault not in data.bindings.values()]
    found = [line for line in stores if line is not None]
    found += [_loose_line(row, probe) for row in loose if operator.everything]
    return Inventory(lines, tuple(found), None, None)


def files_probe(knowledge: Path) -> Probe:
    """Looks at folder, manifest, private partition, and the first bytes of the database (statement 1.1.11).
    What only an opened database tells, an older vault or an exchanged partition, is told at the next use."""

    def probe(row: StoreRow) -> str | None:
        if row.state == "creating":
            return None
        try:
            _look(store_folder(knowledge, row), row.vault)
        except StoreUnavailable as exc:
            return exc.reason
        except Unavailable:  # the disk or its rights do not let us look
            return SCAN_INCOMPLETE
        return None

    return probe


def _look(store: Path, vault: str) -> None:
    """`StoreUnavailable` with what keeps the store from being opened."""
    from lorebank.storage.tree.tree import FileTree  # not at the server's start

    making.check_parts(store)
    check_ours(store / making.DATABASE, "vault")
    with closing(FileTree(store / making.VAULT)) as tree:
        if manifest.read(tree).vault != vault:
            raise manifest.mismatch(MANIFEST_MISMATCH)
        tree.identity(making.PRIVATE)


def store_folder(knowledge: Path, row: StoreRow) -> Path:
    """Where a store is: the registry says it, never the configuration (statements 1.4.39-40)."""
    return knowledge / row.location


def _agents(data: KnowledgeData) -> set[str]:
    """Everybody whom the host, the map or a store names."""
    found = set(data.known or ()) | data.removed
    for store in data.settings.stores.values():
        found.update(store.agents)
    return found | {binding[4:] for binding in data.bindings if binding.startswith("own:")}


def _agent_line(data: KnowledgeData, agent: str, rows: Mapping[str, StoreRow], probe: Probe) -> AgentLine:
    reported = None if data.known is None else agent in data.known
    membership = data.membership(agent)
    if membership.state == "removed":
        return AgentLine(agent, "", None, "removed", None, reported)
    if membership.state == "duplicate":
        return AgentLine(agent, "", None, "duplicate", DUPLICATE_MEMBERSHIP, reported)
    status, reason = _status(membership.vault, rows, probe)
    return AgentLine(agent, membership.binding, membership.vault, status, reason, reported)


def _bindings(data: KnowledgeData, agents: set[str]) -> Sequence[str]:
    """Of every store: bound ones, entries of the map, own stores that agents will have."""
    own = {data.membership(agent).binding for agent in agents} - {""}
    return sorted({*data.bindings, *(f"named:{name}" for name in data.settings.stores), *own})


def _store_line(
    data: KnowledgeData,
    binding: str,
    agents: set[str],
    rows: Mapping[str, StoreRow],
    probe: Probe,
    operator: Operator,
) -> StoreLine | None:
    kind, _, name = binding.partition(":")
    users = sorted(agent for agent in agents if data.membership(agent).binding == binding)
    entry = data.settings.stores.get(name) if kind == "named" else None
    concerned = {*users, *(entry.agents if entry else ()), *([name] if kind == "own" else ())}
    if not operator.sees(concerned):
        return None
    use: StoreUse = "assigned" if users or entry else "unassigned" if kind == "named" else "unused"
    vault = data.bindings.get(binding)
    status, reason = _status(vault, rows, probe)
    shown = tuple(agent for agent in users if operator.may(agent))
    label = entry.label if entry else None
    return StoreLine(binding, name if kind == "named" else None, label, vault, use, status, reason, shown)


def _loose_line(row: StoreRow, probe: Probe) -> StoreLine:
    """A store without a binding."""
    status, reason = _status(row.vault, {row.vault: row}, probe)
    return StoreLine("", row.last_name, None, row.vault, "unassigned", status, reason, ())


def _status(vault: str | None, rows: Mapping[str, StoreRow], probe: Probe) -> tuple[StoreStatus, str | None]:
    row = None if vault is None else rows.get(vault)
    if row is None or row.state == "creating":
        return "not_created", None
    reason = probe(row)
    return ("ok", None) if reason is None else ("unavailable", reason)
