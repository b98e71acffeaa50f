"""Tags that say who stored something: `user:` and `agent:`. Callers cannot set them as they like.

What a caller stores gets his own ones by itself (`Grant.auto_tags`). He may send those, because a
client may repeat what it has read; any other one is refused (issue 3, reserved tags).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from lorebank.access.grant import Grant
from lorebank.errors import FieldProblem, InvalidInput

PREFIXES = ("user:", "agent:")


def is_reserved(tag: str) -> bool:
    """Whether a reader may take the tag for a mark of origin: case, width, invisible characters and
    surrounding white space do not hide it."""
    if tag.isascii():
        return tag.strip().casefold().startswith(PREFIXES)
    folded = unicodedata.normalize("NFKC", tag).casefold()
    shown = "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Cc"))
    return shown.strip().startswith(PREFIXES)


def forged(grant: Grant, tags: Iterable[str], known: Collection[str] = ()) -> str | None:
    """The first reserved tag that the holder may not set; None when there is none.

    `known` are the tags that the target has already.
    """
    if grant.may_reserve:
        return None
    return next((t for t in tags if is_reserved(t) and t not in grant.auto_tags and t not in known), None)


def refuse_forged(
    grant: Grant,
    tags: Iterable[str],
    field: str,
    loc: tuple[str | int, ...],
    known: Collection[str] = (),
) -> None:
    """`InvalidInput` that names the field and the tag, for the first one that the holder may not set."""
    tag = forged(grant, tags, known)
    if tag is not None:
        message = (
            f"the tag '{tag[:200]}' is reserved: tags that begin with user: or agent: are set by the "
            "server from who stores; use another tag, or ask for the action bank:tags:reserved"
        )
        raise InvalidInput(f"{field}: {message}", fields=[FieldProblem(loc, message)])


def scope_tags(scopes: Any) -> Iterator[str]:
    """The tags that observation scopes name: what is observed under a scope carries its tags."""
    for scope in scopes if isinstance(scopes, list) else ():
        if isinstance(scope, str):
            yield scope
        else:
            yield from scope_tags(scope)


def honest(grant: Grant, tags: Iterable[str]) -> tuple[str, ...]:
    """The tags without those that the holder may not set."""
    if grant.may_reserve:
        return tuple(tags)
    return tuple(tag for tag in tags if not is_reserved(tag) or tag in grant.auto_tags)
