"""The jobs that move banks: submitted as operations, run by the worker, safe to run again after a kill.

An export appears whole or not at all. An import is one transaction in the bank it fills; a mark
written with it says that it is done.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lorebank.access.grant import Grant
from lorebank.access.resolve import Resolver
from lorebank.banks import banks as whole_banks
from lorebank.banks.transfer import format as fmt
from lorebank.banks.transfer.contents import Contents
from lorebank.banks.transfer.format import bad
from lorebank.banks.transfer.keys import DOWNLOAD_PATH, export_name, file_key
from lorebank.banks.transfer.merge import Merge
from lorebank.banks.transfer.origin import Honest
from lorebank.banks.transfer.read import Archive
from lorebank.banks.transfer.restore import is_empty, not_empty, restore
from lorebank.banks.transfer.snapshot import Choice, Snapshot
from lorebank.banks.transfer.write import write_archive
from lorebank.clock import Clock, Micros, to_iso
from lorebank.config import Settings
from lorebank.errors import BadRequest, Corrupt, LorebankError, NotFound
from lorebank.ids import check_bank_id
from lorebank.jobs.kinds import Job
from lorebank.storage.ports import BankHandle, Banks, BankWriter

KEPT_FOR: Micros = 24 * 3600 * 1_000_000
"""How long an export can be downloaded."""
_STARTED = "started"
Fill = Callable[[BankWriter, Grant], dict[str, int]]
"""Writes rows, as far as the grant on the bank that is filled allows, and tells how many of each kind."""


@dataclass(frozen=True, slots=True)
class TransferTools:
    """What transfers need besides the bank. `model_id` names the embedder's model; `jobs` and
    `vectors` wake background work."""

    banks: Banks
    resolver: Resolver
    settings: Settings
    clock: Clock
    model_id: Callable[[], str]
    jobs: Callable[[BankHandle], None]
    vectors: Callable[[BankHandle], None]


def target_grant(tools: TransferTools, grant: Grant, bank_id: str) -> Grant:
    """The caller's right to import into the bank of this name; `Forbidden` or `BadRequest`."""
    checked = check_bank_id(bank_id, max_bytes=tools.settings.limits.id_bytes)
    return tools.resolver.resolve(grant.principal, "bank:import", tools.banks.canonical(checked))


def existing(tools: TransferTools, grant: Grant) -> BankHandle | None:
    """The bank that the grant names, None when there is none."""
    try:
        return tools.banks.open(grant)
    except NotFound:
        return None


# running: exports


def run_export(job: Job, tools: TransferTools) -> dict[str, Any]:
    """Write the archive of `export_bank` or `export_documents`; where to download it."""
    payload = _payload(job)
    choice = choice_from_json(payload)
    now = tools.clock()
    job.handle.drop_exports(now - KEPT_FOR)
    _progress(job, "exporting")
    name = export_name(job.operation.id, job.handle.grant.filter)
    with job.handle.read() as reader, job.handle.write_export(name) as file:
        rows = Snapshot(reader, job.handle.bank.bank_id, choice, job.handle.grant.filter)
        manifest = write_archive(file, rows, job.handle.bank, choice, now)
        size = file.tell()
    return {
        "download_url": DOWNLOAD_PATH + file_key(job.handle.bank.bank_id, name),
        "bytes": size,
        "counts": _counts(manifest),
        "expires_at": to_iso(now + KEPT_FOR),
    }


def choice_to_json(choice: Choice) -> dict[str, Any]:
    """A choice as a job carries it."""
    documents = None if choice.documents is None else sorted(choice.documents)
    return {
        "kind": choice.kind,
        "data": choice.data,
        "config": choice.config,
        "documents": documents,
        "observations": choice.observations,
    }


def choice_from_json(data: Mapping[str, Any]) -> Choice:
    """The choice that a job carries."""
    documents = data["documents"]
    chosen = None if documents is None else frozenset(documents)
    return Choice(data["kind"], data["data"], data["config"], chosen, data["observations"])


def _counts(manifest: fmt.Manifest) -> dict[str, int]:
    counted = ((name, part) for name, part in manifest.parts.items() if name != fmt.VECTOR_IDS)
    return {name.partition(".")[0]: part.rows for name, part in counted}


# running: imports


def run_import_bank(job: Job, tools: TransferTools) -> dict[str, Any]:
    """Restore an archive into an empty bank, or merge its documents into one that has content."""
    payload = _payload(job)
    archive = _archive(job)
    _progress(job, "importing")
    if payload["mode"] == "merge":
        return _merge(job, tools, archive, payload)
    overrides, name = _bank_part(archive) if payload["config"] else ({}, None)

    def fill(writer: BankWriter, grant: Grant) -> dict[str, int]:
        if not payload["data"]:
            return {}
        rows = Honest(Contents(archive, tools.settings.limits), grant)
        return restore(writer, rows, payload["target"], tools.model_id()).counts

    return _into_empty(job, tools, payload["target"], name, overrides, fill)


def run_import_documents(job: Job, tools: TransferTools) -> dict[str, Any]:
    """Merge the documents of an archive into the job's own bank."""
    payload = _payload(job)
    archive = _archive(job)
    _progress(job, "importing")
    return _merge(job, tools, archive, payload)


