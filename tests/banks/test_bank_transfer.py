"""Export, import and clone: what goes out comes back equal, and only what may be seen goes out."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bank_server import READER, Server

from lorebank import clock
from lorebank.banks.embedders import ACTIVE_MODEL
from lorebank.banks.transfer import jobs
from lorebank.errors import BadRequest, Conflict, NotFound
from lorebank.jobs.kinds import Job
from lorebank.service.handlers.transfer import transfer_tools
from lorebank.storage.rows import Link

TALK = "\n".join(
    [
        "Ada: I moved to Lisbon on 3 March 2024 and I love the light there.",
        "Grace: My sister Joan plays the cello in the Lisbon orchestra.",
        "Ada: I bought a red bicycle from Joan yesterday for forty euros.",
    ]
)
ITEMS: tuple[dict[str, Any], ...] = (
    {"content": TALK, "document_id": "talk/1", "timestamp": "2024-05-10T12:00:00Z", "tags": ["public"]},
    {"content": "Ada keeps her passport in the blue drawer.", "document_id": "home", "tags": ["private"]},
    {"content": "Ada keeps her passport in the blue drawer.", "document_id": "home2", "tags": ["private"]},
    {"content": "Joan was born in 1951 in Porto.", "document_id": "born", "metadata": {"source": "card"}},
)


@pytest.fixture
def filled(server: Server) -> Server:
    server.call("create_or_update_bank", "b", {"name": "Book", "mission": "Keep it."})
    server.retain("b", *ITEMS)
    born = server.memories("b", document_id="born")[0]
    server.call("update_memory", "b", {"text": "Joan was born in 1950 in Porto."}, memory_id=born["id"])
    passport = server.memories("b", document_id="home")[0]
    assert passport["proof_count"] == 2
    return server


@pytest.fixture
def elsewhere(tmp_path: Path) -> Any:
    opened = Server(tmp_path / "other")
    yield opened
    opened.close()


def _everything(server: Server, bank: str) -> dict[str, Any]:
    """All that the wire shows of a bank's content."""
    memories = [
        server.call("get_memory", bank, memory_id=item["id"])
        for state in ("valid", "invalidated")
        for item in server.memories(bank, state=state)
    ]
    documents = server.call("list_documents", bank)["items"]
    parts = [
        [
            server.call(operation, bank, document_id=d["id"])
            for operation in ("get_document", "list_document_chunks")
        ]
        for d in documents
    ]
    history = [server.call("get_document_history", bank, document_id=d["id"]) for d in documents]
    for event in (e for page in history for e in page["items"]):
        event["operation_id"] = None
    stats = server.call("get_agent_stats", bank)
    stats["operations_by_status"] = None
    return {
        "memories": sorted(memories, key=lambda m: m["id"]),
        "documents": documents,
        "parts": parts,
        "history": history,
        "entities": server.call("list_entities", bank)["items"],
        "tags": server.call("list_tags", bank),
        "graph": server.call("get_graph", bank),
        "stats": stats,
        "config": server.call("get_bank_config", bank),
        "profile": server.call("get_bank_profile", bank),
    }


def _recalled(server: Server, bank: str, query: str) -> list[tuple[str, Any]]:
    answer = server.call("recall_memories", bank, {"query": query, "query_timestamp": "2024-06-01T00:00:00Z"})
    return [(result["id"], result["scores"]) for result in answer["results"]]


def test_a_bank_restored_on_a_fresh_host_is_equal(filled: Server, elsewhere: Server) -> None:
    memory = filled.memories("b", q="cello")[0]
    filled.call("update_memory", "b", {"state": "invalidated", "reason": "no"}, memory_id=memory["id"])
    before = _everything(filled, "b")
    result = elsewhere.restore(filled.export("b"), "b")
    assert result["counts"]["memories"] == len(before["memories"])
    assert _everything(elsewhere, "b") == before
    for query in ("Where did Ada move?", "passport", "Who was born in Porto?"):
        assert _recalled(elsewhere, "b", query) == _recalled(filled, "b", query) != []
    assert list(elsewhere.handle("b").check()) == []


