"""Errors as the wire has them: `{"detail": …}` with the status of the error's class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException

from lorebank.errors import (
    InvalidInput,
    LimitExceeded,
    LorebankError,
    NotCreated,
    NotFound,
    RevisionConflict,
    StoreUnavailable,
    Unauthenticated,
    Unavailable,
    WritesDisabled,
    printable,
)
from lorebank.http.answers import Answer, json_answer

RETRY_AFTER = b"2"
"""Seconds after which a caller may try again what was refused for want of capacity."""


class TooLarge(InvalidInput):
    """A body over the limit; the rest of it is not read. 413."""

    code = "too_large"
    status = 413


class Disconnected(Exception):
    """The client went away before its request was complete; nobody is there to answer."""


def error_answer(error: LorebankError) -> Answer:
    """The answer for an error that lorebank raised on purpose."""
    extra: list[tuple[bytes, bytes]] = []
    if isinstance(error, Unauthenticated):
        extra.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, (Unavailable, LimitExceeded)):
        extra.append((b"retry-after", RETRY_AFTER))
    return json_answer({"detail": _detail(error), **_beside(error)}, error.status, extra)


def _beside(error: LorebankError) -> Mapping[str, Any]:
    """What clients of knowledge stores act on: the reason's code, and both sides of a conflict."""
    if isinstance(error, StoreUnavailable):
        return {"code": error.code, "reason": error.reason}
    if isinstance(error, RevisionConflict):
        return {"code": error.code, "sides": error.sides}
    return {"code": error.code} if isinstance(error, NotCreated | WritesDisabled) else {}


def _detail(error: LorebankError) -> Any:
    if isinstance(error, InvalidInput) and error.status == InvalidInput.status and error.fields:
        return [{"loc": list(one.loc), "msg": one.msg, "type": one.type} for one in error.fields]
    return error.message


def routing_answer(error: HTTPException, missing: str = "") -> Answer:
    """The answer for a path or method that does not exist; `missing` says what the path should have been."""
    given: Mapping[str, str] = error.headers or {}
    extra = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    detail = missing if missing and error.status_code == NotFound.status else error.detail
    return json_answer({"detail": printable(detail)}, error.status_code, extra)


def unexpected_answer(request_id: str) -> Answer:
    """The answer for a mistake in lorebank: it says nothing of the inside but where to look."""
    return json_answer(
        {"detail": f"internal error; the server's log has it under request id {request_id}"}, 500
    )
