"""All bindings, in the order in which they are tried."""

from __future__ import annotations

from lorebank.http.binding import Binding
from lorebank.http.routes import (
    access,
    audit,
    banks,
    documents,
    entities,
    hindclaw,
    knowledge,
    lorebank,
    memories,
    operations,
    reasoning,
    server,
    transfer,
)

BINDINGS: tuple[Binding, ...] = (
    *memories.BINDINGS,
    *documents.BINDINGS,
    *banks.BINDINGS,
    *operations.BINDINGS,
    *entities.BINDINGS,
    *transfer.BINDINGS,
    *audit.BINDINGS,
    *access.BINDINGS,
    *server.BINDINGS,
    *lorebank.BINDINGS,
    *reasoning.BINDINGS,
    *hindclaw.BINDINGS,
    *knowledge.BINDINGS,
)
