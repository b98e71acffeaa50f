"""A whole server in this process, on a data directory of its own, asked over its HTTP edge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lorebank.bootstrap.hooks import ProcessHooks
from lorebank.cli.api import Api, bank_path
from lorebank.cli.failures import CliError
from lorebank.cli.inprocess import InProcess, running
from lorebank.cli.wire import path

LOGS = "/v1/lorebank/audit-logs"
VERSION = "2026-03-24"


@dataclass
class Audited:
    """The server; `root` has every right."""

    server: InProcess
    root: Api

    def made(self, user_id: str, *statements: dict[str, Any]) -> Api:
        """A new user with these statements, as he asks."""
        self.root.post("/ext/hindclaw/users", {"id": user_id, "display_name": user_id})
        document = {"version": VERSION, "statements": list(statements)}
        body = {"id": f"of-{user_id}", "display_name": user_id, "document": document}
        self.root.post("/ext/hindclaw/policies", body)
        attachment = {"policy_id": f"of-{user_id}", "principal_type": "user", "principal_id": user_id}
        self.root.put("/ext/hindclaw/policy-attachments", attachment)
        key = self.root.post(path("ext", "hindclaw", "users", user_id, "api-keys"), {})["api_key"]
        return Api(self.server, key)

    def retain(self, bank: str, text: str, *tags: str) -> None:
        item = {"content": text, "tags": list(tags), "document_id": f"doc-{bank}"}
        self.root.post(bank_path(bank, "memories"), {"items": [item]})

    def rows(self, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.root.get(LOGS, limit=500, **asked)["items"]
        return found


def allow(actions: str, banks: str = "*", **parameters: Any) -> dict[str, Any]:
    """An allow statement."""
    return {"effect": "allow", "actions": actions.split(), "banks": banks.split(), **parameters}


def refused(status_code: str, call: Any) -> str:
    """The message of a call that must be refused with that code."""
    try:
        call()
    except CliError as exc:
        assert exc.code == status_code, (exc.code, exc.message)
        return exc.message
    raise AssertionError("it was not refused")


@contextmanager
def audited(folder: Path) -> Iterator[Audited]:
    """The server on that directory while the block runs."""
    hooks = ProcessHooks()
    settings = hooks.load_settings({"data_dir": str(folder), "embedder": "none"}, None)
    with hooks.open_app(settings, owner=False) as (app, key), running(app) as server:
        yield Audited(server, Api(server, key))
