"""Templates and their sources: the routes and their actions are declared, the work is not there yet."""

from __future__ import annotations

from typing import NoReturn

from lorebank.errors import BadRequest
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope


def refuse_templates(call: Call) -> NoReturn:
    """400, with what can be done instead."""
    raise BadRequest(
        "templates are not part of this release; make the bank with PUT, set it up with PATCH on its config"
    )


def refuse_sources(call: Call) -> NoReturn:
    """400."""
    raise BadRequest("template sources are not part of this release")


_OWN = {
    "list_my_templates": "template:list",
    "create_my_template": "template:create",
    "get_my_template": "template:list",
    "patch_my_template": "template:manage",
    "delete_my_template": "template:manage",
    "install_my_template": "template:install",
    "update_my_template_from_source": "template:install",
    "check_my_template_update": "template:list",
}
_SERVERS = (
    "list_admin_templates",
    "create_admin_template",
    "get_admin_template",
    "patch_admin_template",
    "delete_admin_template",
    "install_admin_template",
    "update_admin_template_from_source",
    "check_admin_template_update",
)
_OWN_SOURCES = ("list_my_template_sources", "create_my_template_source", "delete_my_template_source")
_SERVER_SOURCES = ("list_template_sources", "create_template_source", "delete_template_source")

OPERATIONS = (
    Operation("create_bank_from_template", "bank:create", Scope.SERVER, refuse_templates),
    *(Operation(name, action, Scope.SERVER, refuse_templates) for name, action in _OWN.items()),
    *(Operation(name, "template:admin", Scope.SERVER, refuse_templates) for name in _SERVERS),
    *(Operation(name, "template:source", Scope.SERVER, refuse_sources) for name in _OWN_SOURCES),
    *(Operation(name, "template:admin", Scope.SERVER, refuse_sources) for name in _SERVER_SOURCES),
)
