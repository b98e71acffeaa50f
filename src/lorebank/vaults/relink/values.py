"""What a run of relink is asked for and what it reports, and the cursor between its pages."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from lorebank.errors import FieldProblem, InvalidInput
from lorebank.vaults.relink.outcome import TIERS, Outcome

MAX_LIMIT: Final = 500
"""Claims that one call examines at most; the scheduled pass takes pages of this size (seed 002)."""
DEFAULT_LIMIT: Final = 100
MAX_EXAMPLES: Final = 10
"""Examples of each outcome in a report (seed 002)."""
MAX_CURSOR_CHARS: Final = 1_000
Include = Literal["unlinked", "all"]
Word = Literal["linked", "ambiguous", "no_subject", "failed", "review"]
WORDS: Final[tuple[Word, ...]] = get_args(Word)


@dataclass(frozen=True, slots=True)
class Ask:
    """One call. `limit` bounds the claims examined, not the links. `include` `all` lists every current claim
    without linked page and source page, whichever tool saved it, and publishes nothing."""

    dry_run: bool = False
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    include: Include = "unlinked"

    def after(self) -> str:
        """The claim id after which to go on. `InvalidInput` for arguments that do not go together."""
        if not 1 <= self.limit <= MAX_LIMIT:
            raise wrong("limit", f"must be between 1 and {MAX_LIMIT}")
        if self.include == "all" and not self.dry_run:
            raise wrong("include", "'all' is for looking only: send dryRun true with it")
        return "" if self.cursor is None else _read(self.cursor, self)

    def next(self, last: str) -> str:
        """The cursor behind the claim `last`."""
        said = json.dumps([1, self.dry_run, self.include, last], ensure_ascii=True).encode()
        return urlsafe_b64encode(said).decode().rstrip("=")


def _read(cursor: str, ask: Ask) -> str:
    said: Any = None
    if len(cursor) <= MAX_CURSOR_CHARS and cursor.isascii():
        try:
            said = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        except (ValueError, binascii.Error):
            said = None
    if not (isinstance(said, list) and len(said) == 4 and said[0] == 1 and isinstance(said[3], str)):
        raise wrong("cursor", "is not a cursor of this tool; leave it out to begin anew")
    if said[1] is not ask.dry_run or said[2] != ask.include:
        raise wrong("cursor", "belongs to a call with another dryRun or include; send the same values")
    return said[3]


def wrong(name: str, message: str) -> InvalidInput:
    """The error about one argument."""
    return InvalidInput(f"{name} {message}", fields=[FieldProblem(("body", name), message)])


@dataclass(slots=True)
class Report:
    """Counts by outcome and tier, with a few examples of each; `claims` is the list of `include: all`."""

    ask: Ask
    examined: int = 0
    counts: dict[Word, int] = field(default_factory=lambda: dict.fromkeys(WORDS, 0))
    tiers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    examples: dict[Word, list[dict[str, Any]]] = field(default_factory=dict)
    claims: list[dict[str, Any]] = field(default_factory=list)
    next_cursor: str | None = None

    def note(self, word: Word, outcome: Outcome, example: dict[str, Any]) -> None:
        """Count one claim."""
        self.counts[word] += 1
        if word == "linked" and outcome.tier is not None:
            self.tiers[outcome.tier] += 1
        shown = self.examples.setdefault(word, [])
        if len(shown) < MAX_EXAMPLES:
            shown.append(example)

    def answer(self) -> dict[str, Any]:
        """JSON-ready, as the tool gives it."""
        listing = self.ask.include == "all"
        words = [word for word in WORDS if word != "review" or listing]
        found: dict[str, Any] = {
            "dryRun": self.ask.dry_run,
            "examined": self.examined,
            **{word: self.counts[word] for word in words},
            "tiers": dict(self.tiers),
            "examples": {word: self.examples.get(word, []) for word in words},
            "nextCursor": self.next_cursor,
        }
        return found | ({"claims": self.claims} if listing else {})
