"""Parameters and bodies of the operations on the server as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.queries import Query


class StatusQuery(Query):
    """Whether every bank is opened and counted, which takes time where there are many."""

    counts: bool = True


class DoctorRequest(RequestModel):
    """What the doctor does besides checking."""

    rebuild: bool = False
    compact: bool = False


class BackupRequest(RequestModel):
    """Where a backup goes: an absolute path on the server's machine."""

    target: Annotated[str, Field(min_length=1, max_length=4096)]


class ReembedRequest(RequestModel):
    """Which embedder makes the new vectors; null: the configured one."""

    to: Literal["local", "hosted"] | None = None
