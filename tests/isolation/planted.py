"""Banks with canaries in them: some in what a filtered caller sees, some in what is hidden from him."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from canary import canary, found_in
from live_server import Client, bank_path
from wire_walk import Names, names_of

VISIBLE = canary("seen")
HIDDEN = canary("shut")
OPEN = [{"tags": ["open"], "match": "any_strict"}]
"""The filter of filtered callers."""
HIDDEN_DOCUMENTS = ("shut-doc", "bare-doc", "pending-doc")


@dataclass(frozen=True)
class Planted:
    """A bank's names through a document that is open and one that is hidden."""

    open: Names
    hidden: Names


def plant(client: Client, bank: str, *, visible: bool = True) -> Planted:
    """Fill a bank. With `visible` False it holds nothing but ordinary text."""
    seen, shut = (" ".join(VISIBLE), " ".join(HIDDEN)) if visible else ("sand", "gravel")
    hidden: dict[str, Any] = {
        "context": f"keys {shut}",
        "metadata": {"note": f"n {shut}"},
        "entities": [{"text": f"Boathouse {shut}"}],
        "timestamp": "2026-05-17T09:00:00Z",
    }
    client.retain(
        bank,
        {
            "content": f"Mara Holm keeps the spare key of the heron cottage {seen}.",
            "document_id": "open-doc",
            "tags": ["open", "shared"],
            "entities": [{"text": f"Cottage {seen}"}],
            "timestamp": "2026-05-16T09:00:00Z",
        },
        {
            "content": f"Mara Holm keeps the second key in the boathouse {shut}.",
            "document_id": "shut-doc",
            "tags": ["shut", "shared", f"tag-{HIDDEN[0]}" if visible else "tag-none"],
            **hidden,
        },
        {"content": f"Mara Holm lost the third key {shut}.", "document_id": "bare-doc", **hidden},
    )
    _plant_undecided(client, bank, {"content": f"Mara Holm sold the fourth key {shut}.", **hidden})
    entities = {one["canonical_name"]: one["id"] for one in client.bank(bank, "/entities")["items"]}

    def names(document_id: str, start: str) -> Names:
        made = names_of(client, bank, document_id)
        (entity,) = (id for name, id in entities.items() if name.startswith(start))
        return replace(made, entity_id=entity)

    return Planted(names("open-doc", "Cottage"), names("shut-doc", "Boathouse"))


def _plant_undecided(client: Client, bank: str, item: dict[str, Any]) -> None:
    """A memory that would be open if it did not wait for a label that rules cannot give."""
    labels = [{"key": "mood", "tag": True, "values": [{"value": "joyful"}, {"value": "angry"}]}]
    path = bank_path(bank, "/config")
    client.request("PATCH", path, {"updates": {"entity_labels": labels}}).ok()
    client.retain(bank, {**item, "document_id": "pending-doc", "tags": ["open"]})
    client.request("DELETE", path).ok()


def shown(data: bytes, words: Iterable[str]) -> list[str]:
    """Which canaries are in an answer."""
    return found_in(data, words)


def state_of(client: Client, bank: str, documents: Iterable[str] = HIDDEN_DOCUMENTS) -> Any:
    """What these documents of a bank hold, as root sees it, in a form that can be compared."""
    found: list[Any] = []
    for document_id in documents:
        row = client.bank(bank, f"/documents/{document_id}")
        texts = sorted(
            (one["id"], one["text"], one["context"], tuple(sorted(one["tags"])))
            for one in client.memories(bank, document_id=document_id)
        )
        found.append((document_id, row["original_text"], tuple(sorted(row["tags"])), tuple(texts)))
    return found


def exists(client: Client, bank: str) -> bool:
    """Whether the bank is there."""
    return client.request("GET", bank_path(bank, "/profile")).status == 200
