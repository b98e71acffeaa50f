"""Operations on operations: list, status, cancel, retry, delete."""

from __future__ import annotations

from lorebank.banks import operations
from lorebank.ids import parse_uuid
from lorebank.service import render
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.storage.ports import Page
from lorebank.storage.rows import Operation as Row


def list_operations(call: Call) -> render.Wire:
    """OperationsListResponse, newest first, ended ones too."""
    asked = call.params
    page = Page(asked["limit"], asked["offset"])
    found = operations.listing(call.handle, asked["status"], asked["type"], asked["exclude_parents"], page)
    rows = [render.operation_item(row) for row in found.rows]
    return {"bank_id": call.handle.bank.bank_id, **render.page("operations", rows, found.total, page)}


def get_operation_status(call: Call) -> render.Wire:
    """OperationStatusResponse; an id that names nothing has the status `not_found`."""
    operation_id = call.params["operation_id"]
    found = operations.find(call.handle, operation_id)
    if found is None:
        return render.unknown_operation(parse_uuid(operation_id, "operation_id"))
    payload = call.params["include_payload"] and _may_read_input(call, found[0])
    return render.operation_status(*found, payload=payload)


def _may_read_input(call: Call, operation: Row) -> bool:
    """The input holds text: it is for who sent it, and for who may read the bank's documents."""
    principal = call.grant.principal
    if (operation.principal or {}).get("name") == principal.name:
        return True
    return call.context.resolver.allowed(principal, "bank:documents:get", call.grant.bank)


def cancel_operation(call: Call) -> render.Wire:
    """CancelOperationResponse."""
    operation = operations.cancel(call.handle, call.params["operation_id"], call.context.clock())
    return _done(operation.id, "cancelled")


def retry_operation(call: Call) -> render.Wire:
    """RetryOperationResponse."""
    context = call.context
    operation = operations.retry(
        call.handle, context.banks, context.work.notify, call.params["operation_id"], context.clock()
    )
    return _done(operation.id, "queued again")


def delete_operation(call: Call) -> render.Wire:
    """DeleteOperationResponse."""
    operation_id = parse_uuid(call.params["operation_id"], "operation_id")
    operations.delete(call.handle, operation_id)
    return _done(operation_id, "deleted")


def _done(operation_id: str, what: str) -> render.Wire:
    return {"success": True, "message": f"Operation {operation_id} {what}", "operation_id": operation_id}


OPERATIONS = (
    Operation("list_operations", "bank:operations:list", Scope.BANK, list_operations),
    Operation("get_operation_status", "bank:operations:get", Scope.BANK, get_operation_status),
    Operation("cancel_operation", "bank:operations:cancel", Scope.BANK, cancel_operation),
    Operation("retry_operation", "bank:operations:retry", Scope.BANK, retry_operation),
    Operation("delete_operation", "bank:operations:delete", Scope.BANK, delete_operation),
)
