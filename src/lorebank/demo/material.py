"""The demonstration's conversation and questions as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: what was said, by whom, and when (ISO 8601)."""

    document_id: str
    timestamp: str
    context: str
    turns: tuple[tuple[str, str], ...]

    def item(self) -> dict[str, Any]:
        """The session as an item of a retain request: one line a turn."""
        return {
            "content": "\n".join(f"{speaker}: {text}" for speaker, text in self.turns),
            "document_id": self.document_id,
            "timestamp": self.timestamp,
            "context": self.context,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what it shows of recall, and a word that the right memory contains."""

    ask: str
    shows: str
    answer: str


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that the demonstration loads and asks; `asked_at` is the questions' own time (ISO 8601)."""

    about: str
    asked_at: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    @property
    def document_ids(self) -> frozenset[str]:
        """The documents that the demonstration makes."""
        return frozenset(session.document_id for session in self.sessions)


def material() -> Material:
    """The material that ships with lorebank."""
    data = json.loads(files(__package__).joinpath("conversation.json").read_text(encoding="utf-8"))
    return Material(
        about=data["about"],
        asked_at=data["asked_at"],
        sessions=tuple(_session(entry) for entry in data["sessions"]),
        questions=tuple(Question(**entry) for entry in data["questions"]),
    )


def _session(entry: Mapping[str, Any]) -> Session:
    turns = tuple((speaker, text) for speaker, text in entry["turns"])
    return Session(entry["document_id"], entry["timestamp"], entry["context"], turns)
