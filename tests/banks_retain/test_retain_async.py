"""Asynchronous retain: acknowledged when durable, done in slices, never twice."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from retain_bank import Bank, failing_commits

from lorebank import clock
from lorebank.banks import operations
from lorebank.banks.retain import work
from lorebank.banks.retain.items import Item
from lorebank.banks.retain.reprocess import run_reprocess, submit_reprocess
from lorebank.banks.retain.submit import submit
from lorebank.banks.retain.work import run_retain, slice_end
from lorebank.errors import BadRequest, Conflict, InvalidInput, NotFound
from lorebank.ids import new_uuid
from lorebank.jobs.kinds import Job, JobKind
from lorebank.jobs.worker import Policy, Worker
from lorebank.storage.ports import Page

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def said(text: str, **more: object) -> Item:
    return Item(text, when=NOON, **more)  # type: ignore[arg-type]


def crates(number: int) -> list[Item]:
    return [said(f"Crate {n} stands in row {n * 7}.") for n in range(number)]


def run(bank: Bank) -> None:
    """Run the next operation as a worker does."""
    job = bank.lease()
    assert job is not None
    bank.finish(job, run_retain(job, bank.tools))


def test_a_queued_batch_is_stored_by_its_job_and_its_payload_dropped(bank: Bank) -> None:
    [operation_id] = submit(bank.handle, bank.tools, crates(3))
    assert bank.operation(operation_id).status == "pending" and bank.count() == 0
    assert bank.operation(operation_id).principal == {"kind": "user", "id": "root", "name": "user:root"}
    run(bank)
    done = bank.operation(operation_id)
    assert (done.status, done.payload, bank.count(), len(bank.documents())) == ("completed", None, 3, 1)
    assert bank.woken == ["jobs", "vectors"]


def test_a_wrong_item_refuses_the_batch_before_anything_is_queued(bank: Bank) -> None:
    with pytest.raises(InvalidInput, match=r"items\[1\]\.content"):
        submit(bank.handle, bank.tools, [said("Mona sold the violin."), said("")])
    with bank.handle.read() as reader:
        assert reader.operations(None, None, False, Page(10)).total == 0


def test_a_document_named_twice_in_one_batch_is_refused(bank: Bank) -> None:
    items = [said("Mona sold the violin.", document_id="d"), said("Erik bought it.", document_id="d")]
    with pytest.raises(BadRequest, match="'d' is used by 2 items"):
        submit(bank.handle, bank.tools, items)


def test_each_strategy_is_an_operation_of_its_own(bank: Bank) -> None:
    bank.configure(retain_strategies={"logs": {"retain_extraction_mode": "chunks"}})
    items = [
        said("Mona sold the violin."),
        said("Erik bought a harp.", strategy="logs"),
        said("Ada left Oslo."),
    ]
    first, second = submit(bank.handle, bank.tools, items)
    assert (bank.operation(first).items_count, bank.operation(second).items_count) == (2, 1)
    with pytest.raises(BadRequest, match="several strategies"):
        submit(bank.handle, bank.tools, items, operation_id=new_uuid())


def test_the_same_request_under_the_same_id_is_answered_once(bank: Bank) -> None:
    wanted = new_uuid()
    assert submit(bank.handle, bank.tools, crates(2), ("t",), wanted) == [wanted]
    assert submit(
        bank.handle,
        bank.tools,
        [Item(i.content, when=clock.to_datetime(clock.now())) for i in crates(2)],
        ("t",),
        wanted.upper(),
    ) == [wanted]
    run(bank)
    assert submit(bank.handle, bank.tools, crates(2), ("t",), wanted) == [wanted]
    assert bank.lease() is None and bank.count() == 2


def test_another_request_under_a_used_id_is_a_conflict(bank: Bank) -> None:
    wanted = new_uuid()
    submit(bank.handle, bank.tools, crates(2), (), wanted)
    with pytest.raises(Conflict, match=wanted):
        submit(bank.handle, bank.tools, crates(3), (), wanted)
    with pytest.raises(Conflict, match=wanted):
        submit(bank.handle, bank.tools, crates(2), ("t",), wanted)


def test_an_operation_id_must_be_a_uuid(bank: Bank) -> None:
    with pytest.raises(BadRequest, match="operation_id must be a UUID"):
        submit(bank.handle, bank.tools, crates(1), (), "seven")


def test_a_big_batch_goes_on_behind_its_last_slice_after_a_crash(bank: Bank) -> None:
    [operation_id] = submit(bank.handle, bank.tools, crates(work.SLICE_ITEMS * 2 + 50))
    job = bank.lease()
    assert job is not None
    with failing_commits(after=1), pytest.raises(RuntimeError):
        run_retain(job, bank.tools)
    assert bank.count() == work.SLICE_ITEMS == bank.operation(operation_id).processed
    bank.restart()  # the lease of a process that is gone has lapsed
    run(bank)
    memories = bank.memories()
    assert len(memories) == work.SLICE_ITEMS * 2 + 50
    assert {memory.proof_count for memory in memories} == {1}
    [document] = bank.documents()
    assert document.text_length == sum(len(i.content) + 1 for i in crates(work.SLICE_ITEMS * 2 + 50)) - 1
    indexes = [chunk.chunk_index for chunk in bank.chunks(document.id)]
    assert indexes == list(range(len(memories)))


def test_a_job_that_is_run_again_after_its_last_slice_stores_nothing_twice(bank: Bank) -> None:
    submit(bank.handle, bank.tools, [said("Mona: I sold it.", document_id="d", append=True)])
    job = bank.lease()
    assert job is not None
    run_retain(job, bank.tools)  # and a kill before the operation could be finished
    bank.restart()
    run(bank)
    [memory] = bank.memories()
    assert memory.proof_count == 1 and len(bank.chunks("d")) == 1


def test_a_cancelled_job_stores_no_further_slice(bank: Bank) -> None:
    [operation_id] = submit(bank.handle, bank.tools, crates(3))
    job = bank.lease()
    assert job is not None
    operations.cancel(bank.handle, operation_id, clock.now())
    with pytest.raises(Conflict, match="cancelled"):
        run_retain(job, bank.tools)
    assert bank.count() == 0
    assert (bank.operation(operation_id).status, bank.operation(operation_id).payload) == ("cancelled", None)


def test_a_pending_operation_can_be_cancelled_and_deleted_but_not_retried(bank: Bank) -> None:
    [operation_id] = submit(bank.handle, bank.tools, crates(3), (), new_uuid())
    with pytest.raises(Conflict, match="cancel it first"):
        operations.delete(bank.handle, operation_id)
    operations.cancel(bank.handle, operation_id, clock.now())
    with pytest.raises(Conflict, match="is cancelled"):
        operations.cancel(bank.handle, operation_id, clock.now())
    with pytest.raises(Conflict, match="only failed ones"):
        operations.retry(bank.handle, bank.banks, bank.tools.jobs, operation_id, clock.now())
    operations.delete(bank.handle, operation_id)
    assert operations.find(bank.handle, operation_id) is None
    with bank.handle.read() as reader:
        assert reader.meta(operations.request_name(operation_id)) is None


def test_a_failed_operation_goes_on_where_it_stopped_when_it_is_retried(bank: Bank) -> None:
    [operation_id] = submit(bank.handle, bank.tools, crates(work.SLICE_ITEMS + 1))
    job = bank.lease()
    assert job is not None
    with failing_commits(after=1), pytest.raises(RuntimeError):
        run_retain(job, bank.tools)
    with bank.handle.write() as writer:
        writer.finish_operation(operation_id, job.token, "failed", clock.now(), error="the disk is gone")
    operations.retry(bank.handle, bank.banks, bank.tools.jobs, operation_id, clock.now())
    assert (bank.operation(operation_id).status, bank.operation(operation_id).error) == ("pending", None)
    run(bank)
    assert bank.count() == work.SLICE_ITEMS + 1


def test_operations_that_do_not_exist_are_not_found(bank: Bank) -> None:
    unknown = new_uuid()
    assert operations.find(bank.handle, unknown) is None
    with pytest.raises(NotFound, match=unknown):
        operations.cancel(bank.handle, unknown, clock.now())
    with pytest.raises(BadRequest, match="operation_id"):
        operations.find(bank.handle, "x")
    with pytest.raises(BadRequest, match="status must be one of"):
        operations.listing(bank.handle, "running", None, False, Page(10))


def test_slices_are_bounded_in_items_and_characters_and_never_empty() -> None:
    assert slice_end(crates(450), 0) == work.SLICE_ITEMS
    assert slice_end(crates(450), 400) == 450
    long = [said("x" * work.SLICE_CHARS), said("y"), said("z")]
    assert (slice_end(long, 0), slice_end(long, 1)) == (1, 3)


def test_a_reprocess_extracts_the_stored_text_under_the_settings_of_today(bank: Bank) -> None:
    text = "Mona: I bought a violin in Bergen.\nErik: I sold my cello yesterday."
    bank.retain(said(text, document_id="d", tags=("t",)))
    assert len(bank.memories()) == 2
    bank.configure(retain_extraction_mode="chunks")
    operation = submit_reprocess(bank.handle, bank.tools, "d")
    job = bank.lease()
    assert job is not None and job.operation.id == operation.id
    bank.finish(job, run_reprocess(job, bank.tools))
    [memory] = bank.memories()
    assert (memory.text, memory.tags, memory.mentioned_at) == (text, ("t",), clock.to_micros(NOON))
    assert [event.kind for event in bank.events("d")] == ["reprocess", "retain"]


def test_a_reprocess_gives_each_part_its_own_date_again(bank: Bank) -> None:
    later = datetime(2026, 5, 1, 9, tzinfo=UTC)
    bank.retain(Item("Mona: I sold the violin yesterday.", "", NOON, document_id="d", append=True))
    bank.retain(Item("Mona: I bought a harp yesterday.", "", later, document_id="d", append=True))
    dates = sorted((m.text, m.occurred_start, m.mentioned_at) for m in bank.memories())
    submit_reprocess(bank.handle, bank.tools, "d")
    job = bank.lease()
    assert job is not None
    bank.finish(job, run_reprocess(job, bank.tools))
    assert sorted((m.text, m.occurred_start, m.mentioned_at) for m in bank.memories()) == dates


def test_a_reprocess_needs_a_document_with_its_text(bank: Bank) -> None:
    with pytest.raises(NotFound, match="'d' not found"):
        submit_reprocess(bank.handle, bank.tools, "d")
    bank.configure(store_document_text=False)
    bank.retain(said("Mona sold the violin.", document_id="d"))
    with pytest.raises(BadRequest, match="store_document_text"):
        submit_reprocess(bank.handle, bank.tools, "d")


def test_queued_appends_to_one_document_are_stored_in_the_order_of_their_requests(bank: Bank) -> None:
    for word in ("violin", "harp"):
        submit(bank.handle, bank.tools, [said(f"Mona: I sold the {word}.", document_id="d", append=True)])
    first = bank.lease()
    assert first is not None and bank.lease() is None  # the second waits for the first
    bank.finish(first, run_retain(first, bank.tools))
    run(bank)
    document = bank.document("d")
    assert document is not None and document.text == "Mona: I sold the violin.\nMona: I sold the harp."


def test_an_item_that_fails_every_time_ends_as_failed_after_its_retries(bank: Bank) -> None:
    [operation_id] = submit(bank.handle, bank.tools, crates(2))
    tried = []

    def run_once(job: Job) -> dict[str, Any]:
        tried.append(job.operation.retry_count)
        return run_retain(job, bank.tools)

    ended = threading.Event()
    worker = Worker(
        bank.banks,
        bank.resolver,
        {"retain": JobKind("retain", "bank:retain", run_once)},
        Policy(threads=1, retries=2, backoff_s=0.01),
        clock.now,
        lambda kind, status: ended.set() if status == "failed" else None,
    )
    with failing_commits():
        worker.start()
        assert ended.wait(20)
    worker.close()
    failed = bank.operation(operation_id)
    assert (failed.status, failed.retry_count, tried) == ("failed", 2, [0, 1, 2])
    assert failed.error and "disk" not in failed.error  # the reason is for the log
    assert bank.lease() is None and bank.count() == 0


def test_a_worker_finds_the_work_that_a_dead_process_left(bank: Bank) -> None:
    submit(bank.handle, bank.tools, crates(2))
    bank.restart()
    ended = threading.Event()
    kinds = {"retain": JobKind("retain", "bank:retain", lambda job: run_retain(job, bank.tools))}
    worker = Worker(
        bank.banks, bank.resolver, kinds, Policy(threads=1), clock.now, lambda kind, status: ended.set()
    )
    worker.start()
    assert ended.wait(20)
    worker.close()
    assert bank.count() == 2
