"""The one table of operations, assembled from the handlers. Start-up fails when two share a name."""

from __future__ import annotations

from collections.abc import Mapping

from lorebank.service.handlers import (
    access,
    audit,
    bank_access,
    banks,
    config,
    documents,
    entities,
    graphs,
    health,
    iam_accounts,
    iam_groups,
    iam_me,
    iam_policies,
    iam_resolve,
    iam_templates,
    iam_users,
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
    bank_access.OPERATIONS,
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
    audit.OPERATIONS,
    access.OPERATIONS,
    maintenance.OPERATIONS,
    reasoning.OPERATIONS,
    iam_users.OPERATIONS,
    iam_groups.OPERATIONS,
    iam_policies.OPERATIONS,
    iam_accounts.OPERATIONS,
    iam_me.OPERATIONS,
    iam_resolve.OPERATIONS,
    iam_templates.OPERATIONS,
)
