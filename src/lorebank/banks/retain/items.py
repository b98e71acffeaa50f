"""One thing to remember, as banks see it, and the form in which it waits in a job's payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lorebank.clock import Micros, to_micros
from lorebank.errors import Corrupt

UNSET = "unset"
"""The wire's word for an item without a date."""
DEFAULT_ENTITY_TYPE = "CONCEPT"
"""The type of an entity whose caller names none (specs, Retain pipeline)."""


@dataclass(frozen=True, slots=True)
class Item:
    """A validated item of a retain request.

    `when` is when it was said, in the caller's zone; None only for items without a date. `stated`
    tells whether the caller gave `when`, or it is the time of the request. `entities` are the
    (name, type) pairs that the caller names. Local rules take them literally either way, so that
    `resolve_entities` only matters to extraction by a model; it is kept for a later reprocess.
    """

    content: str
    context: str = ""
    when: datetime | None = None
    stated: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    document_id: str | None = None
    entities: tuple[tuple[str, str], ...] = ()
    resolve_entities: bool = True
    tags: tuple[str, ...] = ()
    observation_scopes: Any = None
    strategy: str | None = None
    append: bool = False

    @property
    def mentioned_at(self) -> Micros | None:
        """`when` in the stored form."""
        return None if self.when is None else to_micros(self.when)


def joined_tags(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Both sets of tags as they are stored: sorted, without repeats."""
    if not first and not second:
        return ()
    return tuple(sorted({*first, *second}))


def parameters(item: Item) -> dict[str, Any]:
    """What shapes the memories of an item besides its content; JSON-ready, defaults left out.

    Two items with equal parameters and equal text give equal memories. A time that the caller did
    not state is left out: sending the same text again later is the same item.
    """
    found: dict[str, Any] = {}
    if item.context:
        found["context"] = item.context
    if item.stated:
        found["timestamp"] = UNSET if item.when is None else item.when.isoformat()
    if item.metadata:
        found["metadata"] = dict(item.metadata)
    if item.tags:
        found["tags"] = list(item.tags)
    if item.entities:
        found["entities"] = [list(pair) for pair in item.entities]
    if not item.resolve_entities:
        found["resolve_entities"] = False
    if item.strategy is not None:
        found["strategy"] = item.strategy
    return found


def to_json(item: Item) -> dict[str, Any]:
    """The whole item, for a payload."""
    made = parameters(item) | {"content": item.content}
    if not item.stated and item.when is not None:
        made["accepted_at"] = item.when.isoformat()
    if item.document_id is not None:
        made["document_id"] = item.document_id
    if item.observation_scopes is not None:
        made["observation_scopes"] = item.observation_scopes
    if item.append:
        made["update_mode"] = "append"
    return made


def from_json(data: Mapping[str, Any]) -> Item:
    """The item of a payload or of a document's stored parameters; `Corrupt` when it cannot be read."""
    try:
        stated = "timestamp" in data
        said = data["timestamp"] if stated else data.get("accepted_at")
        return Item(
            content=data["content"],
            context=data.get("context", ""),
            when=None if said is None or said == UNSET else _aware(said),
            stated=stated,
            metadata=data.get("metadata", {}),
            document_id=data.get("document_id"),
            entities=tuple((name, kind) for name, kind in data.get("entities", ())),
            resolve_entities=data.get("resolve_entities", True),
            tags=tuple(data.get("tags", ())),
            observation_scopes=data.get("observation_scopes"),
            strategy=data.get("strategy"),
            append=data.get("update_mode") == "append",
        )
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise Corrupt("a stored item of a retain cannot be read", cause=exc) from exc


def _aware(text: str) -> datetime:
    when = datetime.fromisoformat(text)
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
