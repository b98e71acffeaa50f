"""What a search of a partition is asked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final

from lorebank.errors import FieldProblem, InvalidInput
from lorebank.vaults.find.dates import Span, asked

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 50
MAX_QUERY_CHARS: Final = 2_000
"""More of a question is not looked at: a whole conversation finds nothing better than its last words."""


@dataclass(frozen=True, slots=True)
class Question:
    """One search. Empty `kinds`, `types` and `lifecycles` ask for all; `since`, `until` and `valid_on` are
    dates as text (see `facets.Facets.mask`). Without a `query` everything that passes is listed, newest
    first."""

    query: str = ""
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    lifecycles: tuple[str, ...] = ("active",)
    since: str | None = None
    until: str | None = None
    valid_on: str | None = None
    min_score: float = 0.0

    @property
    def text(self) -> str:
        """The part of the query that is looked at."""
        return self.query.strip()[:MAX_QUERY_CHARS]

    def period(self) -> tuple[Span | None, Span | None]:
        """(from, to) as spans; `InvalidInput` for what is no date and for an end before the start."""
        first, last = asked(self.since, "from"), asked(self.until, "to")
        if first is not None and last is not None and last[1] < first[0]:
            message = "must not be before 'from'"
            raise InvalidInput(f"to {message}", fields=[FieldProblem(("body", "to"), message, "date")])
        return first, last

    def valid_on_span(self) -> Span | None:
        """`valid_on` as a span; `InvalidInput` for what is no date."""
        return asked(self.valid_on, "validOn")

    def digest(self, folder: str) -> str:
        """Stands for this question to this partition, for a cursor."""
        text = json.dumps([folder, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:24]

    def check(self) -> None:
        """`InvalidInput` unless something is asked."""
        given = (self.text, self.kinds, self.types, self.since, self.until, self.valid_on)
        if not any(given):
            message = "is needed, or at least one of kinds, types, from, to, validOn"
            raise InvalidInput(
                f"query {message}", fields=[FieldProblem(("body", "query"), message, "missing")]
            )
