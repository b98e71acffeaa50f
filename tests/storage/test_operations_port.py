"""Operations through the port: leases and fencing, retries, parents, and what ends with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from storage_kit import ALL, NOW, ROOT, SECOND, Engine, open_engine, operation

from lorebank.access.principal import Principal
from lorebank.errors import Conflict, Unavailable
from lorebank.ids import new_uuid
from lorebank.storage.ports import BankHandle, BankWriter, Page
from lorebank.storage.rows import Lease


def lease(writer: BankWriter, at: int = NOW) -> Lease:
    taken = writer.lease_operation(at, 60)
    assert taken is not None
    return taken


def test_an_operation_comes_back_with_its_payload_and_is_listed_without(bank: BankHandle) -> None:
    old, new = operation(), operation("export", at=NOW + 1)
    with bank.write() as writer:
        writer.put_operation(old)
        writer.put_operation(new)
    with bank.read() as reader:
        assert reader.operation(old.id) == old and reader.operation(new_uuid()) is None
        listing = reader.operations(None, None, False, ALL)
        assert list(listing.rows) == [replace(o, payload=None, principal=None) for o in (new, old)]
        assert [o.id for o in reader.operations("pending", "retain", False, Page(1)).rows] == [old.id]
        assert reader.operations("failed", None, False, ALL).total == 0
        assert reader.counts().operations == {"pending": 2}


def test_operations_do_not_move_the_sequence_number(bank: BankHandle) -> None:
    with bank.write() as writer:
        writer.put_operation(operation())
        lease(writer)
    assert bank.seq() == 0


def test_the_oldest_due_operation_is_leased_once(bank: BankHandle) -> None:
    late = operation(at=NOW - 9, next_retry_at=NOW + SECOND)
    first, second = operation(at=NOW - 5), operation(at=NOW - 4)
    with bank.write() as writer:
        for one in (late, second, first):
            writer.put_operation(one)
        taken = [lease(writer), lease(writer)]
        assert [t.operation.id for t in taken] == [first.id, second.id]
        assert taken[0].operation.status == "processing" and taken[0].operation.payload == first.payload
        assert writer.lease_operation(NOW, 60) is None
        assert writer.runnable_at(NOW) == NOW + SECOND
        assert lease(writer, NOW + SECOND).operation.id == late.id


def test_a_lapsed_lease_is_taken_over_and_the_old_holder_is_fenced_off(bank: BankHandle) -> None:
    one = operation(total=5)
    with bank.write() as writer:
        writer.put_operation(one)
        old = lease(writer)
        assert writer.progress(one.id, old.token, "facts", 3, 5)
        assert writer.renew_lease(one.id, old.token, NOW + 70 * SECOND)
        assert writer.lease_operation(NOW + 65 * SECOND, 60) is None
        new = lease(writer, NOW + 70 * SECOND)
        assert new.token > old.token and new.operation.processed == 3
        assert not writer.renew_lease(one.id, old.token, NOW + 999 * SECOND)
        assert not writer.progress(one.id, old.token, "facts", 4, 5)
        assert not writer.finish_operation(one.id, old.token, "completed", NOW)
        assert writer.finish_operation(one.id, new.token, "completed", NOW, result={"n": 1})
    with bank.read() as reader:
        done = reader.operation(one.id)
    assert done is not None
    assert (done.status, done.result, done.completed_at, done.payload) == ("completed", {"n": 1}, NOW, None)


def test_cancelling_fences_off_the_holder(bank: BankHandle) -> None:
    one = operation()
    with bank.write() as writer:
        writer.put_operation(one)
        held = lease(writer)
        assert writer.finish_operation(one.id, None, "cancelled", NOW)
        assert not writer.progress(one.id, held.token, "facts", 1, 2)
        assert not writer.finish_operation(one.id, held.token, "completed", NOW)
        assert not writer.finish_operation(new_uuid(), None, "cancelled", NOW)


def test_a_retry_counts_and_waits_and_a_release_does_not(bank: BankHandle) -> None:
    one = operation()
    with bank.write() as writer:
        writer.put_operation(one)
        writer.finish_operation(one.id, lease(writer).token, "pending", NOW)
        writer.finish_operation(
            one.id, lease(writer).token, "pending", NOW, error="no answer", next_retry_at=NOW + SECOND
        )
        assert writer.lease_operation(NOW, 60) is None
        waiting = writer.operation(one.id)
        assert waiting is not None and waiting.payload == one.payload
        assert (waiting.retry_count, waiting.error, waiting.next_retry_at) == (1, "no answer", NOW + SECOND)


def test_blobs_go_with_success_and_stay_for_a_retry(bank: BankHandle) -> None:
    failed, done = (operation(payload={"blobs": [name]}) for name in ("b1", "b2"))
    with bank.write() as writer:
        writer.put_blob("b1", b"one")
        writer.put_blob("b2", b"two")
        writer.put_operation(failed)
        writer.put_operation(done)
        writer.finish_operation(failed.id, None, "failed", NOW, error="broken")
        writer.finish_operation(done.id, None, "completed", NOW)
        assert (writer.blob("b1"), writer.blob("b2")) == (b"one", None)
        assert writer.delete_operation(failed.id)
        assert writer.blob("b1") is None


def test_a_running_operation_is_not_deleted(bank: BankHandle) -> None:
    one = operation()
    with bank.write() as writer:
        writer.put_operation(one)
        assert not writer.delete_operation(one.id)
        writer.finish_operation(one.id, None, "cancelled", NOW)
        assert writer.delete_operation(one.id) and not writer.delete_operation(one.id)


def test_a_parent_ends_with_its_last_part_and_takes_them_along(bank: BankHandle) -> None:
    parent = operation("batch")
    parts = [operation(at=NOW + i, parent_id=parent.id) for i in (1, 2)]
    with bank.write() as writer:
        for one in (*parts, parent):
            writer.put_operation(one)
    with bank.write() as writer:
        assert [o.id for o in writer.operation_children(parent.id)] == [o.id for o in parts]
        assert [o.id for o in writer.operations(None, None, True, ALL).rows] == [o.id for o in parts[::-1]]
        assert lease(writer).operation.id == parts[0].id
        writer.finish_operation(parts[0].id, None, "failed", NOW, error="x")
        unfinished = writer.operation(parent.id)
        assert unfinished is not None and unfinished.status == "pending"
        writer.finish_operation(parts[1].id, None, "completed", NOW)
        ended = writer.operation(parent.id)
        assert ended is not None and ended.status == "failed" and ended.error is not None
        assert writer.delete_operation(parent.id)
        assert writer.operations(None, None, False, ALL).total == 0


def test_two_operations_on_one_document_never_run_side_by_side(bank: BankHandle) -> None:
    first, second = (operation(at=NOW + i, document_id="d") for i in (0, 1))
    with bank.write() as writer:
        writer.put_operation(first)
        writer.put_operation(second)
        held = lease(writer)
        assert writer.lease_operation(NOW, 60) is None
        assert writer.runnable_at(NOW) == held.until == NOW + 60 * SECOND
        writer.finish_operation(first.id, held.token, "completed", NOW)
        assert lease(writer).operation.id == second.id


GUEST = Principal("user", "guest")
OTHERS = (
    ROOT.to_json(),
    {"kind": "user", "id": "root", "root": True},
    Principal("service_account", "guest").to_json(),
    {},
    None,
)


def test_who_sees_his_own_operations_sees_no_other_anywhere(engine: Engine) -> None:
    """Those stored by the version before carry kind and id only."""
    parent = operation("batch", principal=GUEST.to_json())
    mine = [
        parent,
        operation(at=NOW + 1, parent_id=parent.id, principal=GUEST.to_json()),
        operation("export", at=NOW + 2, principal={"kind": "user", "id": "guest", "root": False}),
    ]
    others = [operation(at=NOW + 3, principal=principal) for principal in OTHERS]
    others.append(operation(at=NOW + 4, parent_id=parent.id))
    with engine.bank().write() as writer:
        for one in (*others, *mine):
            writer.put_operation(one)
    engine.rules.own.add("guest")
    handle = engine.bank(user="guest")
    with handle.read() as reader:
        assert [o.id for o in reader.operations(None, None, False, ALL).rows] == [o.id for o in mine[::-1]]
        assert reader.operations(None, None, False, Page(1)).total == 3
        assert reader.counts().operations == {"pending": 3}
        assert [o.id for o in reader.operation_children(parent.id)] == [mine[1].id]
        assert reader.operation(mine[2].id) == mine[2]
        assert [reader.operation(one.id) for one in others] == [None] * len(others)
    with engine.bank().read() as reader:
        assert reader.counts().operations == {"pending": len(mine) + len(others)}


def test_who_sees_his_own_operations_cannot_touch_another(engine: Engine) -> None:
    mine, other = operation(principal=GUEST.to_json()), operation()
    with engine.bank().write() as writer:
        writer.put_operation(other)
    engine.rules.own.add("guest")
    handle = engine.bank(user="guest")
    with handle.write() as writer:
        writer.put_operation(mine)
        assert not writer.finish_operation(other.id, None, "cancelled", NOW)
        assert writer.finish_operation(mine.id, None, "cancelled", NOW)
    with engine.bank().write() as writer:
        writer.finish_operation(other.id, None, "failed", NOW)
    with handle.write() as writer:
        assert not writer.delete_operation(other.id) and writer.delete_operation(mine.id)
    with pytest.raises(Conflict, match="another caller"), handle.write() as writer:
        writer.put_operation(replace(other, payload={"text": "forged"}))
    with engine.bank().read() as reader:
        kept = reader.operation(other.id)
        assert kept is not None and kept.payload == other.payload


def test_an_answer_made_with_others_operations_does_not_leave_once_only_own_ones_are_seen(
    engine: Engine,
) -> None:
    handle = engine.bank(user="guest")
    with pytest.raises(Unavailable, match="rules changed"), handle.read() as reader:
        reader.operations(None, None, False, ALL)
        engine.rules.own.add("guest")
        engine.directory.epoch.advance()


def test_after_a_restart_a_lease_of_the_old_process_is_void(tmp_path: Path) -> None:
    one = operation()
    engine = open_engine(tmp_path / "data")
    with engine.bank().write() as writer:
        writer.put_operation(one)
        held = lease(writer)
    engine.directory.close()
    engine = open_engine(tmp_path / "data")
    with engine.bank().write() as writer:
        assert lease(writer).operation.id == one.id
        assert not writer.progress(one.id, held.token, "facts", 1, 1)
    engine.directory.close()
