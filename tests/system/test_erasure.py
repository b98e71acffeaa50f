"""What was deleted, in whatever way, is in no file any more after `doctor --compact`, in no form of text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from canary import canary, damaged, found_in, left_in, named_by_audit
from embeddings import Embeddings
from live_server import Client, File, Server, bank_path

_GREETING = "Warden keeps the cellar of the old mill dry."


def _secret(name: str) -> str:
    """A fact that carries both words of a canary, some in escapes and some in entities."""
    plain, wide = canary(name)
    return f"Mara {wide.title()} hid relic {plain} below the old mill; {plain} and {wide} met there in May."


def _item(name: str, **more: Any) -> dict[str, Any]:
    plain, wide = canary(name)
    return {
        "content": _secret(name),
        "document_id": f"doc-{plain}-{wide}",
        "context": f"about {wide}",
        "metadata": {plain: wide},
        "tags": [f"t-{plain}", f"t-{wide}"],
        "entities": [{"text": wide}, {"text": f"The {plain}"}],
        **more,
    }


def _document(name: str) -> str:
    plain, wide = canary(name)
    return bank_path("house", f"/documents/doc-{plain}-{wide}")


def delete_document(client: Client, name: str) -> None:
    client.retain("house", _item(name))
    client.settled()
    _recall(client, "house", name)
    client.request("DELETE", _document(name)).ok()


def replace_document(client: Client, name: str) -> None:
    client.retain("house", {**_item(name), "document_id": f"plain-{len(name)}"})
    client.settled()
    client.retain("house", {"content": _GREETING, "document_id": f"plain-{len(name)}"})


def clear_memories_and_document(client: Client, name: str) -> None:
    client.retain("clear", _item(name), {"content": _GREETING, "document_id": "kept"})
    client.settled()
    client.request("DELETE", bank_path("clear", "/memories")).ok()
    for row in client.documents("clear"):
        client.request("DELETE", bank_path("clear", f"/documents/{row['id']}")).ok()


def edit_memory(client: Client, name: str) -> None:
    """A corrected text stays in the history of its memory, until that is deleted."""
    client.retain("house", {"content": "Warden paints the mill door.", "document_id": "edited"})
    (row,) = client.memories("house", document_id="edited")
    path = bank_path("house", f"/memories/{row['id']}")
    client.request("PATCH", path, {"text": _secret(name), "entities": [canary(name)[1]]}).ok()
    client.settled()
    client.request("PATCH", path, {"text": "Warden left.", "entities": []}).ok()
    client.request("PATCH", path, {"state": "invalidated", "reason": _secret(name)}).ok()
    client.request("DELETE", bank_path("house", "/documents/edited")).ok()


def delete_bank(client: Client, name: str) -> None:
    plain, wide = canary(name)
    bank = f"b-{plain}-{wide}"
    client.retain(bank, _item(name))
    client.retain(bank, _item(name, document_id="queued"), **{"async": True})
    client.request("PATCH", bank_path(bank, "/config"), {"updates": {"retain_mission": _secret(name)}}).ok()
    client.request("PUT", bank_path(bank), {"name": f"Bank {wide}"}).ok()
    client.request("POST", bank_path(bank, "/aliases"), {"alias": f"also-{plain}-{wide}"}).ok()
    client.settled()
    client.exported(bank)
    client.request("DELETE", bank_path(bank)).ok()


def reset_config(client: Client, name: str) -> None:
    path = bank_path("house", "/config")
    client.request("PATCH", path, {"updates": {"retain_mission": _secret(name)}}).ok()
    client.request("DELETE", path).ok()
    alias = f"also-{canary(name)[0]}"
    client.request("POST", bank_path("house", "/aliases"), {"alias": alias}).ok()
    client.request("DELETE", bank_path("house", f"/aliases/{alias}")).ok()


def finished_batch(client: Client, name: str) -> None:
    answer = client.retain("house", _item(name), **{"async": True})
    client.completed("house", answer["operation_id"])
    client.settled()
    client.request("DELETE", _document(name)).ok()


def finished_file(client: Client, name: str) -> None:
    """The upload is larger than what is kept in memory, so it goes through the temporary folder."""
    plain, wide = canary(name)
    text = (
        _secret(name).encode()
        + b"\n\n"
        + b"".join(b"The mill stood still on day %d.\n\n" % n for n in range(40_000))
    )
    fields = {"request": f'{{"files_metadata": [{{"document_id": "doc-{plain}-{wide}"}}]}}'}
    files = [File("files", f"{plain}.txt", text)]
    answer = client.request("POST", bank_path("house", "/files/retain"), files=files, fields=fields).ok()
    client.completed("house", answer["operation_ids"][0])
    client.request("DELETE", _document(name)).ok()


def failed_import(client: Client, name: str) -> None:
    """A job that can only fail keeps its input for a retry; deleting the operation deletes it."""
    client.retain("damaged", _item(name))
    files = [File("file", "damaged.zip", damaged(client.exported("damaged")), "application/zip")]
    client.request("DELETE", bank_path("damaged")).ok()
    path, query = bank_path("house", "/transfer/import"), {"target_bank_id": "never"}
    operation = client.request("POST", path, query=query, files=files).ok()["operation_id"]
    for _ in range(2):
        assert client.ended("house", operation)["status"] == "failed"
        client.request("POST", bank_path("house", f"/operations/{operation}/retry")).ok()
    assert client.ended("house", operation)["status"] == "failed"
    client.request("DELETE", bank_path("house", f"/operations/{operation}/delete")).ok()


def failed_file(client: Client, name: str) -> None:
    """A file that turns out to be unreadable, or is refused at once where nothing can read its kind."""
    pdf = b"%PDF-1.4 " + _secret(name).encode()
    files = [File("files", f"{canary(name)[0]}.pdf", pdf, "application/pdf")]
    path = bank_path("house", "/files/retain")
    answer = client.request("POST", path, files=files, fields={"request": "{}"})
    if answer.status == 422:
        return
    operation = answer.ok()["operation_ids"][0]
    assert client.ended("house", operation)["status"] == "failed"
    client.request("DELETE", bank_path("house", f"/operations/{operation}/delete")).ok()


def refused_import(client: Client, name: str) -> None:
    files = [
        File("file", f"{canary(name)[0]}.zip", b"PK\x03\x04" + _secret(name).encode(), "application/zip")
    ]
    assert client.request("POST", bank_path("house", "/transfer/import"), files=files).status == 400


def transferred(client: Client, name: str) -> None:
    """The archive that was made, the one that was taken in, and the copies are all gone."""
    client.retain("moved", _item(name))
    client.settled()
    archive = client.exported("moved")
    assert found_in(archive, canary(name)), "the archive must hold it"
    client.exported("moved", "/document-transfer/export")
    files = [File("file", "moved.zip", archive, "application/zip")]
    for target, mode in (("moved-again", "restore"), ("house", "merge")):
        query = {"target_bank_id": target, "mode": mode}
        path = bank_path("house", "/transfer/import")
        started = client.request("POST", path, query=query, files=files).ok()
        client.completed("house", started["operation_id"])
    started = client.request("POST", bank_path("moved", "/clone"), query={"target_bank_id": "cloned"}).ok()
    client.completed("moved", started["operation_id"])
    for bank in ("moved-again", "cloned"):
        client.request("DELETE", bank_path(bank)).ok()
    client.request("DELETE", _document(name)).ok()
    client.request("DELETE", _document(name).replace("/house/", "/moved/")).ok()


def refused_retain(client: Client, name: str) -> None:
    wrong = {"content": _secret(name), "tags": [""]}
    assert client.request("POST", bank_path("house", "/memories"), {"items": [wrong]}).status == 422
    client.request("POST", bank_path("house", "/memories/dry-run-extract"), {"content": _secret(name)}).ok()


WAYS: tuple[Callable[[Client, str], None], ...] = (
    delete_document,
    replace_document,
    clear_memories_and_document,
    edit_memory,
    delete_bank,
    reset_config,
    finished_batch,
    finished_file,
    failed_import,
    failed_file,
    refused_import,
    transferred,
    refused_retain,
)


def _recall(client: Client, bank: str, name: str) -> None:
    plain, wide = canary(name)
    assert any(plain in row["text"] for row in client.recall(bank, plain))
    client.recall(bank, f"{wide} {plain}", budget="high", trace=True)


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server on which all ways were gone, and which was compacted once."""
    with Embeddings() as embeddings:
        settings = embeddings.settings(LOREBANK_EMBEDDER="hosted", LOREBANK_JOB_RETRIES="0")
        with Server(tmp_path_factory.mktemp("erased"), settings).start() as server:
            client = server.client()
            client.retain("house", {"content": _GREETING, "document_id": "stays"})
            for way in WAYS:
                way(client, way.__name__.replace("_", ""))
            client.settled()
            assert server.run("doctor", "--compact").returncode == 0
            yield server


