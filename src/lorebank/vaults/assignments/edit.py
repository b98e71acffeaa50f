"""Edits the store map where it stands: comments, order, quotes and layout of everything else stay.

Each edit is a few splices of the text (`json5.locate` says where), and the result is parsed again: what it
says must be exactly what was wanted, or nothing is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lorebank.access.knowledge import NamedStore
from lorebank.errors import Conflict
from lorebank.vaults.assignments.config import ParsedConfig, parse_config
from lorebank.vaults.assignments.json5 import Node, locate
from lorebank.vaults.assignments.splice import Splice, inserted, removed, spliced

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NEW = "{\n  stores: {},\n}\n"


@dataclass(frozen=True, slots=True)
class _Style:
    """How this file writes: the quote around keys (empty: none where possible) and around texts."""

    key: str
    text: str


def edited(raw: bytes | None, stores: Mapping[str, NamedStore]) -> bytes:
    """The file with this store map. Entries can be added and agents moved; no entry goes, and labels of
    entries that are there stay. `raw` None: a new file. `Conflict` when it cannot be edited safely."""
    config = before = parse_config(_NEW.encode() if raw is None else raw)
    for name, wanted in stores.items():
        now = config.settings.stores.get(name)
        if now is None:
            config = _step(config, _added_entry(config, wanted))
            continue
        gone = [agent for agent in now.agents if agent not in wanted.agents]
        if gone:
            config = _step(config, _without_agents(config, name, gone))
        new = [agent for agent in wanted.agents if agent not in now.agents]
        if new:
            config = _step(config, _with_agents(config, name, new))
    _check(config, before, stores)
    return config.text.encode()


def _check(config: ParsedConfig, before: ParsedConfig, stores: Mapping[str, NamedStore]) -> None:
    found = {name: set(store.agents) for name, store in config.settings.stores.items()}
    others = [replace(one.settings, stores={}) for one in (config, before)]
    if found != {name: set(store.agents) for name, store in stores.items()} or others[0] != others[1]:
        raise Conflict("the store map cannot be edited as it is written; edit the configuration by hand")


def _step(config: ParsedConfig, splices: Sequence[Splice]) -> ParsedConfig:
    return parse_config(spliced(config.text, splices).encode())


def _without_agents(config: ParsedConfig, name: str, gone: Sequence[str]) -> list[Splice]:
    agents = _agents_of(config, name)
    assert agents is not None
    names = _agent_names(config.text, agents)
    return removed(config.text, agents, {i for i, agent in enumerate(names) if agent in gone})


def _with_agents(config: ParsedConfig, name: str, new: Sequence[str]) -> list[Splice]:
    agents, style = _agents_of(config, name), _style(config)
    texts = [_quoted(agent, style.text) for agent in new]
    if agents is not None:
        return inserted(config.text, agents, texts)
    body = f"{_key('agents', style)}: [{', '.join(texts)}]"
    entry = _find(locate(config.text), (*config.path, "stores", config.keys[name]))[0]
    return inserted(config.text, entry, [body])


def _added_entry(config: ParsedConfig, store: NamedStore) -> list[Splice]:
    """The entry, with the objects around it that are missing."""
    style = _style(config)
    agents = ", ".join(_quoted(agent, style.text) for agent in store.agents)
    label = _quoted(store.label, style.text)
    body = f"{{ {_key('label', style)}: {label}, {_key('agents', style)}: [{agents}] }}"
    body = f"{_key(store.name, style)}: {body}"
    node, missing = _find(locate(config.text), (*config.path, "stores"))
    for key in reversed(missing):
        body = f"{_key(key, style)}: {{ {body} }}"
    return inserted(config.text, node, [body])


def _find(root: Node, path: Sequence[str]) -> tuple[Node, tuple[str, ...]]:
    """The deepest object on the path, and the keys that are missing below it."""
    node = root
    for depth, key in enumerate(path):
        child = next((member.value for member in node.members if member.key == key), None)
        if child is None:
            return node, tuple(path[depth:])
        node = child
    return node, ()


def _agents_of(config: ParsedConfig, name: str) -> Node | None:
    node, missing = _find(locate(config.text), (*config.path, "stores", config.keys[name], "agents"))
    return None if missing else node


def _agent_names(text: str, agents: Node) -> list[str]:
    """The ids of a list as the settings know them: read by the same rules, one by one."""
    shell = "{{stores:{{x:{{agents:[{}]}}}}}}"
    found = []
    for item in agents.items:
        one = parse_config(shell.format(text[item.start : item.end]).encode())
        found.append(one.settings.stores["x"].agents[0])
    return found


def _style(config: ParsedConfig) -> _Style:
    """From the innermost object on the way to the map that has keys, and from the first text in the map."""
    root = locate(config.text)
    nodes = [_find(root, (*config.path, "stores")[:depth]) for depth in range(len(config.path) + 2)]
    keys = [node.members[0] for node, missing in nodes if node.members and not missing]
    first = config.text[keys[-1].start] if keys else ""
    key = first if first in ("'", '"') else ""
    strings = [config.text[start] for start in _strings(nodes[-1][0])]
    quoted = next((char for char in strings if char in ("'", '"')), key or '"')
    return _Style(key, quoted)


def _strings(node: Node) -> list[int]:
    """Where the values below the node begin that are neither objects nor lists."""
    below = [member.value for member in node.members] + node.items
    return [start for one in below for start in ([one.start] if not one.opener else _strings(one))]


def _key(name: str, style: _Style) -> str:
    if not style.key and _PLAIN_KEY.fullmatch(name):
        return name
    return _quoted(name, style.key or '"')


def _quoted(text: str, quote: str) -> str:
    double = json.dumps(text, ensure_ascii=False)
    if quote == '"':
        return double
    body = double[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{body}'"
