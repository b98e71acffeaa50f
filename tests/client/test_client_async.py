"""The client library's async methods and background operations."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException


async def test_version(aclient: Hindsight) -> None:
    assert (await aclient.aget_version()).api_version == "1.1.0"


async def test_retain_and_recall(aclient: Hindsight, bank: str) -> None:
    answer = await aclient.aretain(bank, "The ferry to Holm leaves at six.", tags=["ferry"])
    assert answer.success and answer.items_count == 1
    await aclient.aretain_batch(
        bank, [{"content": "Bread is baked on Mondays."}, {"content": "Fish comes on Fridays."}]
    )
    found = await aclient.arecall(bank, "When does the ferry leave?", include_chunks=True, trace=True)
    assert "six" in found.results[0].text and found.chunks and found.trace
    listed = await aclient.alist_memories(bank, tags=["ferry"], tags_match="all_strict")
    assert listed.total == 1


async def test_many_callers_at_once(aclient: Hindsight, bank: str) -> None:
    await asyncio.gather(*(aclient.aretain(bank, f"Buoy number {n} was cleaned.") for n in range(12)))
    found = await asyncio.gather(*(aclient.arecall(bank, f"buoy {n}") for n in range(12)))
    assert all(one.results for one in found)
    assert (await aclient.alist_memories(bank)).total == 12


async def test_a_queued_retain_runs_and_is_idempotent(aclient: Hindsight, bank: str, ended: Any) -> None:
    operation_id = str(uuid.uuid4())
    text = "Orders for sailcloth go to the mill in Vang."
    first = await aclient.aretain(bank, text, retain_async=True, operation_id=operation_id)
    again = await aclient.aretain(bank, text, retain_async=True, operation_id=operation_id)
    assert first.var_async and first.operation_id == again.operation_id == operation_id
    status = await ended(aclient, bank, operation_id)
    assert status.status == "completed" and status.operation_type == "retain"
    assert (await aclient.alist_memories(bank)).total == 1
    assert (await aclient.arecall(bank, "Where is sailcloth ordered?")).results

    listed = await aclient.operations.list_operations(bank)
    assert [one.id for one in listed.operations] == [operation_id] and listed.total == 1
    done = await aclient.operations.list_operations(bank, status="completed", limit=5)
    assert done.total == 1
    unknown = await aclient.operations.get_operation_status(bank, str(uuid.uuid4()))
    assert unknown.status == "not_found"
    with pytest.raises(ApiException) as late:
        await aclient.operations.cancel_operation(bank, operation_id)
    assert late.value.status in (404, 409)
    removed = await aclient.operations.delete_operation(bank, operation_id)
    assert removed.success and removed.operation_id == operation_id
    assert (await aclient.operations.list_operations(bank)).total == 0


async def test_an_operation_id_needs_a_uuid(aclient: Hindsight, bank: str) -> None:
    with pytest.raises(ApiException) as refused:
        await aclient.aretain(bank, "x", retain_async=True, operation_id="seven")
    assert refused.value.status == 400 and "operation_id" in str(refused.value.body)


async def test_files_are_read_in_the_background(
    aclient: Hindsight, bank: str, ended: Any, tmp_path: Path
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("The spare key of the boathouse hangs behind the clock.", encoding="utf-8")
    answer = await aclient.aretain_files(
        bank, [file], files_metadata=[{"document_id": "notes", "tags": ["keys"]}]
    )
    for operation_id in answer.operation_ids:
        status = await ended(aclient, bank, operation_id)
        assert status.status == "completed", status.error_message
    for _ in range(100):
        found = await aclient.arecall(bank, "Where is the spare key?")
        if found.results:
            break
        await asyncio.sleep(0.05)
    assert "clock" in found.results[0].text and found.results[0].document_id == "notes"
    assert found.results[0].tags == ["keys"]


async def test_banks(aclient: Hindsight, bank: str) -> None:
    made = await aclient.acreate_bank(bank, mission="Keep the harbour book.")
    assert made.mission == "Keep the harbour book."
    plain: Any = aclient  # the library annotates aset_mission as a dict, and returns a profile
    assert (await plain.aset_mission(bank, "Keep the tide book.")).mission == "Keep the tide book."
    assert (await plain.aset_reflect_mission(bank, "Keep it.")).mission == "Keep it."
    await aclient.aupdate_bank_config(bank, retain_extraction_mode="verbatim")
    config = await aclient.aget_bank_config(bank)
    assert config["config"]["retain_extraction_mode"] == "verbatim"
    assert (await aclient.areset_bank_config(bank))["overrides"] == {}
    assert (await aclient.adelete_bank(bank)).success


async def test_configuration_makes_a_missing_bank(aclient: Hindsight, bank: str) -> None:
    await aclient.aupdate_bank_config(bank, retain_mission="Only boats.")
    assert (await aclient.aget_bank_config(bank))["overrides"] == {"retain_mission": "Only boats."}


async def test_a_whole_bank_travels(aclient: Hindsight, bank: str, ended: Any) -> None:
    await aclient.aretain(bank, "The tide gauge stands at pier one.", document_id="gauge", tags=["tide"])
    archive = await aclient.aexport_bank(bank, poll_interval=0.05, timeout=30)
    assert archive[:2] == b"PK"
    target = bank + "-restored"
    operation_id = await aclient.aimport_bank(bank, archive, target_bank_id=target)
    status = await ended(aclient, bank, operation_id)
    assert status.status == "completed", status.error_message
    found = (await aclient.arecall(target, "Where is the tide gauge?")).results
    assert "pier one" in found[0].text and found[0].document_id == "gauge" and found[0].tags == ["tide"]


async def test_a_bank_is_cloned(aclient: Hindsight, bank: str, ended: Any) -> None:
    await aclient.aretain(bank, "Nets are mended on the west quay.")
    copy = bank + "-copy"
    status = await ended(aclient, bank, await aclient.aclone_bank(bank, copy))
    assert status.status == "completed", status.error_message
    assert (await aclient.alist_memories(copy)).total == (await aclient.alist_memories(bank)).total == 1


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
async def test_documents_travel_into_another_bank(aclient: Hindsight, bank: str, ended: Any) -> None:
    await aclient.aretain(bank, "Ropes are stored in shed three.", document_id="ropes")
    await aclient.aretain(bank, "Paint is stored in shed four.", document_id="paint")
    archive = await aclient.aexport_documents(bank, ["ropes"], poll_interval=0.05, timeout=30)
    other = bank + "-other"
    await aclient.acreate_bank(other)
    sent = await aclient.document_transfer.import_documents(other, archive)
    status = await ended(aclient, other, sent.operation_id)
    assert status.status == "completed", status.error_message
    documents = await aclient.documents.list_documents(other)
    assert [one.id for one in documents.items] == ["ropes"]


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
def test_transfers_have_plain_forms_too(client: Hindsight, bank: str) -> None:
    client.retain(bank, "The bell rings at noon.", document_id="bell")
    whole = client.export_bank(bank, poll_interval=0.05, timeout=30)
    part = client.export_documents(bank, poll_interval=0.05, timeout=30)
    assert whole[:2] == part[:2] == b"PK"
    assert uuid.UUID(client.import_bank(bank, whole, target_bank_id=bank + "-2"))
    assert uuid.UUID(client.clone_bank(bank, bank + "-3"))
