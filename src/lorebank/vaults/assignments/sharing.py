"""Share this store, use a shared store, use the own store (seed 000, Manage stores from the Control UI).

Each edits the store map in the configuration and, when a store gets another name, its binding in the
registry. The two are kept together by a journal: plan -> file -> settle (`recovery` says what a kill leaves).
No data is copied, moved or merged, ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lorebank import clock
from lorebank.access.knowledge import KnowledgeData, Membership, NamedStore
from lorebank.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from lorebank.ids import new_uuid
from lorebank.storage.knowledge_ports import AssignmentRow, KnowledgeRegistry
from lorebank.vaults.assignments.config import check_store_name
from lorebank.vaults.assignments.config_file import LoadedConfig, digest
from lorebank.vaults.assignments.edit import edited
from lorebank.vaults.assignments.facts import VaultFacts
from lorebank.vaults.assignments.operator import Operator, check_agent
from lorebank.vaults.assignments.recovery import Change
from lorebank.vaults.assignments.replace import replace_config

_ATTEMPTS = 5
MAX_LABEL = 200
"""Longest label of a named store, in characters."""


@dataclass(frozen=True, slots=True)
class _Plan:
    stores: Mapping[str, NamedStore]
    bindings: Mapping[str, str | None]


class Sharing:
    """The three changes, one at a time. Each gives back the agent's store as it is then."""

    def __init__(self, facts: VaultFacts, registry: KnowledgeRegistry) -> None:
        self._facts = facts
        self._registry = registry
        self._lock = threading.Lock()

    def share(
        self, operator: Operator, agent: str, name: str, label: str | None, agents: Sequence[str]
    ) -> Membership:
        """The agent's own store becomes the named store `name`, with the same data, for these agents too;
        they leave the named stores that they were in.

        `Forbidden` outside the role; `InvalidInput` for names that cannot be; `Conflict` when the agent is in
        a named store already, is not on the host any more, or the name is taken.
        """
        agent, name = check_agent(agent), check_store_name(name, "name")
        members = tuple(dict.fromkeys([agent, *(check_agent(one, "agents") for one in agents)]))
        store = NamedStore(name, _label(label, name), members)
        operator.check(members)
        return self._assign(
            operator, Change("share", agent, name), lambda data: _plan_share(data, agent, store)
        )

    def use_shared(self, operator: Operator, agent: str, name: str, label: str | None = None) -> Membership:
        """The agent joins a named store, and leaves any other. A store whose entry was removed from the map
        gets it back, with `label`.

        `NotFound` when there is no such store that the operator can see.
        """
        agent, name = check_agent(agent), check_store_name(name, "name")
        operator.check([agent])
        made = NamedStore(name, _label(label, name), ())
        return self._assign(
            operator,
            Change("use_shared", agent, name),
            lambda data: _plan_join(data, agent, made, operator),
        )

    def use_own(self, operator: Operator, agent: str) -> Membership:
        """The agent leaves the named stores. Its earlier store is there again, or a new empty one is made
        when it is first used."""
        agent = check_agent(agent)
        operator.check([agent])
        return self._assign(
            operator, Change("use_own", agent), lambda data: _Plan(_left(data, [_present(data, agent)]), {})
        )

    def _assign(
        self, operator: Operator, change: Change, planned: Callable[[KnowledgeData], _Plan]
    ) -> Membership:
        with self._lock:
            self._facts.begin_assigning()
            try:
                self._change(operator, change, planned)
            finally:
                # Whatever happened on the way, the file says how it ended: done or cancelled.
                self._facts.end_assigning()
            return self._facts.data.membership(change.agent)

    def _change(self, operator: Operator, change: Change, planned: Callable[[KnowledgeData], _Plan]) -> None:
        for _ in range(_ATTEMPTS):
            config = self._facts.refresh()
            data = self._facts.data
            if data.problem is not None:
                raise StoreUnavailable(data.reason, data.problem)
            plan = planned(data)
            content = _content(config, plan.stores)
            if content is None:
                return
            row = _row(operator, change, config, content, plan)
            self._registry.plan_assignment(row)
            # From here on no store is made; one that was made just before changes the plan.
            if self._registry.bindings() == dict(data.bindings):
                replace_config(self._facts.config_path, row.before, content)
                self._registry.settle_assignment(row.id, "done")
                return
            self._registry.settle_assignment(row.id, "cancelled")
        raise Conflict("the stores were changed by others again and again; try again")


def _plan_share(data: KnowledgeData, agent: str, store: NamedStore) -> _Plan:
    for one in store.agents:
        _present(data, one)
    state = data.membership(agent).state
    if state != "own":
        raise Conflict(
            f"the agent '{agent}' is in a named store; let it use its own store first, or let the others join"
        )
    binding, own = f"named:{store.name}", data.bindings.get(f"own:{agent}")
    if store.name in data.settings.stores:
        raise Conflict(f"there is a store '{store.name}' already; choose another name, or join it")
    if binding in data.bindings:
        raise Conflict(f"an unassigned store is called '{store.name}'; choose another name, or join it")
    stores = {**_left(data, store.agents), store.name: store}
    return _Plan(stores, {} if own is None else {f"own:{agent}": None, binding: own})


def _plan_join(data: KnowledgeData, agent: str, made: NamedStore, operator: Operator) -> _Plan:
    _present(data, agent)
    there = data.settings.stores.get(made.name)
    known = there is not None or f"named:{made.name}" in data.bindings
    if not known or not operator.sees(there.agents if there else ()):
        raise NotFound(
            f"there is no shared store '{made.name}' that this agent could be given; "
            "'lorebank vault stores' lists them, 'lorebank vault share' makes one"
        )
    stores = _left(data, [agent], but=made.name)
    target = stores.get(made.name, made)
    if agent not in target.agents:
        stores[made.name] = replace(target, agents=(*target.agents, agent))
    return _Plan(stores, {})


def _left(data: KnowledgeData, agents: Sequence[str], but: str | None = None) -> dict[str, NamedStore]:
    """The map without these agents, except in one store."""
    return {
        name: store
        if name == but
        else replace(store, agents=tuple(a for a in store.agents if a not in agents))
        for name, store in data.settings.stores.items()
    }


def _present(data: KnowledgeData, agent: str) -> str:
    if agent in data.removed:
        raise Conflict(f"the host does not have the agent '{agent}' any more; its store stays as it is")
    return agent


def _content(config: LoadedConfig, stores: Mapping[str, NamedStore]) -> bytes | None:
    """The edited file; None when there is nothing to change."""
    raw = None if config.parsed is None else config.parsed.text.encode()
    if stores == config.settings.stores:
        return None
    return edited(raw, stores)


def _row(
    operator: Operator, change: Change, config: LoadedConfig, content: bytes, plan: _Plan
) -> AssignmentRow:
    return AssignmentRow(
        id=new_uuid(),
        operation=change.encoded(),
        before=config.sha256,
        after=digest(content),
        bindings=plan.bindings,
        state="planned",
        at=clock.now(),
        by=operator.by,
    )


def _label(label: str | None, name: str) -> str:
    text = (label or "").strip() or name
    if len(text) > MAX_LABEL or not text.isprintable():
        raise InvalidInput(f"label must be at most {MAX_LABEL} printable characters")
    return text