@pytest.mark.parametrize("way", [way.__name__ for way in WAYS])
def test_no_byte_is_left_of_what_went_by(erased: Server, way: str) -> None:
    words = canary(way.replace("_", ""))
    assert left_in([erased.data_dir, erased.temp_dir], words) == []
    assert named_by_audit(erased.data_dir, words) <= {"bank", "target"}, "ids only (docs/audit.md)"
    assert found_in(erased.log.encode(), words) == [], "texts stay out of the log"


def test_what_was_not_deleted_is_still_there(erased: Server) -> None:
    client = erased.client()
    assert any(_GREETING in row["text"] for row in client.recall("house", "cellar"))
    client.doctor()


def test_the_scan_sees_what_is_there(erased: Server, tmp_path: Path) -> None:
    words = canary("present")
    client = erased.client()
    client.retain("present", _item("present"))
    assert left_in([erased.data_dir], words)
    for place, text in enumerate((words[1], json.dumps(words[1]))):
        (tmp_path / f"{place}").write_bytes(text.encode("utf-16-le" if place == 0 else "ascii"))
        assert left_in([tmp_path], words), place
        (tmp_path / f"{place}").unlink()
    client.request("DELETE", bank_path("present")).ok()
    client.doctor(compact=True)
    assert left_in([erased.data_dir], words) == []


