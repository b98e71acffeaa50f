"""Work of somebody who lost the right: writes under way, uploads half sent, jobs still queued."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from access_admin import Admin, statement
from changes import CHANGES
from held_server import WAIT_S, Held, held_server
from live_server import Answer, Client, bank_path, until
from planted import HIDDEN, OPEN, shown

BANK = "forge"
_WRITES = ("bank:retain", "bank:documents:*", "bank:memories:*", "bank:delete", "bank:config:update")
_LOSSES = ("key deleted", "membership ended", "policy denies", "user disabled", "robot scoped")
"""Some of `changes.CHANGES`: one for each part of the directory."""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with held_server(tmp_path_factory.mktemp("work"), working=False) as running:
        yield running


@pytest.fixture(scope="module")
def root(held: Held) -> Iterator[Client]:
    client = Client(held.port, held.key)
    client.retain(BANK, {"content": "Mara keeps the anvil.", "document_id": "first"})
    yield client
    client.close()


def _writer(admin: Admin, loss: str, who: str) -> str:
    """A caller whom the change hits, and who may write as long as he may do anything."""
    credential = CHANGES[loss].prepare(admin, who, BANK)
    holder = f"of-{who}-owner" if loss.startswith("robot") else f"of-{who}"
    if loss == "membership ended":
        holder = f"of-{who}-group"
    admin.put_policy(holder, statement("bank:recall", *_WRITES, banks=(BANK,)))
    return credential


def _writes(name: str) -> tuple[str, str, str, Any]:
    """(operation, method, rest of the path, body)."""
    item = {"content": "Jonas took the anvil.", "document_id": "stolen"}
    return {
        "retain": ("retain_memories", "POST", "/memories", {"items": [item]}),
        "retain later": ("retain_memories", "POST", "/memories", {"items": [item], "async": True}),
        "delete a document": ("delete_document", "DELETE", "/documents/first", None),
        "clear": ("clear_bank_memories", "DELETE", "/memories", None),
        "retag": ("update_document", "PATCH", "/documents/first", {"tags": ["stolen"]}),
        "configure": ("update_bank_config", "PATCH", "/config", {"updates": {"reflect_mission": "Steal."}}),
        "delete the bank": ("delete_bank", "DELETE", "", None),
    }[name]


_NAMES = ("retain", "retain later", "delete a document", "clear", "retag", "configure", "delete the bank")


@pytest.mark.parametrize("write", _NAMES)
@pytest.mark.parametrize("loss", _LOSSES)
def test_a_write_that_was_let_in_does_not_commit_after_the_loss(
    held: Held, root: Client, loss: str, write: str
) -> None:
    admin, who = Admin(root), f"writer-{_LOSSES.index(loss)}-{_NAMES.index(write)}"
    credential = _writer(admin, loss, who)
    before = _state(root)
    operation, method, rest, body = _writes(write)
    answers: list[Answer] = []
    client = Client(held.port, credential)

    def ask() -> None:
        answers.append(client.request(method, bank_path(BANK, rest), body))

    held.gate.close_for(operation, early=True)
    thread = threading.Thread(target=ask)
    thread.start()
    try:
        assert held.gate.made.wait(WAIT_S), "the caller was not let in"
        CHANGES[loss].make(admin, who, BANK)
    finally:
        held.gate.open()
        thread.join(WAIT_S)
        client.close()
    (answer,) = answers
    assert answer.status in (401, 403), answer
    assert _state(root) == before


def _state(root: Client) -> Any:
    return (
        [(one["id"], one["text"], one["tags"]) for one in root.memories(BANK)],
        [(one["id"], one["tags"], one["content_hash"]) for one in root.documents(BANK)],
        root.bank(BANK, "/config")["overrides"],
        root.bank(BANK, "/operations")["total"],
    )


@pytest.mark.parametrize("loss", _LOSSES)
def test_an_upload_that_ends_after_the_loss_is_not_taken(held: Held, root: Client, loss: str) -> None:
    admin, who = Admin(root), f"uploader-{_LOSSES.index(loss)}"
    credential = _writer(admin, loss, who)
    before = _state(root)
    body = json.dumps({"items": [{"content": "Jonas took the anvil."}]}).encode()
    head = (
        f"POST {bank_path(BANK, '/memories')} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {credential}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", held.port), timeout=WAIT_S) as connection:
        connection.sendall(head.encode() + body[:10])
        # The server has taken the head by the time it has answered a whole other request.
        root.get("/version")
        CHANGES[loss].make(admin, who, BANK)
        connection.sendall(body[10:])
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b" ", 2)[1] in (b"401", b"403"), answer
    assert _state(root) == before


def test_jobs_of_somebody_who_lost_the_right_do_not_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Queued while the caller might, run when he may not, or may see less."""
    with held_server(tmp_path_factory.mktemp("jobs"), working=False) as held:
        root = Client(held.port, held.key)
        admin = Admin(root)
        root.retain("depot", {"content": "Mara keeps the depot.", "document_id": "first"})
        jobs = {loss: _queued(held, admin, loss) for loss in ("user disabled", "policy denies")}
        exported = _queued_export(held, admin, root)
        held.work()
        for loss, operation in jobs.items():
            ended = _ended(root, operation)
            assert ended["status"] in ("failed", "cancelled"), (loss, ended)
        assert [one["text"] for one in root.memories("depot", document_id="first")] == [
            "Mara keeps the depot."
        ]
        assert {one["id"] for one in root.documents("depot")} == {"first", "open-doc", "shut-doc"}
        done = _ended(root, exported)
        if done["status"] == "completed":
            url = done["result_metadata"]["download_url"]
            assert not shown(root.request("GET", url).body, HIDDEN), "the copy is made with today's rights"
        root.close()


def _queued(held: Held, admin: Admin, loss: str) -> str:
    who = loss.replace(" ", "-")
    credential = CHANGES[loss].prepare(admin, who, "depot")
    admin.put_policy(f"of-{who}", statement("bank:retain", banks=("depot",)))
    client = Client(held.port, credential)
    item = {"content": f"Jonas emptied it, {who}.", "document_id": who}
    operation = client.retain("depot", item, **{"async": True})["operation_id"]
    client.close()
    CHANGES[loss].make(admin, who, "depot")
    return str(operation)


def _queued_export(held: Held, admin: Admin, root: Client) -> str:
    """Asked for with a view of everything, made when only what is open may be seen."""
    _fill(root)
    client = Client(held.port, admin.user("copier", statement("bank:export", banks=("depot",))))
    started = client.request("POST", bank_path("depot", "/transfer/export")).ok()
    client.close()
    admin.put_policy("of-copier", statement("bank:export", banks=("depot",), recall_tag_groups=OPEN))
    return str(started["operation_id"])


def _fill(root: Client) -> None:
    for document_id, tags in (("open-doc", ["open"]), ("shut-doc", ["shut"])):
        word = HIDDEN[0] if document_id == "shut-doc" else "sand"
        root.retain("depot", {"content": f"Mara keeps {word}.", "document_id": document_id, "tags": tags})


def _ended(root: Client, operation: str) -> Any:
    def look() -> Any:
        found = root.operation("depot", operation)
        return found if found["status"] in ("completed", "failed", "cancelled") else None

    return until(look, f"operation {operation}")
