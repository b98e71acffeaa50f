"""The knowledge configuration: JSON5 -> `KnowledgeSettings`, or a sentence that says what is wrong and where.

Two shapes are read: the settings themselves, or a gateway's whole file, where they stand at
plugins.entries.knowledge.config (seed 000, Stores). What cannot be understood is refused as a whole:
nobody's store is guessed. Only the schedule and its time zone may be wrong: the scheduler says so (seed 002,
Schedule).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lorebank.access.knowledge import KnowledgeSettings, MaintenanceSettings, NamedStore
from lorebank.errors import BadRequest, InvalidInput
from lorebank.ids import check_agent_id, check_id
from lorebank.vaults.assignments.json5 import Node, decode, locate, repeated_key

MAX_BYTES = 1_048_576
"""Largest configuration file."""
MAX_NAME_BYTES = 200
"""Longest name of a store, in bytes of UTF-8."""
GATEWAY_PATH = ("plugins", "entries", "knowledge", "config")
_KEYS = (
    *("stores", "operatorRead", "writesEnabled", "maintenance", "sharedGateway", "defaultAgent"),
    "semantic",
)
_STORE_KEYS = ("label", "agents")
_MAINTENANCE_KEYS = ("enabled", "schedule", "timezone", "reviewJobId")
_INCLUDE = "$include"


@dataclass(frozen=True, slots=True)
class ParsedConfig:
    """A configuration file that was understood. `path` leads from its root to the settings; `keys` is, for
    each store of the map, its key as the file has it (the name is that in NFC)."""

    text: str
    path: tuple[str, ...]
    settings: KnowledgeSettings
    keys: Mapping[str, str]


def parse_config(raw: bytes) -> ParsedConfig:
    """The settings of a file's bytes. `InvalidInput` names the place and says what to do."""
    text = _text(raw)
    if not text.strip("\ufeff \t\r\n"):
        raise InvalidInput("it is empty; write {} for the defaults, or remove the file")
    root = decode(text)
    if not isinstance(root, dict):
        raise InvalidInput("it must hold one object, such as {stores: {}}")
    path = GATEWAY_PATH if "plugins" in root else ()
    settings = _descend(root, path)
    _refuse_repeated(locate(text), path)
    if not path:
        _only(settings, _KEYS, "")
    return _settings(text, path, settings)


def _text(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise InvalidInput(f"it is larger than {MAX_BYTES} bytes; make it smaller")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"it is not UTF-8 at byte {exc.start}; save it as UTF-8", cause=exc) from exc


