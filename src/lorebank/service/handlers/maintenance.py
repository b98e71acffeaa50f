"""Operations on the server as a whole: status, doctor, backup, reembed, and the tasks they start."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lorebank import __version__
from lorebank.access.grant import Ticket
from lorebank.clock import to_iso
from lorebank.errors import BadRequest, LorebankError, NotFound
from lorebank.ids import BankId
from lorebank.models.loading import ModelStatus
from lorebank.service.context import Context
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.tasks import Progress, Task, Work

REEMBED_TO = ("local", "hosted")


def get_server_status(call: Call) -> dict[str, Any]:
    """Sizes, counts, models and their state, waiting work, version and uptime. No path, no text."""
    context = call.context
    return {
        "version": __version__,
        "started_at": to_iso(context.started_at),
        "uptime_seconds": max(0, context.clock() - context.started_at) / 1e6,
        "models": _models(context),
        "tasks": [task_json(task) for task in context.tasks.running()],
        **(_counted(call) if call.params["counts"] else {}),
    }


def _counted(call: Call) -> dict[str, Any]:
    context = call.context
    totals = _totals(context, call)
    return {
        "data": {"name": context.settings.data_dir.name, "bytes": context.maintenance.disk_bytes()},
        "banks": totals["banks"],
        "memories": totals["memories"],
        "documents": totals["documents"],
        "unreadable_banks": totals["unreadable"],
        **_knowledge(context),
        "pending": {
            "operations": totals["pending"] + totals["processing"],
            "failed_operations": totals["failed"],
            "vectors": totals["vectors"],
        },
    }


def _knowledge(context: Context) -> dict[str, Any]:
    """How many knowledge stores there are, how many have lost a part, and what is wrong with all of them."""
    knowledge = context.knowledge_or_none
    if knowledge is None:
        return {}
    try:
        rows = [row for row in knowledge.registry.stores() if row.state == "ready"]
    except LorebankError as exc:
        return {"knowledge": {"stores": None, "unavailable": None, "problem": exc.message}}
    lost = sum(knowledge.probe(row) is not None for row in rows)
    return {"knowledge": {"stores": len(rows), "unavailable": lost, "problem": None}}


def _totals(context: Context, call: Call) -> Counter[str]:
    totals: Counter[str] = Counter()
    for row in context.banks.all_rows(call.grant):
        totals["banks"] += 1
        ticket = context.resolver.ticket(Ticket.MAINTAIN, BankId(row.bank_id))
        try:
            with context.banks.open(ticket).read() as reader:
                counts = reader.counts()
        except NotFound:
            totals["banks"] -= 1
            continue
        except LorebankError:
            totals["unreadable"] += 1
            continue
        totals["memories"] += sum(counts.memories.values())
        totals["documents"] += counts.documents
        totals["vectors"] += counts.pending_vectors
        totals.update({name: counts.operations.get(name, 0) for name in ("pending", "processing", "failed")})
    return totals


def _models(context: Context) -> dict[str, Any]:
    embedder, reranker = context.embedders.target, context.reranker
    return {
        "embedder": _model(embedder.model_id, embedder.status) | {"dimension": embedder.dimension},
        "reranker": _model(reranker.model_id, reranker.status),
    }


def _model(model_id: str, status: ModelStatus) -> dict[str, Any]:
    """A model's state; `idle` is one that is configured and loads when it is first needed."""
    state = "idle" if status.state == "off" and model_id != "off" else status.state
    return {"id": model_id, "state": state, "reason": status.reason or None}


def run_doctor(call: Call) -> dict[str, Any]:
    """Start checking every store; with `rebuild` and `compact` also mend what is derived, or shrink."""
    rebuild, compact = bool(call.request.rebuild), bool(call.request.compact)
    maintenance = call.context.maintenance

    def work(progress: Progress) -> Mapping[str, Any]:
        result: dict[str, Any] = {}
        if rebuild:
            result["rebuilt"] = maintenance.rebuild(progress)
        if compact:
            result["compacted"] = maintenance.compact(progress)
        problems = {bank: list(found) for bank, found in maintenance.check(progress).items()}
        result["checked"] = len(problems)
        for step in ("rebuilt", "compacted"):
            for bank, reason in result.get(step, {}).get("failed", {}).items():
                told = problems.setdefault(bank, [])
                told += [reason] if reason not in told else []
        result["problems"] = {bank: found for bank, found in problems.items() if found}
        return result

    return _started(call, "doctor", work)


def run_backup(call: Call) -> dict[str, Any]:
    """Start a consistent copy into a folder of the server's machine that is empty or not there yet."""
    target = _empty_folder(call.request.target, call.context.settings.data_dir)
    return _started(call, "backup", lambda progress: call.context.maintenance.backup(target, progress))


def _empty_folder(given: str, data_dir: Path) -> Path:
    target = Path(given)
    if not target.is_absolute():
        raise BadRequest("target must be an absolute path on the server's machine")
    target = Path(os.path.normpath(target))
    if target == data_dir or data_dir in target.parents or target in data_dir.parents:
        raise BadRequest("target must lie outside of the data directory")
    try:
        if target.is_dir() and any(target.iterdir()):
            raise BadRequest("target is not empty; a backup never overwrites")
        if target.exists() and not target.is_dir():
            raise BadRequest("target is a file; a backup goes into a folder")
    except OSError as exc:
        raise BadRequest("target cannot be read by the server", cause=exc) from exc
    return target


def run_reembed(call: Call) -> dict[str, Any]:
    """Start making every vector anew with another embedder; the old ones answer until it has ended."""
    to = call.request.to
    if to is not None and to not in REEMBED_TO:
        raise BadRequest("to must be 'local' or 'hosted'")
    embedders = call.context.embedders
    service = embedders.target if to is None else embedders.named(to)
    if service is None or not service.dimension:
        raise BadRequest(
            f"no {to or ''} embedder is configured; set embedder, embed_base_url, embed_model and "
            "embed_dimension, restart the server, and try again".replace("  ", " ")
        )
    maintenance, model_id = call.context.maintenance, service.model_id
    return _started(call, "reembed", lambda progress: maintenance.reembed(model_id, progress))


def get_task(call: Call) -> dict[str, Any]:
    """A task's state and, when it has ended, its result. An unknown id has the status `not_found`."""
    task = call.context.tasks.get(call.params["task_id"])
    if task is None:
        return {"operation_id": call.params["task_id"], "status": "not_found"}
    return task_json(task)


def _started(call: Call, kind: str, work: Work) -> dict[str, Any]:
    return task_json(call.context.tasks.start(kind, work))


def task_json(task: Task) -> dict[str, Any]:
    """A task in the same shape as an operation of a bank."""
    progress = {"stage": task.stage, "processed": task.done, "total": task.total} if task.stage else None
    return {
        "operation_id": task.id,
        "operation_type": task.kind,
        "status": task.status,
        "created_at": to_iso(task.started_at),
        "completed_at": to_iso(task.ended_at),
        "progress": progress,
        "error_message": task.error,
        "result_metadata": dict(task.result) if task.result is not None else None,
    }


OPERATIONS = (
    Operation("get_server_status", "iam:server:status", Scope.SERVER, get_server_status),
    Operation("get_server_task", "iam:server:status", Scope.SERVER, get_task),
    Operation("run_doctor", "iam:server:doctor", Scope.SERVER, run_doctor),
    Operation("run_backup", "iam:server:backup", Scope.SERVER, run_backup),
    Operation("run_reembed", "iam:server:reembed", Scope.SERVER, run_reembed),
)