def run_clone_bank(job: Job, tools: TransferTools) -> dict[str, Any]:
    """Copy the job's bank into a new one, row by row, without an archive."""
    payload = _payload(job)
    _progress(job, "cloning")
    source = job.handle.bank
    with job.handle.read() as reader:

        def fill(writer: BankWriter, grant: Grant) -> dict[str, int]:
            if not payload["data"]:
                return {}
            rows = Honest(Snapshot(reader, source.bank_id, Choice(), job.handle.grant.filter), grant)
            return restore(writer, rows, payload["target"], rows.vector_model() or "").counts

        overrides = dict(source.config) if payload["config"] else {}
        return _into_empty(job, tools, payload["target"], None, overrides, fill)


def _merge(job: Job, tools: TransferTools, archive: Archive, payload: Mapping[str, Any]) -> dict[str, Any]:
    grant = target_grant(tools, job.handle.grant, payload["target"])
    target = tools.banks.create(grant, None, tools.clock())
    mark = _mark(job)
    with target.write() as writer:
        done = writer.meta(mark)
        if done is None:
            rows = Honest(Contents(archive, tools.settings.limits), grant)
            merge = Merge(
                writer, rows, target.bank.bank_id, payload["conflict"], job.operation.id, tools.clock()
            )
            merge.run()
            _fence(job, target, writer)
            done = merge.counts
            writer.set_meta(mark, done)
    tools.vectors(target)
    return {"bank_id": target.bank.bank_id, "counts": done}


def _into_empty(
    job: Job,
    tools: TransferTools,
    bank_id: str,
    name: str | None,
    overrides: Mapping[str, Any],
    fill: Fill,
) -> dict[str, Any]:
    """Make the bank when missing and fill it in one transaction; a bank made here goes again on failure."""
    grant = target_grant(tools, job.handle.grant, bank_id)
    whole_banks.checked(overrides, tools.settings)
    mark = _mark(job)
    there = existing(tools, grant)
    made = there is None
    if there is not None:
        _check_overwritten(tools, grant, there, name, overrides)
    target = tools.banks.create(grant, name, tools.clock())
    try:
        if made:
            with target.write() as writer:
                writer.set_meta(mark, _STARTED)
        counts = _filled(job, target, mark, fill)
        whole_banks.create_or_update(tools.banks, grant, tools.settings, name, overrides, tools.clock())
    except LorebankError:
        _withdraw(tools, grant, target, mark)
        raise
    tools.vectors(target)
    return {"bank_id": bank_id, "counts": counts}


def _check_overwritten(
    tools: TransferTools, grant: Grant, there: BankHandle, name: str | None, overrides: Mapping[str, Any]
) -> None:
    """`Forbidden` when a bank has a name or settings already that the caller may not change."""
    row = there.bank
    if row.name and name not in (None, row.name):
        tools.resolver.resolve(grant.principal, "bank:update", grant.bank)
    if any(key in row.config and row.config[key] != value for key, value in overrides.items()):
        tools.resolver.resolve(grant.principal, "bank:config:update", grant.bank)


def _filled(job: Job, target: BankHandle, mark: str, fill: Fill) -> dict[str, int]:
    with target.write() as writer:
        done = writer.meta(mark)
        if isinstance(done, dict):
            return done
        if not is_empty(target, writer):
            raise BadRequest(not_empty(target.bank.bank_id))
        counts = fill(writer, target.grant)
        _fence(job, target, writer)
        writer.set_meta(mark, counts)
        return counts


def _fence(job: Job, target: BankHandle, writer: BankWriter) -> None:
    """Commit only while the job is ours, where the job is in the bank that it fills."""
    if target.store_id == job.handle.store_id:
        job.checkpoint(writer, "importing", 1, 1)


def _withdraw(tools: TransferTools, grant: Grant, target: BankHandle, mark: str) -> None:
    """Delete a bank that this job made, as long as nothing came into it."""
    with target.read() as reader:
        started = reader.meta(mark) == _STARTED
    if started:
        tools.banks.delete(grant)


def _bank_part(archive: Archive) -> tuple[dict[str, Any], str | None]:
    """The overrides and the name in bank.json."""
    found = archive.whole(fmt.BANK)
    if found is None:
        return {}, None
    config, name = found.get("config"), found.get("name")
    if not isinstance(config, dict) or not (name is None or isinstance(name, str)):
        raise bad("bank.json must have a config (an object) and a name (a text)")
    return config, name or None


def _mark(job: Job) -> str:
    return f"import:{job.operation.id}"


def _payload(job: Job) -> Mapping[str, Any]:
    if job.operation.payload is None:
        raise Corrupt("the operation has lost its input; submit it again")
    return job.operation.payload


def _archive(job: Job) -> Archive:
    (blob_id,) = _payload(job)["blobs"]
    with job.handle.read() as reader:
        data = reader.blob(blob_id)
    if data is None:
        raise Corrupt("the archive of the operation is gone; import it again")
    archive = Archive(io.BytesIO(data))
    archive.verify()
    return archive


def _progress(job: Job, stage: str) -> None:
    with job.handle.write() as writer:
        job.checkpoint(writer, stage, 0, 1)