def _descend(root: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The object at `path`, empty when it is not there."""
    at: Any = root
    _refuse_include(root, "")
    for depth, key in enumerate(path, 1):
        at = at.get(key, {})
        here = ".".join(path[:depth])
        _object(at, here)
        _refuse_include(at, here)
    return dict(at)


def _refuse_include(value: Mapping[str, Any], here: str) -> None:
    """What another file holds would be taken for absent, and absent settings are more open."""
    if _INCLUDE in value:
        raise InvalidInput(
            f"{_at(here, _INCLUDE)} takes settings from another file, which lorebank does not follow; "
            "name the file that holds the knowledge settings in knowledge_config"
        )


def _refuse_repeated(node: Node, path: tuple[str, ...]) -> None:
    """A key given twice is never resolved by the last one."""
    here: Node | None = node
    for key in (*path, "stores"):
        here = _look(here, key, path)
    for member in here.members if here else []:
        if (twice := repeated_key(member.value)) is not None:
            raise InvalidInput(f"stores.{member.key} has the key '{twice}' twice; keep one of them")
    if here is not None and (twice := repeated_key(here)) is not None:
        raise InvalidInput(f"stores has the entry '{twice}' twice; give one of them another name")


def _look(node: Node | None, key: str, path: tuple[str, ...]) -> Node | None:
    if node is None:
        return None
    if (twice := repeated_key(node)) is not None and (twice in (*path, *_KEYS)):
        raise InvalidInput(f"the key '{twice}' stands twice in one object; keep one of them")
    return next((member.value for member in node.members if member.key == key), None)


def _settings(text: str, path: tuple[str, ...], data: dict[str, Any]) -> ParsedConfig:
    stores, keys = _stores(data.get("stores", {}))
    default_agent = KnowledgeSettings().default_agent
    settings = KnowledgeSettings(
        stores=stores,
        operator_read=_flag(data, "operatorRead", False),
        writes_enabled=_flag(data, "writesEnabled", True),
        shared_gateway=_flag(data, "sharedGateway", False),
        default_agent=_agent(data.get("defaultAgent", default_agent), "defaultAgent"),
        semantic=_flag(data, "semantic", False),
        maintenance=_maintenance(data.get("maintenance", {}), strict=not path),
    )
    return ParsedConfig(text, path, settings, keys)


def _stores(data: Any) -> tuple[Mapping[str, NamedStore], Mapping[str, str]]:
    _object(data, "stores")
    _refuse_include(data, "stores")
    found: dict[str, NamedStore] = {}
    keys: dict[str, str] = {}
    for key, entry in data.items():
        name = check_store_name(key, "a key of stores")
        if name in found:
            raise InvalidInput(f"stores has two entries that are both '{name}' in NFC; rename one of them")
        found[name] = _store(name, entry)
        keys[name] = key
    return MappingProxyType(found), MappingProxyType(keys)


def _store(name: str, entry: Any) -> NamedStore:
    here = f"stores.{name}"
    _object(entry, here)
    _only(entry, _STORE_KEYS, here)
    label = entry.get("label", name)
    if not isinstance(label, str):
        raise InvalidInput(f"{here}.label must be a text")
    agents = entry.get("agents", [])
    if not isinstance(agents, list):
        raise InvalidInput(f'{here}.agents must be a list of agent ids, such as ["main"]')
    names = [_agent(agent, f"{here}.agents[{i}]") for i, agent in enumerate(agents)]
    return NamedStore(name, label.strip() or name, tuple(dict.fromkeys(names)))


def _maintenance(data: Any, *, strict: bool) -> MaintenanceSettings:
    _object(data, "maintenance")
    if strict:
        _only(data, _MAINTENANCE_KEYS, "maintenance")
    default = MaintenanceSettings()
    job = data.get("reviewJobId")
    if job is not None and not (isinstance(job, str) and job.strip()):
        raise InvalidInput("maintenance.reviewJobId must be a text that names an automation, or null")
    return MaintenanceSettings(
        enabled=_flag(data, "enabled", True, "maintenance"),
        schedule=_as_text(data.get("schedule", default.schedule)),
        timezone=None if data.get("timezone") is None else _as_text(data["timezone"]),
        review_job_id=job,
    )


def _as_text(value: Any) -> str:
    """Whatever stands there: a schedule that is none is shown as one that is wrong, and breaks nothing."""
    return value if isinstance(value, str) else repr(value)


def check_store_name(value: str, field: str) -> str:
    """`value` in NFC when a named store can have this name; `InvalidInput` otherwise."""
    return _id(value, field, lambda text, here: check_id(text, here, max_bytes=MAX_NAME_BYTES))


def _agent(value: Any, here: str) -> str:
    return _id(value, here, check_agent_id)


def _id(value: Any, here: str, check: Callable[[str, str], str]) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{here} must be a text")
    try:
        return check(value, here)
    except BadRequest as exc:
        raise InvalidInput(exc.message, cause=exc) from exc


def _flag(data: Mapping[str, Any], key: str, default: bool, here: str = "") -> bool:
    value = data.get(key, default)
    if not isinstance(value, bool):
        raise InvalidInput(f"{_at(here, key)} must be true or false")
    return value


def _object(value: Any, here: str) -> None:
    if not isinstance(value, dict):
        raise InvalidInput(f"{here} must be an object")


def _only(value: Mapping[str, Any], known: tuple[str, ...], here: str) -> None:
    for key in value:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are: {', '.join(known)}"
            raise InvalidInput(f"{_at(here, key)} is not known; {hint}")


def _at(here: str, key: str) -> str:
    return f"{here}.{key}" if here else key