def test_a_restored_bank_goes_on_as_the_old_one_would(filled: Server, elsewhere: Server) -> None:
    elsewhere.restore(filled.export("b"), "b")
    for server in (filled, elsewhere):
        server.retain("b", {"content": ITEMS[1]["content"], "document_id": "home", "tags": ["private"]})
        longer = TALK + "\nGrace: Joan now teaches chess in Faro."
        server.retain("b", dict(ITEMS[0]) | {"content": longer})
    assert {m["text"] for m in elsewhere.memories("b")} == {m["text"] for m in filled.memories("b")}
    for document in ("home", "born"):
        kept = [
            [m["id"] for m in server.memories("b", document_id=document)] for server in (filled, elsewhere)
        ]
        assert kept[0] == kept[1] != []


def test_under_another_name_chunks_still_lead_to_their_bank(filled: Server, elsewhere: Server) -> None:
    elsewhere.restore(filled.export("b"), "new/name", target_bank_id="new/name")
    for item in elsewhere.memories("new/name"):
        chunk = elsewhere.call("get_chunk", chunk_id=item["chunk_id"])
        assert (chunk["bank_id"], chunk["document_id"]) == ("new/name", item["document_id"])
    assert {m["id"] for m in elsewhere.memories("new/name")} == {m["id"] for m in filled.memories("b")}


def test_the_archive_can_be_read_by_a_person(filled: Server) -> None:
    packed = zipfile.ZipFile(io.BytesIO(filled.export("b")))
    assert packed.testzip() is None
    manifest = json.loads(packed.read("manifest.json"))
    assert (manifest["format"], manifest["version"], manifest["kind"]) == ("lorebank-bank-archive", 1, "bank")
    assert json.loads(packed.read("bank.json"))["config"] == {"reflect_mission": "Keep it."}
    memories = [json.loads(line) for line in packed.read("memories.jsonl").splitlines()]
    assert manifest["parts"]["memories.jsonl"]["rows"] == len(memories) == len(filled.memories("b"))
    passport = next(m for m in memories if "passport" in m["text"])
    assert [source["document_id"] for source in passport["sources"]] == ["home", "home2"]
    assert next(m for m in memories if "1950" in m["text"])["history"][0]["before"]["text"].count("1951") == 1


def test_vectors_travel_and_are_used_by_the_same_model_only(filled: Server, elsewhere: Server) -> None:
    handle = filled.handle("b")
    with handle.read() as reader:
        waiting = reader.missing_vectors("off", 100)
    rng = np.random.default_rng(7)
    vectors = {row.key: rng.normal(size=8).astype("<f2").tobytes() for row in waiting}
    with handle.write() as writer:
        assert writer.put_vectors("off", [(w.key, w.seq, vectors[w.key]) for w in waiting]) == len(waiting)
        writer.set_meta(ACTIVE_MODEL, "off")
        writer.put_links([Link(waiting[0].key, waiting[1].key, "semantic", 0.9)])
    archive = filled.export("b")
    counts = elsewhere.restore(archive, "b")["counts"]
    assert (counts["vectors"], counts["links"]) == (len(waiting), 1)
    assert _vectors_by_id(elsewhere, "off") == _vectors_by_id(filled, "off") != {}
    with handle.write() as writer:
        writer.drop_vectors("off")
        writer.put_vectors("other", [(w.key, 2**40, vectors[w.key]) for w in waiting])
        writer.set_meta(ACTIVE_MODEL, "other")
    counts = elsewhere.restore(filled.export("b"), "c", target_bank_id="c")["counts"]
    assert "vectors" not in counts and counts["links"] == 0
    with elsewhere.handle("c").read() as reader:
        assert len(reader.missing_vectors("off", 100)) == len(waiting)


