"""The table of job kinds: an operation's type, the action it needs, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lorebank import clock
from lorebank.access.resolve import Resolver
from lorebank.banks import files
from lorebank.banks.retain import reprocess, work
from lorebank.banks.retain.service import Tools
from lorebank.banks.transfer import jobs as transfer
from lorebank.banks.transfer.jobs import TransferTools
from lorebank.banks.vectors import VectorBuilder
from lorebank.bootstrap.models import Models
from lorebank.config import Settings
from lorebank.jobs.kinds import Job, JobKind
from lorebank.jobs.worker import Policy, Worker
from lorebank.metrics import Metrics
from lorebank.models.parse import FileParser
from lorebank.storage.ports import Banks

Run = Callable[[Job], Mapping[str, Any]]


def build_worker(
    settings: Settings,
    banks: Banks,
    resolver: Resolver,
    builder: VectorBuilder,
    models: Models,
    metrics: Metrics,
) -> Worker:
    """A worker that knows every kind of job of this version."""
    kinds: dict[str, JobKind] = {}
    policy = Policy(
        threads=settings.job_workers,
        retries=settings.job_retries,
        backoff_s=settings.job_backoff,
        lease_s=settings.job_lease,
    )
    worker = Worker(banks, resolver, kinds, policy, clock.now, metrics.jobs.add)
    tools = Tools(banks, settings.bank_defaults, clock.now, builder.notify, worker.notify)
    parser = FileParser()
    moving = TransferTools(
        banks=banks,
        resolver=resolver,
        settings=settings,
        clock=clock.now,
        model_id=lambda: models.embedders.target.model_id,
        jobs=worker.notify,
        vectors=builder.notify,
    )
    table = (
        JobKind("retain", "bank:retain", lambda job: work.run_retain(job, tools)),
        JobKind("file_convert_retain", "bank:retain", lambda job: files.run_file(job, tools, parser)),
        JobKind(
            "reprocess_document", "bank:documents:update", lambda job: reprocess.run_reprocess(job, tools)
        ),
        JobKind("export_bank", "bank:export", lambda job: transfer.run_export(job, moving)),
        JobKind("export_documents", "bank:export", lambda job: transfer.run_export(job, moving)),
        JobKind("import_bank", "bank:import", lambda job: transfer.run_import_bank(job, moving)),
        JobKind("import_documents", "bank:import", lambda job: transfer.run_import_documents(job, moving)),
        JobKind("clone_bank", "bank:clone", lambda job: transfer.run_clone_bank(job, moving)),
    )
    kinds.update({kind.name: kind for kind in table})
    return worker
