"""The one table of operations, assembled from the handlers. Start-up fails when two share a name."""

from __future__ import annotations

from collections.abc import Mapping

from lorebank.service.handlers import (
    banks,
    config,
    documents,
    entities,
    graphs,
    health,
    maintenance,
    memories,
    operations,
    reasoning,
    recall,
    retain,
    stats,
    transfer,
)
from lorebank.service.operations import Operation, table

OPERATIONS: Mapping[str, Operation] = table(
    health.OPERATIONS,
    banks.OPERATIONS,
    config.OPERATIONS,
    stats.OPERATIONS,
    retain.OPERATIONS,
    recall.OPERATIONS,
    memories.OPERATIONS,
    documents.OPERATIONS,
    entities.OPERATIONS,
    graphs.OPERATIONS,
    operations.OPERATIONS,
    transfer.OPERATIONS,
    maintenance.OPERATIONS,
    reasoning.OPERATIONS,
)
