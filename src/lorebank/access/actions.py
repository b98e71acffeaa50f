"""Every action there is, and the few that imply others. A pure table: `docs/actions.md` is made from it.

An action is `<part>:<resource>:<verb>` or shorter. Grants may name one action or a family that ends
in `:*`. Which operations an action opens stands in the operations table (`service.operations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RECALL = "bank:recall"
REFLECT = "bank:reflect"
RETAIN = "bank:retain"
LIST_BANKS = "bank:list"
OWN_RIGHTS = "bank:access"
OWN_PROFILE = "iam:me:read"
RESERVED_TAGS = "bank:tags:reserved"
UPDATE_DOCUMENTS = "bank:documents:update"
CREATE_BANK = "bank:create"
ATTACH = "iam:attachments:write"
KNOWLEDGE_READ = "knowledge:read"
KNOWLEDGE_WRITE = "knowledge:write"
KNOWLEDGE_ADMIN = "knowledge:admin"
KNOWLEDGE_HOST = "knowledge:host"
KNOWLEDGE_RECALL = "knowledge:recall"
KNOWLEDGE_SAVE = "knowledge:save"
MANAGE_ACCOUNTS = "iam:service_accounts:manage"

ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        RECALL: "find memories by a question",
        REFLECT: "get answers made from memories; nothing raw",
        RETAIN: "store new memories",
        LIST_BANKS: "see the bank in lists",
        "bank:read": "read a bank's profile",
        CREATE_BANK: "make a bank with its first settings",
        "bank:update": "change a bank's profile",
        "bank:delete": "delete a bank with everything in it",
        OWN_RIGHTS: "ask for one's own rights on a bank; everybody may",
        "bank:aliases:read": "read a bank's other names",
        "bank:aliases:update": "change a bank's other names",
        "bank:audit:get": "read one audit row of a bank",
        "bank:audit:list": "read a bank's audit log",
        "bank:clone": "copy a bank",
        "bank:config:read": "read a bank's settings",
        "bank:config:update": "change a bank's settings",
        "bank:consolidate": "start consolidation",
        "bank:directives:create": "add a directive",
        "bank:directives:delete": "delete a directive",
        "bank:directives:get": "read a directive",
        "bank:directives:list": "list directives",
        "bank:directives:update": "change a directive",
        "bank:documents:delete": "delete documents",
        "bank:documents:get": "read documents and chunks",
        "bank:documents:list": "list documents",
        UPDATE_DOCUMENTS: "change or reprocess documents, and retain over other people's",
        "bank:entities:get": "read an entity with its memories",
        "bank:entities:list": "list entities",
        "bank:export": "export a bank and download exports",
        "bank:graph": "read the graph of memories",
        "bank:import": "import archives into a bank",
        "bank:knowledge:create": "add knowledge pages",
        "bank:knowledge:delete": "delete knowledge pages",
        "bank:knowledge:get": "read knowledge pages",
        "bank:knowledge:list": "list knowledge pages",
        "bank:knowledge:update": "change knowledge pages",
        "bank:llm_requests:list": "read traces of model calls",
        "bank:memories:delete": "delete memories",
        "bank:memories:get": "read one memory",
        "bank:memories:list": "list memories",
        "bank:memories:update": "change memories, and see what was changed",
        "bank:mental_models:create": "add a mental model",
        "bank:mental_models:delete": "delete a mental model",
        "bank:mental_models:get": "read a mental model",
        "bank:mental_models:list": "list mental models",
        "bank:mental_models:refresh": "refresh a mental model",
        "bank:mental_models:update": "change a mental model",
        "bank:observations:delete": "delete observations",
        "bank:observations:list": "list scopes of observations",
        "bank:operations:cancel": "cancel operations",
        "bank:operations:delete": "delete ended operations",
        "bank:operations:get": "read an operation's state",
        "bank:operations:list": "list operations",
        "bank:operations:retry": "run failed operations again",
        "bank:stats": "read a bank's numbers",
        "bank:tags:list": "list tags",
        RESERVED_TAGS: "set `user:` and `agent:` tags by hand",
        "bank:webhooks:create": "add a webhook",
        "bank:webhooks:delete": "delete a webhook",
        "bank:webhooks:list": "list webhooks and deliveries",
        "bank:webhooks:update": "change a webhook",
        OWN_PROFILE: "read one's own user record; every user may",
        "iam:api_keys:read": "list one's own API keys",
        "iam:api_keys:write": "make and delete one's own API keys",
        ATTACH: "attach policies to principals",
        "iam:audit:read": "read the server's audit log",
        "iam:banks:read": "read bank policies",
        "iam:banks:write": "change bank policies",
        "iam:groups:read": "read groups",
        "iam:groups:write": "change groups and their members",
        "iam:policies:read": "read policies and attachments",
        "iam:policies:write": "change policies",
        "iam:server:backup": "back the server up",
        "iam:server:doctor": "check and mend the data directory",
        "iam:server:metrics": "read the server's metrics",
        "iam:server:reembed": "change the embedder of all banks",
        "iam:server:status": "read the server's state",
        "iam:service_account_keys:write": "make and delete keys of service accounts",
        MANAGE_ACCOUNTS: "manage all service accounts and their keys",
        "iam:service_accounts:read": "read service accounts",
        "iam:service_accounts:write": "change service accounts",
        "iam:users:read": "read users, channels and keys; explain decisions",
        "iam:users:write": "change users, channels and keys",
        KNOWLEDGE_READ: "browse an agent's private knowledge and see its state, where `operatorRead` is true",
        KNOWLEDGE_WRITE: "what `knowledge:read` opens; operators never edit knowledge",
        KNOWLEDGE_ADMIN: "assign knowledge stores to agents and grant conversations access",
        KNOWLEDGE_HOST: "report a host's agents, conversations and ended invocations",
        KNOWLEDGE_RECALL: "read knowledge as an agent; decided by the agent's audience, never by a policy",
        KNOWLEDGE_SAVE: "change knowledge as an agent; decided by the agent's audience, never by a policy",
        "template:admin": "manage the server's templates and sources",
        "template:create": "make own templates",
        "template:install": "install templates from sources",
        "template:list": "list templates",
        "template:manage": "change own templates",
        "template:source": "manage own template sources",
    }
)
"""action -> what it allows."""

IMPLIED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        RECALL: frozenset(
            {
                "bank:read",
                "bank:memories:list",
                "bank:memories:get",
                "bank:graph",
                "bank:documents:list",
                "bank:documents:get",
                "bank:entities:list",
                "bank:entities:get",
                "bank:tags:list",
                "bank:mental_models:list",
                "bank:mental_models:get",
            }
        ),
        RETAIN: frozenset({"bank:operations:list", "bank:operations:get"}),
        MANAGE_ACCOUNTS: frozenset(
            {
                "iam:service_accounts:read",
                "iam:service_accounts:write",
                "iam:service_account_keys:write",
            }
        ),
        KNOWLEDGE_WRITE: frozenset({KNOWLEDGE_READ}),
        KNOWLEDGE_ADMIN: frozenset({KNOWLEDGE_WRITE}),
    }
)
"""What an action implies, for allow and for deny alike (issue 3). Operations seen through retain
are only those that the caller started."""

IMPLYING: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        action: tuple(sorted(giver for giver, given in IMPLIED.items() if action in given))
        for action in ACTIONS
        if any(action in given for given in IMPLIED.values())
    }
)
"""The reverse: action -> the actions that imply it."""

EVERYBODY = frozenset({OWN_RIGHTS})
"""Open to every authenticated caller, for itself."""
EVERY_USER = frozenset({OWN_PROFILE})
"""Open to every user, for himself."""
AUDIENCE_ONLY = frozenset({KNOWLEDGE_RECALL, KNOWLEDGE_SAVE})
"""What the audience of an agent decides alone (`access.vault_resolve`); policies cannot name these."""
SHOWS_BANK = (LIST_BANKS, "bank:read", RECALL, REFLECT, RETAIN)
"""Who may do one of these sees the bank in lists, unless `bank:list` is denied."""

_READING_VERBS = frozenset({"read", "list", "get", "recall", "reflect", "stats", "graph", "access"})
_READING = frozenset({"iam:server:metrics", "iam:server:status", OWN_RIGHTS})


def writes(action: str) -> bool:
    """Whether the action may change something: then its audit row is durable before it begins."""
    return action not in _READING and action.rsplit(":", 1)[-1] not in _READING_VERBS


def on_agents(action: str) -> bool:
    """Whether the action is decided on agents: then statements name `agent:<id>` where others name banks."""
    return action.startswith("knowledge:")


def covers(granted: str, asked: str) -> bool:
    """Whether a statement's `granted` action speaks of `asked`: equal, of its family (`x:*`), or implying it.

    A bare `*` names no family and covers nothing (specs, Matching).
    """
    if granted == asked:
        return True
    if granted.endswith(":*") and asked.startswith(granted[:-1]):
        return True
    return any(covers(granted, giver) for giver in IMPLYING.get(asked, ()))
