"""Retaining uploaded files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from retain_bank import Bank

from lorebank.banks.files import Upload, run_file, submit_files
from lorebank.banks.retain.check import PENDING_TAG
from lorebank.banks.retain.items import Item
from lorebank.errors import BadRequest, InvalidInput
from lorebank.models.parse import FileParser
from lorebank.storage.ports import Page

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
PARSER = FileParser()


def upload(name: str, data: bytes, media_type: str | None = None, **how: object) -> Upload:
    return Upload(name, media_type, data, Item("", when=NOON, **how))  # type: ignore[arg-type]


def run_all(bank: Bank) -> list[dict[str, object]]:
    results = []
    while (job := bank.lease()) is not None:
        results.append(run_file(job, bank.tools, PARSER))
        bank.finish(job, results[-1])
    return results


def test_each_file_becomes_an_operation_and_a_document(bank: Bank) -> None:
    files = [
        upload("notes.md", b"# Violins\n\nMona sold her violin to Erik.", document_id="notes", tags=("a",)),
        upload("page.html", b"<html><body><p>Erik owns a <b>harp</b> in Turku.</p></body></html>"),
    ]
    ids = submit_files(bank.handle, bank.tools, PARSER, files, ("b",))
    assert [bank.operation(i).filename for i in ids] == ["notes.md", "page.html"]
    assert {bank.operation(i).type for i in ids} == {"file_convert_retain"}
    assert bank.count() == 0
    results = run_all(bank)
    assert results[0]["document_id"] == "notes" and str(results[1]["document_id"]).startswith("file_")
    notes = bank.document("notes")
    assert (
        notes is not None
        and notes.tags == ("a", "b")
        and notes.text == "# Violins\n\nMona sold her violin to Erik."
    )
    assert any("harp" in memory.text for memory in bank.memories())


def test_the_bytes_of_a_file_are_gone_when_its_operation_is_done(bank: Bank) -> None:
    [operation_id] = submit_files(
        bank.handle, bank.tools, PARSER, [upload("a.txt", b"Mona sold her violin.")]
    )
    with bank.handle.read() as reader:
        assert reader.blob(operation_id) == b"Mona sold her violin."
    run_all(bank)
    with bank.handle.read() as reader:
        assert reader.blob(operation_id) is None


def test_a_job_run_again_after_its_document_was_stored_changes_nothing(bank: Bank) -> None:
    submit_files(
        bank.handle, bank.tools, PARSER, [upload("a.txt", b"Mona sold her violin.", document_id="d")]
    )
    job = bank.lease()
    assert job is not None
    run_file(job, bank.tools, PARSER)
    bank.restart()
    assert run_all(bank) == [{"document_id": "d"}]
    assert [event.kind for event in bank.events("d")] == ["retain"]


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.png", b"\x89PNG\x00", "image/png"),
        ("a.txt", b"\xff\xff\x00", None),
        ("a.txt", b"", None),
        ("a.txt", b" \n", None),
    ],
)
def test_a_file_that_is_no_text_refuses_the_request_at_once(
    bank: Bank, name: str, data: bytes, media_type: str | None
) -> None:
    good = upload("good.txt", b"Mona sold her violin.")
    with pytest.raises(InvalidInput, match=name):
        submit_files(bank.handle, bank.tools, PARSER, [good, upload(name, data, media_type)])
    with bank.handle.read() as reader:
        assert reader.operations(None, None, False, Page(10)).total == 0


@pytest.mark.parametrize("name", ["a.pdf", "b.docx"])
def test_office_files_without_the_extra_are_refused_with_what_to_install(
    bank: Bank, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lorebank.models.providers.documents.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"lorebank\[documents\]"):
        submit_files(bank.handle, bank.tools, PARSER, [upload(name, b"%PDF-1.7")])


def test_the_pending_mark_cannot_be_sent_with_a_file(bank: Bank) -> None:
    with pytest.raises(BadRequest, match=PENDING_TAG):
        submit_files(
            bank.handle, bank.tools, PARSER, [upload("a.txt", b"Mona sold it.", tags=(PENDING_TAG,))]
        )
