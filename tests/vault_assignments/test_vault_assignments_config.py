"""The knowledge configuration: what it may say, and how it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorebank.access.knowledge import KnowledgeSettings, MaintenanceSettings, NamedStore
from lorebank.errors import InvalidInput
from lorebank.vaults.assignments.config import MAX_BYTES, parse_config
from lorebank.vaults.assignments.config_file import MISSING, load_config

FULL = {
    "stores": {"personal": {"label": "Personal", "agents": ["main", "research", "main"]}, "empty": {}},
    "operatorRead": True,
    "writesEnabled": False,
    "sharedGateway": True,
    "defaultAgent": "boss",
    "semantic": True,
    "maintenance": {"enabled": False, "schedule": "1 2 * * *", "timezone": "Europe/Rome", "reviewJobId": "j"},
}
MEANT = KnowledgeSettings(
    stores={
        "personal": NamedStore("personal", "Personal", ("main", "research")),
        "empty": NamedStore("empty", "empty", ()),
    },
    operator_read=True,
    writes_enabled=False,
    shared_gateway=True,
    default_agent="boss",
    semantic=True,
    maintenance=MaintenanceSettings(False, "1 2 * * *", "Europe/Rome", "j"),
)


def settings(text: str) -> KnowledgeSettings:
    return parse_config(text.encode()).settings


def test_both_shapes_are_read() -> None:
    assert settings(json.dumps(FULL)) == MEANT
    whole = {"gateway": {"port": 1}, "plugins": {"x": 1, "entries": {"knowledge": {"config": FULL}}}}
    assert settings(json.dumps(whole)) == MEANT
    assert settings("{plugins:{}}") == settings("{}") == KnowledgeSettings()
    assert settings("\ufeff// mine\n{stores:{},}") == KnowledgeSettings()


def test_the_defaults_are_those_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    found = load_config(tmp_path / "none.json5")
    assert (found.settings, found.problem, found.sha256) == (KnowledgeSettings(), None, MISSING)
    assert found.settings.writes_enabled and not found.settings.operator_read
    assert found.settings.maintenance == MaintenanceSettings(True, "30 3 * * *", None, None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it is empty; write {}"),
        ("[]", "one object"),
        ("{stores:", "not valid JSON5"),
        ("{stores: 1}", "stores must be an object"),
        ("{stores: {a: []}}", "stores.a must be an object"),
        ("{stores: {a: {agent: ['x']}}}", "stores.a.agent is not known; did you mean 'agents'?"),
        ("{stores: {a: {label: 1}}}", "stores.a.label must be a text"),
        ("{stores: {a: {agents: 'main'}}}", "stores.a.agents must be a list"),
        ("{stores: {a: {agents: ['x', 7]}}}", r"stores.a.agents\[1\] must be a text"),
        ("{stores: {a: {agents: ['x\\u0000']}}}", r"stores.a.agents\[0\] must not contain control"),
        ("{stores: {'': {}}}", "a key of stores must not be empty"),
        ("{stores: {a: {}, a: {}}}", "stores has the entry 'a' twice"),
        ("{stores: {'\\u00e9': {}, 'e\\u0301': {}}}", "both '\u00e9' in NFC"),
        ("{stores: {}, stores: {}}", "'stores' stands twice"),
        ("{stores: {a: {agents: [], agents: []}}}", "'agents' twice"),
        ("{operatorRead: 'yes'}", "operatorRead must be true or false"),
        ("{writeEnabled: false}", "writeEnabled is not known; did you mean 'writesEnabled'?"),
        ("{maintenance: {reviewJobId: 3}}", "maintenance.reviewJobId"),
        ("{maintenance: {enabled: 1}}", "maintenance.enabled must be true or false"),
        ("{maintenance: {cron: 1}}", "maintenance.cron is not known"),
        ("{defaultAgent: ''}", "defaultAgent must not be empty"),
        ("{$include: './x'}", r"\$include takes settings from another file"),
        ("{plugins: {$include: './x'}}", "plugins.\\$include"),
        ("{plugins: {entries: null}}", "plugins.entries must be an object"),
        ("{stores: {" + "a: {" * 200 + "}" * 202, "not valid JSON5"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        settings(text)


@pytest.mark.statement("1.4.39")
@pytest.mark.parametrize("key", ["path", "location", "dir", "vaultId", "store"])
def test_1_4_39_no_path_of_a_store_comes_from_the_configuration(key: str) -> None:
    with pytest.raises(InvalidInput, match=f"stores.a.{key} is not known"):
        settings(f"{{stores: {{a: {{agents: [], {key}: '/tmp/x'}}}}}}")


def test_a_gateways_own_keys_are_left_alone() -> None:
    text = "{a: 1, plugins: {entries: {knowledge: {enabled: true, config: {later: 1, operatorRead: true}}}}}"
    assert settings(text).operator_read


@pytest.mark.parametrize("schedule", ["'every day'", "''", "7", "null", "['x']"])
def test_a_wrong_schedule_does_not_break_the_configuration(schedule: str) -> None:
    found = settings(f"{{maintenance: {{schedule: {schedule}, timezone: 'Mars/Base'}}, operatorRead: true}}")
    assert found.operator_read and found.maintenance.timezone == "Mars/Base"
    assert isinstance(found.maintenance.schedule, str) and found.maintenance.schedule != "30 3 * * *"


def test_files_that_cannot_be_read_fail_closed(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"{}" + b" " * MAX_BYTES)
    (tmp_path / "latin").write_bytes(b"{a: '\xe9'}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    words = {"large": "larger than", "latin": "not UTF-8", "folder": "cannot be read", "nowhere": "nowhere"}
    for name, word in words.items():
        found = load_config(tmp_path / name)
        assert found.problem is not None and word in found.problem and str(tmp_path) not in found.problem
        assert found.parsed is None
