"""All bindings, in the order in which they are tried."""

from __future__ import annotations

from lorebank.http.binding import Binding
from lorebank.http.routes import (
    banks,
    documents,
    entities,
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
    *server.BINDINGS,
    *lorebank.BINDINGS,
    *reasoning.BINDINGS,
)
