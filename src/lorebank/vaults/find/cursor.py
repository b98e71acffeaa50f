"""Where to go on in a search: an opaque text that fits one question and one order of results.

It carries no right and no data: a place, and digests of the question and of the order (`rank.Ranking.order`)
that tell a stale or foreign one.
"""

from __future__ import annotations

import base64
import hashlib
import json

from lorebank.errors import Conflict, FieldProblem, InvalidInput


def encode(place: int, question: str, order: str) -> str:
    """The cursor for going on at `place`."""
    body = json.dumps([place, question, order]).encode("ascii")
    return base64.urlsafe_b64encode(_sum(body) + body).decode("ascii").rstrip("=")


def decode(cursor: str, question: str, order: str) -> int:
    """The place. `InvalidInput` for a text that is no cursor of this search, `Conflict` when knowledge
    changed since it was given."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        if raw[:8] != _sum(raw[8:]):
            raise ValueError("sum")
        place, its_question, its_order = json.loads(raw[8:])
        # The sum keeps slips out, not people: whoever reads this can make one.
        if type(place) is not int or place < 0:
            raise ValueError("place")
    except (ValueError, TypeError, RecursionError) as exc:
        raise _wrong("is not a cursor; give nextCursor of an earlier answer unchanged") from exc
    if its_question != question:
        raise _wrong("belongs to another question; ask the same one again, or leave the cursor out")
    if its_order != order:
        raise Conflict("the knowledge changed since this cursor was given; search again without it")
    return place


def _sum(body: bytes) -> bytes:
    return hashlib.sha256(b"lorebank search cursor" + body).digest()[:8]


def _wrong(message: str) -> InvalidInput:
    return InvalidInput(f"cursor {message}", fields=[FieldProblem(("body", "cursor"), message, "cursor")])
