"""`user:` and `agent:` tags say who stored something: nobody sets them for somebody else."""

from __future__ import annotations

from typing import Any

import pytest
from access_admin import statement, token
from access_world import World
from changes import SECRET
from live_server import Client, File, bank_path

BANK = "ledger"
FORGED = ["user:boss", "agent:chief", "user:", "agent:scribe"]


@pytest.fixture(scope="module")
def writer(world: World) -> Client:
    """Somebody who may retain and change documents, but not set reserved tags."""
    key = world.admin.user(
        "writer",
        statement("bank:retain", "bank:recall", "bank:documents:*", "bank:memories:*", banks=(BANK,)),
        statement("bank:import", "bank:export", banks=(BANK, "ledger-2")),
        statement("bank:retain", "bank:tags:reserved", banks=("ledger-2",)),
    )
    world.admin.channel("writer", "web", "writer")
    client = world.server.client(key)
    client.retain(BANK, {"content": "Mara planted a pear tree.", "document_id": "first", "tags": ["open"]})
    return client


def tags_of(root: Client) -> set[str]:
    """Every tag in the bank, on memories and documents."""
    found = {tag for one in root.memories(BANK) for tag in one["tags"]}
    return found | {tag for one in root.documents(BANK) for tag in one["tags"]}


def _forged(root: Client) -> set[str]:
    ours = {"user:writer"}
    return {tag for tag in tags_of(root) if tag.lower().startswith(("user:", "agent:"))} - ours


def test_what_one_stores_is_marked_with_ones_name(world: World, writer: Client) -> None:
    (memory,) = world.root.memories(BANK, document_id="first")
    assert "user:writer" in memory["tags"]


@pytest.mark.parametrize("tag", FORGED)
def test_a_forged_tag_is_not_stored(world: World, writer: Client, tag: str) -> None:
    bodies: list[dict[str, Any]] = [
        {"items": [{"content": "Mara planted a plum tree.", "tags": [tag]}]},
        {"items": [{"content": "Mara planted a plum tree."}], "document_tags": [tag]},
        {"items": [{"content": "Mara planted a plum tree.", "tags": [tag]}], "async": True},
        {"items": [{"content": "Mara planted a fig tree.", "observation_scopes": [[tag]]}]},
    ]
    for body in bodies:
        answer = writer.request("POST", bank_path(BANK, "/memories"), body)
        assert answer.status < 500, answer
        if answer.status < 300 and answer.json()["operation_id"]:
            world.root.ended(BANK, answer.json()["operation_id"])
    for fields in (f'{{"document_tags": ["{tag}"]}}', f'{{"files_metadata": [{{"tags": ["{tag}"]}}]}}'):
        files = [File("files", "a.txt", b"Mara planted a quince.")]
        path = bank_path(BANK, "/files/retain")
        answer = writer.request("POST", path, files=files, fields={"request": fields})
        for operation in answer.json().get("operation_ids", []) if answer.status < 300 else []:
            world.root.ended(BANK, operation)
    path = bank_path(BANK, "/documents/first")
    assert writer.request("PATCH", path, {"tags": [tag]}).status < 500
    assert not _forged(world.root)


def test_a_mark_is_not_taken_off(world: World, writer: Client) -> None:
    writer.request("PATCH", bank_path(BANK, "/documents/first"), {"tags": ["open"]})
    (memory,) = world.root.memories(BANK, document_id="first")
    assert "user:writer" in memory["tags"], "a caller cannot wash his own name off"


def test_an_agent_is_marked_by_its_token_only(world: World, writer: Client) -> None:
    client = world.server.client(token(SECRET, "web:writer", agent="scribe"))
    client.retain(BANK, {"content": "Mara planted a cherry tree.", "document_id": "by-agent"})
    (memory,) = world.root.memories(BANK, document_id="by-agent")
    assert {"user:writer", "agent:scribe"} <= set(memory["tags"])
    client.request("DELETE", bank_path(BANK, "/documents/by-agent")).ok()
    assert not _forged(world.root)


def test_an_archive_does_not_bring_forged_tags(world: World, writer: Client) -> None:
    item = {"content": "Mara planted an elm.", "document_id": "elm", "tags": ["user:boss"]}
    writer.request("POST", bank_path("ledger-2", "/memories"), {"items": [item]}).ok()
    archive = world.root.exported("ledger-2")
    for rest, query in (
        ("/document-transfer", {"on_conflict": "replace"}),
        ("/transfer/import", {"mode": "merge", "target_bank_id": BANK, "document_conflict": "new-id"}),
    ):
        files = [File("file", "a.zip", archive, "application/zip")]
        answer = writer.request("POST", bank_path(BANK, rest), query=query, files=files)
        assert answer.status < 500, answer
        if answer.status < 300:
            world.root.ended(BANK, answer.json()["operation_id"])
    assert not _forged(world.root)
