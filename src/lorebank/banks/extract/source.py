"""What kind of content an item is: a conversation in one of its written forms, or a document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["text", "json", "jsonl"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation.

    `raw` is the turn as it stands in the content (for JSON: the turn written as JSON). `speaker` is empty
    for text that nobody says, such as a title above a transcript. `role` is the lower-case role where the
    form has one.
    """

    speaker: str
    text: str
    raw: str
    role: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns in order. For kind "text" the `raw` parts, joined, are the content itself."""

    kind: Kind
    turns: tuple[Turn, ...]
