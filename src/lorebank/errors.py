"""The error taxonomy: one root class, one stable code and HTTP status each.

`message` is public: it reaches clients and must carry no secret, absolute path or control
character. `cause` is private: it goes to the log only (DESIGN, Errors).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


class LorebankError(Exception):
    """Root of every error that lorebank raises on purpose.

    `confirm` is there where the message may rest on what only this caller may see: whoever sends it calls
    that right before, and sends what it raises instead (`service.guard`).
    """

    code: ClassVar[str] = "bug"
    status: ClassVar[int] = 500
    confirm: Callable[[], None] | None = None

    def __init__(self, message: str, *, cause: BaseException | None = None) -> None:
        super().__init__(message)
        self.message = printable(message)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One wrong field: where it is (`loc`, JSON path parts), what is wrong, and a stable kind."""

    loc: tuple[str | int, ...]
    msg: str
    type: str = "value_error"


class InvalidInput(LorebankError):
    """The caller sent something that cannot be accepted; nothing was written. 422."""

    code = "invalid_input"
    status = 422

    def __init__(
        self, message: str, *, fields: Sequence[FieldProblem] = (), cause: BaseException | None = None
    ) -> None:
        super().__init__(message, cause=cause)
        self.fields = tuple(fields)


class BadRequest(InvalidInput):
    """Invalid input where the Hindsight wire contract answers 400."""

    code = "bad_request"
    status = 400


class NeedsLLM(BadRequest):
    """The operation needs a language model and none is configured. 400."""

    code = "needs_llm"


class Unauthenticated(LorebankError):
    """No valid credential. 401. `who` names the principal where the credential was known once; it goes
    to the audit log only."""

    code = "unauthenticated"
    status = 401

    def __init__(self, message: str, *, who: str = "", cause: BaseException | None = None) -> None:
        super().__init__(message, cause=cause)
        self.who = who


class Forbidden(LorebankError):
    """A valid credential that may not do this. 403, the same whether or not the target exists. `why` is a
    sentence that goes to the audit log only, where the message must not say it."""

    code = "forbidden"
    status = 403

    def __init__(self, message: str, *, why: str = "", cause: BaseException | None = None) -> None:
        super().__init__(message, cause=cause)
        self.why = why


class NotFound(LorebankError):
    """The bank or object does not exist, or is hidden from this caller. 404."""

    code = "not_found"
    status = 404


class Conflict(LorebankError):
    """The state of the target contradicts the request. 409."""

    code = "conflict"
    status = 409


class Gone(LorebankError):
    """A route that the API has retired. 410."""

    code = "gone"
    status = 410


class LimitExceeded(LorebankError):
    """A rate or capacity limit was reached; trying later may work. 429."""

    code = "limit_exceeded"
    status = 429


class Unavailable(LorebankError):
    """Something that is needed does not answer now; trying later may work. 503."""

    code = "unavailable"
    status = 503


class StoreUnavailable(Unavailable):
    """A knowledge store is known and must not be used as it is: not empty, not denied (seed 000). 503.

    `reason` is one of the stable codes of `access.reasons`; it goes to the caller beside the message.
    """

    code = "store_unavailable"

    def __init__(self, reason: str, message: str, *, cause: BaseException | None = None) -> None:
        super().__init__(message, cause=cause)
        self.reason = reason


class NotCreated(NotFound):
    """A knowledge store that nobody has used yet, where only a use with writes would make it. 404."""

    code = "not_created"


class WritesDisabled(Conflict):
    """Something that changes knowledge was asked for while `writesEnabled` is false. 409."""

    code = "writes_disabled"


class RevisionConflict(Conflict):
    """A record changed since the caller read it; both sides are in `sides`, JSON-ready. 409."""

    code = "revision_conflict"

    def __init__(self, message: str, sides: Mapping[str, object]) -> None:
        super().__init__(message)
        self.sides = sides


class Corrupt(LorebankError):
    """Stored data contradicts itself; `lorebank doctor` says what to do. 500."""

    code = "corrupt"
    status = 500


class Bug(LorebankError):
    """A state that the code holds to be impossible. 500."""

    code = "bug"
    status = 500


def one_line(text: str) -> str:
    """What names on disk may hold, as one line: blanks and joiners stay, a line break is shown as `\\n`."""
    clean = "".join(c if c.isprintable() or _in_names(c) else "\\n" if c == "\n" else "\ufffd" for c in text)
    return clean.encode("utf-8", "replace").decode("utf-8")


def _in_names(char: str) -> bool:
    return char in "\u200c\u200d" or unicodedata.category(char) == "Zs"


def printable(text: str) -> str:
    """`text` with control characters and lone surrogates replaced, safe for a terminal and for UTF-8."""
    clean = "".join(c if c == "\n" or c.isprintable() else "\ufffd" for c in text)
    return clean.encode("utf-8", "replace").decode("utf-8")