def _vectors_by_id(server: Server, model: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with server.handle("b").read() as reader:
        for keys, data in reader.vectors(model, 0):
            size = len(data) // len(keys)
            names = reader.memories_by_key(list(keys))
            found |= {names[key].id: bytes(data[i * size : (i + 1) * size]) for i, key in enumerate(keys)}
    return found


def test_a_clone_is_equal_and_independent(filled: Server) -> None:
    filled.call("clone_bank", "b", target_bank_id="twin")
    filled.run_job("b")
    assert {m["id"]: m["text"] for m in filled.memories("twin")} == {
        m["id"]: m["text"] for m in filled.memories("b")
    }
    assert (
        filled.call("get_bank_config", "twin")["overrides"]
        == filled.call("get_bank_config", "b")["overrides"]
    )
    filled.call("clear_bank_memories", "twin")
    assert filled.memories("b") and not filled.memories("twin")
    with pytest.raises(Conflict, match="exists already"):
        filled.call("clone_bank", "b", target_bank_id="twin")


def test_parts_can_be_left_out(filled: Server, elsewhere: Server) -> None:
    elsewhere.restore(filled.export("b", include_data=False), "settings", target_bank_id="settings")
    assert elsewhere.call("get_bank_config", "settings")["overrides"] == {"reflect_mission": "Keep it."}
    assert elsewhere.memories("settings") == []
    elsewhere.restore(filled.export("b"), "data", target_bank_id="data", include_bank_config=False)
    assert elsewhere.call("get_bank_config", "data")["overrides"] == {}
    assert elsewhere.memories("data")


def test_a_restore_never_mixes_two_banks(filled: Server) -> None:
    archive = filled.export("b")
    with pytest.raises(Conflict, match="holds memories already"):
        filled.call("import_bank_transfer", "b", archive)
    with pytest.raises(NotFound, match="Bank 'nowhere'"):
        filled.call("import_bank_transfer", "b", archive, mode="merge", target_bank_id="nowhere")


def test_a_choice_of_documents_is_exported_alone(filled: Server, elsewhere: Server) -> None:
    archive = filled.export("b", "export_documents", document_id=["home"])
    packed = zipfile.ZipFile(io.BytesIO(archive))
    assert b"Lisbon" not in b"".join(packed.read(name) for name in packed.namelist())
    assert "bank.json" not in packed.namelist()
    elsewhere.call("import_documents", "b", archive)
    elsewhere.run_job("b")
    [memory] = elsewhere.memories("b")
    assert (memory["document_id"], memory["proof_count"]) == ("home", 1)
    with pytest.raises(NotFound, match="Document 'nope'"):
        filled.call("export_documents", "b", document_id=["nope"])


@pytest.mark.parametrize("conflict", ["skip", "replace", "new-id"])
def test_documents_that_exist_are_handled_as_asked(filled: Server, elsewhere: Server, conflict: str) -> None:
    elsewhere.retain("b", {"content": "The home is a boat now.", "document_id": "home"})
    before = {m["id"] for m in elsewhere.memories("b")}
    archive = filled.export("b", "export_documents")
    elsewhere.call("import_documents", "b", archive, on_conflict=conflict)
    counts = elsewhere.run_job("b")["counts"]
    texts = {m["text"] for m in elsewhere.memories("b")}
    documents = {d["id"] for d in elsewhere.call("list_documents", "b")["items"]}
    boat_stays = any("boat" in text for text in texts)
    assert boat_stays is (conflict != "replace")
    assert counts["documents_skipped"] == (1 if conflict == "skip" else 0)
    assert len(documents) == (5 if conflict == "new-id" else 4) and any("cello" in text for text in texts)
    if conflict != "replace":
        assert before <= {m["id"] for m in elsewhere.memories("b")}
    assert list(elsewhere.handle("b").check()) == []
    for memory in elsewhere.memories("b"):
        chunk = elsewhere.call("get_chunk", chunk_id=memory["chunk_id"])
        assert chunk["document_id"] == memory["document_id"]


def test_a_fact_that_the_bank_knows_gains_a_proof(filled: Server, elsewhere: Server) -> None:
    elsewhere.retain("b", {"content": ITEMS[1]["content"], "document_id": "mine", "tags": ["private"]})
    [mine] = elsewhere.memories("b")
    elsewhere.call("import_documents", "b", filled.export("b", "export_documents", document_id=["home"]))
    elsewhere.run_job("b")
    [both] = elsewhere.memories("b")
    assert (both["id"], both["proof_count"]) == (mine["id"], 2)


def test_a_memory_taken_back_elsewhere_stays_valid_here(filled: Server, elsewhere: Server) -> None:
    passport = filled.memories("b", document_id="home")[0]
    filled.call("update_memory", "b", {"state": "invalidated", "reason": "moved"}, memory_id=passport["id"])
    archive = filled.export("b", "export_documents", document_id=["home"])
    elsewhere.retain("b", {"content": ITEMS[1]["content"], "document_id": "mine", "tags": ["private"]})
    elsewhere.call("import_documents", "b", archive)
    elsewhere.run_job("b")
    assert [m["text"] for m in elsewhere.memories("b")] == [passport["text"]]
    elsewhere.call("import_documents", "c", archive)
    elsewhere.run_job("c")
    assert elsewhere.memories("c") == []
    assert [m["invalidation_reason"] for m in elsewhere.memories("c", state="invalidated")] == ["moved"]


def test_merging_twice_changes_nothing(filled: Server, elsewhere: Server) -> None:
    archive = filled.export("b", "export_documents")
    for _ in range(2):
        elsewhere.call("import_documents", "b", archive)
        elsewhere.run_job("b")
    assert {m["id"]: m["proof_count"] for m in elsewhere.memories("b")} == {
        m["id"]: m["proof_count"] for m in filled.memories("b")
    }


def test_an_import_that_runs_again_after_a_kill_is_done_once(filled: Server, elsewhere: Server) -> None:
    archive = filled.export("b", "export_documents")
    elsewhere.retain("b", {"content": "The home is a boat now.", "document_id": "home"})
    elsewhere.call("import_documents", "b", archive, on_conflict="new-id")
    handle = elsewhere.handle("b")
    with handle.write() as writer:
        lease = writer.lease_operation(clock.now(), 0.0)
    assert lease is not None
    first = jobs.run_import_documents(
        Job(handle, lease.operation, lease.token), transfer_tools(elsewhere.context)
    )
    documents = elsewhere.call("list_documents", "b")["total"]
    again = elsewhere.run_job("b")
    assert again["counts"] == first["counts"]
    assert elsewhere.call("list_documents", "b")["total"] == documents


def test_only_the_visible_part_is_exported(filled: Server) -> None:
    archive = filled.export("b", who=READER)
    packed = zipfile.ZipFile(io.BytesIO(archive))
    told = b"".join(packed.read(name) for name in packed.namelist())
    assert b"Lisbon" in told
    for hidden in (b"passport", b"drawer", b"private", b"Porto"):
        assert hidden not in told


def test_a_reader_cannot_download_what_another_exported(filled: Server) -> None:
    filled.call("export_bank_transfer", "b")
    url = filled.run_job("b")["download_url"]
    with pytest.raises(NotFound):
        filled.download(url, READER)
    assert filled.download(url)


def test_download_addresses_work_for_odd_bank_names_and_lead_nowhere_else(server: Server) -> None:
    for bank in ("..", "a/b%2F", "Ü 🙂", "x" * 300):
        server.retain(bank, "Ada likes tea with milk.")
        server.call("export_bank_transfer", bank)
        url = server.run_job(bank)["download_url"]
        assert url.startswith("/v1/default/files/download/banks/") and " " not in url and "%" not in url
        assert zipfile.is_zipfile(io.BytesIO(server.download(url)))
    good = url.removeprefix("/v1/default/files/download/")
    folder = good.rpartition("/")[0]
    for key in (
        "",
        "x",
        f"{folder}/../state.sqlite",
        f"{folder}/state.sqlite",
        f"{folder}/nope.zip",
        good + "/",
        "banks/!!/exports/x",
    ):
        with pytest.raises(NotFound):
            server.download("/v1/default/files/download/" + key)


def test_a_template_key_that_a_bank_cannot_set_fails_the_import_and_leaves_no_bank(
    filled: Server, elsewhere: Server
) -> None:
    archive = _changed(
        filled.export("b"), "bank.json", lambda data: data.replace(b"reflect_mission", b"reflect_passion")
    )
    elsewhere.call("import_bank_transfer", "jobs", archive, target_bank_id="target")
    with pytest.raises(BadRequest, match="reflect_passion"):
        elsewhere.run_job("jobs")
    assert [bank["bank_id"] for bank in elsewhere.call("list_banks")["banks"]] == ["jobs"]


def _changed(archive: bytes, part: str, change: Any) -> bytes:
    """The archive with one part changed and a manifest that agrees with it."""
    import hashlib

    packed = zipfile.ZipFile(io.BytesIO(archive))
    parts = {name: packed.read(name) for name in packed.namelist()}
    parts[part] = change(parts[part])
    manifest = json.loads(parts["manifest.json"])
    manifest["parts"][part] |= {"bytes": len(parts[part]), "sha256": hashlib.sha256(parts[part]).hexdigest()}
    parts["manifest.json"] = json.dumps(manifest).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, data in parts.items():
            writer.writestr(name, data)
    return made.getvalue()