def test_a_deleted_fact_does_not_come_back_with_a_rebuild_or_a_restart(
    make_server: Callable[..., Server],
) -> None:
    server = make_server(LOREBANK_EMBEDDER="none").start()
    client = server.client()
    client.retain("a", _item("back"), {"content": _GREETING, "document_id": "kept"})
    (row,) = client.memories("a", q=canary("back")[0])
    path = bank_path("a", f"/memories/{row['id']}")
    client.request("PATCH", path, {"state": "invalidated", "reason": "wrong"}).ok()
    for _ in range(2):
        client.doctor(rebuild=True)
        server.stop()
        client = server.start().client()
        assert client.recall("a", canary("back")[0]) == []
        assert len(client.memories("a")) == 1
    client.request("DELETE", bank_path("a", f"/documents/{row['document_id']}")).ok()
    client.doctor(rebuild=True, compact=True)
    server.stop()
    client = server.start().client()
    assert client.memories("a", state="invalidated") == []
    assert left_in([server.data_dir], canary("back")) == []
    server.stop()


def test_copies_made_by_backup_are_outside_and_the_command_says_so(
    make_server: Callable[..., Server], tmp_path: Path
) -> None:
    server = make_server(LOREBANK_EMBEDDER="none")
    with server.start():
        client = server.client()
        client.retain("a", _item("copied"))
        made = server.run("backup", str(tmp_path / "copy"))
        assert made.returncode == 0, made
        client.request("DELETE", bank_path("a")).ok()
        told = server.run("doctor", "--compact")
        assert left_in([server.data_dir], canary("copied")) == []
        assert left_in([tmp_path / "copy"], canary("copied"))
        assert "backup" in made.stdout + made.stderr + told.stdout + told.stderr
