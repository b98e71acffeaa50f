"""Documents say what the code says."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from lorebank.access.actions import ACTIONS
from lorebank.bootstrap.docs import PARTS
from lorebank.cli import docs
from lorebank.cli.app import COMMANDS
from lorebank.config import Settings
from lorebank.http.routes.all import BINDINGS
from lorebank.http.routes.knowledge import TOOLS
from lorebank.limits import Limits
from lorebank.service.requests.knowledge_read import AttachFileRequest
from lorebank.service.table import OPERATIONS

FOLDER = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["settings.md", "cli.md", "actions.md"])
def test_the_generated_parts_are_current(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert docs.fill(text, PARTS) == text, "run: python -m lorebank.bootstrap.docs docs"


def test_every_action_and_every_operation_with_its_route_is_in_the_table_of_actions() -> None:
    text = (FOLDER / "actions.md").read_text(encoding="utf-8")
    for action in ACTIONS:
        assert f"| `{action}` |" in text
    for name, operation in OPERATIONS.items():
        assert not operation.action or operation.action in ACTIONS, name
        assert f"{name}: `" in text
    for binding in BINDINGS:
        assert f"`{binding.method} {binding.path.replace(':path', '')}`" in text


def test_every_setting_limit_and_command_is_documented() -> None:
    settings = (FOLDER / "settings.md").read_text(encoding="utf-8")
    for one in fields(Settings):
        assert one.name in ("limits", "bank_defaults") or f"`{one.name}`" in settings
    for limit in fields(Limits):
        assert f"`limit_{limit.name}`" in settings
    commands = (FOLDER / "cli.md").read_text(encoding="utf-8")
    assert all(f"### `lorebank {name}" in commands for name in COMMANDS)


def test_an_unclosed_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="has no end mark"):
        docs.fill("<!-- generated: limits -->\n")


def test_no_secret_has_a_default() -> None:
    assert all(not one.default for one in fields(Settings) if one.metadata.get("secret"))


def test_every_argument_of_every_tool_is_documented() -> None:
    text = (FOLDER / "knowledge-tools.md").read_text(encoding="utf-8")
    rows = {row[1]: row[2] for row in re.finditer(r"^\| `(knowledge_\w+)` \| (.+) \|$", text, re.MULTILINE)}
    tools = {one.path.rpartition("/")[2]: one for one in BINDINGS if one.path.startswith(TOOLS)}
    assert rows.keys() == tools.keys()
    for name, binding in tools.items():
        model = AttachFileRequest if binding.body is None else binding.body
        for field, said in model.model_fields.items():
            assert f"`{said.alias or field}`" in rows[name], f"{name}: {field}"
