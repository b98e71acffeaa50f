"""How to ask the routes of knowledge: one entry an operation. Audience tokens, made as a host makes them."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Mapping
from typing import Any

from access_admin import signed
from live_server import File
from wire_walk import Ask

BASE = "/v1/lorebank/knowledge"
AUDIENCE_SECRET = "a secret that the agents' host and the server share for these tests only"
AGENT = "walk-agent"
_RECORD = "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
_DATA = b"one line\nand another\n"


def audience(
    agent: str = AGENT,
    *,
    secret: str = AUDIENCE_SECRET,
    lifetime: float = 600,
    now: float | None = None,
    without: tuple[str, ...] = (),
    header: Mapping[str, Any] | None = None,
    **claims: Any,
) -> str:
    """A fresh audience token: owner-private unless the claims say otherwise."""
    issued = int(time.time() if now is None else now)
    payload: dict[str, Any] = {
        "aud": "lorebank",
        "iat": issued,
        "exp": issued + int(lifetime),
        "jti": str(uuid.uuid4()),
        "agent": agent,
        "visibility": "owner-private",
        "invocation": "walk-run",
        **claims,
    }
    kept = {name: value for name, value in payload.items() if name not in without}
    return signed(secret, kept, header or {"alg": "HS256", "typ": "lorebank-audience"})


def attachment(data: bytes = _DATA, *, request_id: str = "walk-file", **asked: Any) -> Ask:
    """A file to keep."""
    said = {"requestId": request_id, "sha256": hashlib.sha256(data).hexdigest(), **asked}
    return Ask(files=(File("file", "walk.txt", data),), fields={"request": json.dumps(said)})


KNOWLEDGE_ASKS: Mapping[str, Ask] = {
    "knowledge_search": Ask(body={"query": "spare key"}),
    "knowledge_get": Ask(body={"id": _RECORD}),
    "knowledge_recall": Ask(body={"query": "spare key"}),
    "knowledge_ontology": Ask(body={}),
    "knowledge_context": Ask(body={}),
    "knowledge_history": Ask(body={"id": _RECORD}),
    "knowledge_restore": Ask(body={"id": _RECORD, "revision": 1, "expectedRevision": 2}),
    "knowledge_remember": Ask(body={"text": "The gate squeaks."}),
    "knowledge_save_page": Ask(body={"title": "Gate", "type": "concept"}),
    "knowledge_save_claim": Ask(body={"id": _RECORD, "expectedRevision": 1, "title": "Gate"}),
    "knowledge_save_relationship": Ask(body={"id": _RECORD, "expectedRevision": 1, "title": "Gate"}),
    "knowledge_attach_file": attachment(),
    "knowledge_relink": Ask(body={"dryRun": True}),
    "share_knowledge_store": Ask(body={"name": "walk-team"}),
    "use_shared_knowledge_store": Ask(body={"name": "walk-team"}),
    "use_own_knowledge_store": Ask(),
    "grant_knowledge_access": Ask(body={"sessionKey": "agent:walk-agent:group:1", "access": "read"}),
    "revoke_knowledge_access": Ask(body={"sessionKey": "agent:walk-agent:group:1"}),
    "run_knowledge_maintenance": Ask(body={}),
    "check_knowledge_stores": Ask(body={}),
    "import_knowledge_store": Ask(body={"path": "not/absolute"}),
    "resolve_knowledge_publication": Ask(body={"requestId": "walk", "keep": "mine"}),
    "accept_knowledge_folders": Ask(),
    "report_knowledge_host": Ask(body={"agents": [AGENT], "conversations": []}),
    "end_knowledge_invocation": Ask(body={"invocation": "walk-old-run"}),
    "answer_knowledge_review": Ask(body={"outcome": "skipped"}),
    **dict.fromkeys(
        (
            "list_knowledge_stores",
            "list_knowledge_conversations",
            "list_knowledge_grants",
            "browse_knowledge_records",
            "browse_knowledge_record",
            "browse_knowledge_history",
            "get_knowledge_diagnostics",
            "get_knowledge_maintenance",
            "get_knowledge_task",
            "list_knowledge_reviews",
            "take_knowledge_review",
        ),
        Ask(),
    ),
}
"""operation -> its request."""
FINDS_NOTHING = frozenset(
    {
        "knowledge_get",
        "knowledge_history",
        "knowledge_restore",
        "knowledge_save_claim",
        "knowledge_save_relationship",
        "import_knowledge_store",
        "resolve_knowledge_publication",
        "accept_knowledge_folders",
        "take_knowledge_review",
        "answer_knowledge_review",
        "browse_knowledge_record",
        "browse_knowledge_history",
    }
)
"""Requests that name what is not there: whoever may ask is told so."""
