"""Who is asking. A principal is a value that can be stored with a job and resolved again later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lorebank.errors import Corrupt

PrincipalKind = Literal["user", "local"]
_KINDS: tuple[PrincipalKind, ...] = ("user", "local")


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    `kind` is `user` (an API key) or `local` (a loopback caller of a server started with
    `--no-auth`). `root` marks the one principal that the fixed rule set allows everything.
    """

    kind: PrincipalKind
    id: str
    root: bool = False

    def to_json(self) -> dict[str, Any]:
        """The form that is stored with a job."""
        return {"kind": self.kind, "id": self.id, "root": self.root}


def principal_from_json(data: Mapping[str, Any] | None) -> Principal:
    """The stored principal; `Corrupt` when it is missing or malformed, never a default identity."""
    if data is None or data.get("kind") not in _KINDS or not isinstance(data.get("id"), str):
        raise Corrupt("a job has no readable principal; it cannot run")
    return Principal(kind=data["kind"], id=data["id"], root=data.get("root") is True)
