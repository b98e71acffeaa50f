"""Which turns of a conversation somebody may keep, by role; and how many turns of the user it has.

A turn is the assistant's, the system's or a tool's where its role says so. Every other turn, also one
of a named person or without a role, is a user's: somebody who may keep only what the assistant says
must not keep what people say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from lorebank.banks.extract.source import Conversation, Turn
from lorebank.banks.extract.structured import WRAPPER_KEYS, dumps, parse_structured
from lorebank.banks.extract.transcript import parse_text
from lorebank.banks.extract.turns import AGENT_ROLES, SYSTEM_ROLES, TOOL_ROLES

ROLES = ("user", "assistant", "system", "tool")
_UNCLOSED = re.compile(r"\[role: ?(?P<role>[\w-]{1,40})\]")
_CALLS = ("tool_calls", "function_call")
"""Members of a JSON turn that hold calls of tools."""


def role_of(turn: Turn) -> str:
    """One of `ROLES`."""
    role = turn.role
    if not role and (begun := _UNCLOSED.match(turn.text)):
        role = begun["role"].lower()
    if role in AGENT_ROLES:
        return "assistant"
    if role in SYSTEM_ROLES:
        return "system"
    return "tool" if role in TOOL_ROLES else "user"


def only_roles(content: str, roles: Collection[str]) -> str:
    """The content with only the turns of these roles, in the form it had; empty when none is left.

    What is no conversation stays as it is, unless no role at all is kept.
    """
    if not roles:
        return ""
    conversation = parse_structured(content) or parse_text(content, None)
    if conversation is None:
        return content
    if conversation.kind != "text":
        return _json_only(content, conversation, roles)
    kept = [turn.raw for turn in conversation.turns if role_of(turn) in roles]
    return content if len(kept) == len(conversation.turns) else "".join(kept)


def user_turns(content: str) -> int | None:
    """How many turns of the user a conversation from a gateway or in JSON has; None for any other text."""
    conversation = parse_structured(content)
    if conversation is None and content.lstrip().startswith("[role:"):
        conversation = parse_text(content, None)
    if conversation is None:
        return None
    return sum(role_of(turn) == "user" for turn in conversation.turns)


def _json_only(content: str, conversation: Conversation, roles: Collection[str]) -> str:
    pairs = [(turn, json.loads(turn.raw)) for turn in conversation.turns]
    entries = [_without_calls(entry, roles) for turn, entry in pairs if role_of(turn) in roles]
    if entries == [entry for _, entry in pairs]:
        return content
    if not entries:
        return ""
    if conversation.kind == "jsonl":
        return "\n".join(map(dumps, entries))
    whole = json.loads(content)
    if isinstance(whole, list):
        return dumps(entries)
    # What else a wrapper holds may repeat what was said, so only the turns stay.
    name = next((key for key in WRAPPER_KEYS if isinstance(whole.get(key), list)), None)
    return dumps(entries[0] if name is None else {name: entries})


def _without_calls(entry: Mapping[str, Any], roles: Collection[str]) -> Mapping[str, Any]:
    """The turn without what tools were asked and answered inside it, where tools are not kept."""
    if "tool" in roles:
        return entry
    return {
        name: [block for block in value if not _is_call(block)] if isinstance(value, list) else value
        for name, value in entry.items()
        if name not in _CALLS
    }


def _is_call(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind.startswith(("tool", "function"))
