"""Background operations of a bank."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.queries import ListOperationsQuery, OperationQuery

BINDINGS = (
    bind("GET", "~/operations", "list_operations", query=ListOperationsQuery),
    bind("GET", "~/operations/{operation_id}", "get_operation_status", query=OperationQuery),
    bind("DELETE", "~/operations/{operation_id}", "cancel_operation"),
    bind("POST", "~/operations/{operation_id}/retry", "retry_operation"),
    bind("DELETE", "~/operations/{operation_id}/delete", "delete_operation"),
)
