"""The scheduled pass, the check of all stores, what needs an operator's decision, and imports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lorebank.access.actions import KNOWLEDGE_ADMIN, KNOWLEDGE_READ
from lorebank.errors import BadRequest
from lorebank.service.guard import Call
from lorebank.service.handlers.knowledge_stores import operator_of
from lorebank.service.handlers.maintenance import task_json
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.service.tasks import Progress

CHECK, IMPORT, PASS = "knowledge-check", "knowledge-import", "knowledge-maintenance"
_KINDS = (CHECK, IMPORT, PASS)


def get_knowledge_maintenance(call: Call) -> Wire:
    """Schedule, next and last run, counts of the stores of the caller's agents."""
    from lorebank.vaults.maintenance.status import status

    knowledge = call.context.knowledge
    return status(knowledge.maintenance, knowledge.facts, knowledge.registry, operator_of(call).sees)


def run_knowledge_maintenance(call: Call) -> Wire:
    """Start a pass now, as a task."""
    knowledge = call.context.knowledge

    def work(_: Progress) -> Mapping[str, Any]:
        from lorebank.vaults.maintenance.status import run_json

        done = knowledge.maintenance.run_now()
        return run_json(done, knowledge.facts.data, knowledge.registry, lambda agents: True)

    return task_json(call.context.tasks.start(PASS, work))


def check_knowledge_stores(call: Call) -> Wire:
    """Start looking at every store (manifest, journal, catalogue, evidence, git) and at the store map."""
    knowledge, read_all = call.context.knowledge, call.request.read_all

    def work(progress: Progress) -> Mapping[str, Any]:
        stores = knowledge.upkeep.check(read_all, progress)
        return {"stores": stores, "settings": knowledge.facts.data.faults()}

    return task_json(call.context.tasks.start(CHECK, work))


def resolve_knowledge_publication(call: Call) -> Wire:
    """End a publication that a change of its files stopped: keep its text, or the files' text."""
    asked, upkeep = call.request, call.context.knowledge.upkeep
    return dict(upkeep.resolve(call.params["vault_id"], asked.folder, asked.request_id, asked.keep))


def accept_knowledge_folders(call: Call) -> Wire:
    """Say that a store's folders are the right ones, after its files were moved or copied."""
    return dict(call.context.knowledge.upkeep.accept_folders(call.params["vault_id"]))


def import_knowledge_store(call: Call) -> Wire:
    """Start reading the vaults of another program into new stores."""
    asked, upkeep = call.request, call.context.knowledge.upkeep
    source = Path(asked.path)
    if not source.is_absolute():
        raise BadRequest("path must be absolute: it names a folder on the server's machine")

    def work(progress: Progress) -> Mapping[str, Any]:
        return upkeep.read_in(source, asked.name, asked.agent, progress)

    return task_json(call.context.tasks.start(IMPORT, work))


def get_knowledge_task(call: Call) -> Wire:
    """The state of a check, an import or a pass and, when it has ended, what it found."""
    task = call.context.tasks.get(call.params["task_id"])
    if task is None or task.kind not in _KINDS:
        return {"operation_id": call.params["task_id"], "status": "not_found"}
    return task_json(task)


OPERATIONS = (
    Operation("get_knowledge_maintenance", KNOWLEDGE_READ, Scope.AGENTS, get_knowledge_maintenance),
    Operation("run_knowledge_maintenance", KNOWLEDGE_ADMIN, Scope.SERVER, run_knowledge_maintenance),
    Operation("check_knowledge_stores", KNOWLEDGE_ADMIN, Scope.SERVER, check_knowledge_stores),
    Operation("resolve_knowledge_publication", KNOWLEDGE_ADMIN, Scope.SERVER, resolve_knowledge_publication),
    Operation("accept_knowledge_folders", KNOWLEDGE_ADMIN, Scope.SERVER, accept_knowledge_folders),
    Operation("import_knowledge_store", KNOWLEDGE_ADMIN, Scope.SERVER, import_knowledge_store),
    Operation("get_knowledge_task", KNOWLEDGE_ADMIN, Scope.SERVER, get_knowledge_task, reads=True),
)
