"""The policies that ship with lorebank. They are not stored: they follow the version that runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from lorebank.access.directory import Policy
from lorebank.access.policy.values import VERSION

BANK_ADMIN = "bank:admin"
IAM_ADMIN = "iam:admin"
KNOWLEDGE_ADMIN = "knowledge:admin"
ROOT_POLICIES = (BANK_ADMIN, IAM_ADMIN, KNOWLEDGE_ADMIN)
"""What the root user gets once, when it is first made (issue 3). One that was made before there were
knowledge stores gets the last when a newer lorebank first meets it (`storage.sqlite.root_key`)."""

# id -> (display name, actions); all on `*` (specs, Data model: built-in policies). Knowledge is ours.
_TABLE = {
    "bank:readwrite": ("Read and write all banks", ["bank:recall", "bank:reflect", "bank:retain"]),
    "bank:readonly": ("Read all banks", ["bank:recall", "bank:reflect"]),
    "bank:retain-only": ("Write to all banks", ["bank:retain"]),
    BANK_ADMIN: ("Everything on all banks", ["bank:*"]),
    IAM_ADMIN: ("Everything on the control plane", ["iam:*"]),
    KNOWLEDGE_ADMIN: ("Everything that operators may do on knowledge stores", ["knowledge:*"]),
    "knowledge:host": ("A host's reports on its agents", ["knowledge:host"]),
    "template:admin": ("Everything on templates", ["template:*", "bank:create"]),
    "template:user": (
        "Own templates",
        [
            "template:list",
            "template:create",
            "template:install",
            "template:manage",
            "template:source",
            "bank:create",
        ],
    ),
    "iam:self-service": (
        "Own keys and service accounts",
        [
            "iam:api_keys:read",
            "iam:api_keys:write",
            "iam:service_accounts:read",
            "iam:service_accounts:write",
            "iam:service_account_keys:write",
        ],
    ),
}


def _policy(id: str, name: str, actions: list[str]) -> Policy:
    statement = {"effect": "allow", "actions": actions, "banks": ["*"]}
    document = {"version": VERSION, "statements": [statement]}
    return Policy(id, name, json.dumps(document), is_builtin=True)


BUILTINS: Mapping[str, Policy] = MappingProxyType(
    {id: _policy(id, name, actions) for id, (name, actions) in sorted(_TABLE.items())}
)
"""id -> policy."""
