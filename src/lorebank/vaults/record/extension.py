"""`private/ontology.yaml`: what an owner adds to the shipped ontology. It can never change what is shipped.

Each wrong entry is left out with a finding at its line; the rest holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from lorebank.vaults.record.frame import LINE_END, Broken, Where, decoded
from lorebank.vaults.record.ontology import FieldRule, Ontology, PageType, Relation
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.record.values import Finding

ONTOLOGY_FILE: Final = "ontology.yaml"
MAX_ONTOLOGY_BYTES: Final = 65_536
"""Seed 000, Limits."""
FIELD_KINDS: Final = ("text", "number", "date", "boolean", "list", "page")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FOLDER: Final = re.compile(r"[^\W_][\w-]*(?:/[^\W_][\w-]*){0,2}")
_RESERVED: Final = ("claims", "relationships", "artifacts")
_SECTIONS: Final = ("types", "relations", "prefixes")
_TYPE_KEYS: Final = frozenset({"label", "description", "folder", "entity", "aliases", "fields"})
_RELATION_KEYS: Final = frozenset({"label", "description", "from", "to", "aliases", "fields"})
_FIELD_KEYS: Final = frozenset({"kind", "values", "required", "description"})

T = TypeVar("T")


class _Wrong(Exception):
    def __init__(self, where: Where, message: str) -> None:
        super().__init__(message)
        self.where = where
        self.message = message


def load_extension(data: bytes, path: str = ONTOLOGY_FILE) -> tuple[Ontology, tuple[Finding, ...]]:
    """The shipped ontology with the additions in `data`; what is wrong with them, by line."""
    try:
        text = _text(data)
    except Broken as exc:
        return SHIPPED, (Finding(path, exc.line, exc.rule, exc.message),)
    from lorebank.vaults.record.yaml_events import load  # the YAML library only once it is needed

    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return SHIPPED, ()
    try:
        loaded = load(text)
    except Broken as exc:
        return SHIPPED, (Finding(path, _line(text, exc.line), exc.rule, exc.message),)
    reader = _Extension(loaded.value)
    ontology = reader.ontology()
    findings = [
        Finding(path, _line(text, _offset(loaded.offsets, wrong.where)), "ontology.entry", wrong.message)
        for wrong in reader.wrong
    ]
    return ontology, tuple(sorted(findings, key=lambda one: one.line))


def _text(data: bytes) -> str:
    if len(data) > MAX_ONTOLOGY_BYTES:
        message = f"the ontology may have {MAX_ONTOLOGY_BYTES} bytes; nothing of it is used"
        raise Broken(0, "ontology.size", message)
    return decoded(data)[0]


def _line(text: str, offset: int) -> int:
    return sum(1 for _ in LINE_END.finditer(text, 0, min(offset, len(text)))) + 1


def _offset(offsets: Mapping[Where, int], where: Where) -> int:
    return next((offsets[where[:end]] for end in range(len(where), 0, -1) if where[:end] in offsets), 0)


class _Extension:
    """Reads the sections one after another; what is wrong gathers in `wrong`."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.wrong: list[_Wrong] = []

    def ontology(self) -> Ontology:
        """The shipped ontology and all right additions."""
        for name in self.data:
            if name not in _SECTIONS:
                self.wrong.append(_Wrong((name,), f"{name!r} is unknown; there are {', '.join(_SECTIONS)}"))
        taken = {alias for one in SHIPPED.types.values() for alias in (one.name, *one.aliases)}
        types = {**SHIPPED.types, **self._section("types", taken, _page_type)}
        taken = {alias for one in SHIPPED.relations.values() for alias in (one.name, *one.aliases)}
        relations = {
            **SHIPPED.relations,
            **self._section("relations", taken, lambda name, entry: _relation(name, entry, types)),
        }
        own = [(f"{one.folder}/", one.name) for one in types.values() if not one.shipped]
        prefixes = (*self._prefixes(types), *own, *SHIPPED.prefixes)
        return Ontology(types, relations, SHIPPED.claim_kinds, tuple(dict.fromkeys(prefixes)))

    def _section(
        self, section: str, taken: set[str], make: Callable[[str, Mapping[str, Any]], T]
    ) -> dict[str, T]:
        entries = self.data.get(section)
        if entries is None:
            return {}
        if not isinstance(entries, dict):
            self.wrong.append(_Wrong((section,), f"{section!r} must hold 'name:' entries"))
            return {}
        found: dict[str, T] = {}
        for name, entry in entries.items():
            try:
                found[name] = self._entry(section, name, {} if entry is None else entry, taken, make)
            except _Wrong as exc:
                self.wrong.append(_Wrong((section, name, *exc.where), exc.message))
        return found

    def _entry(
        self,
        section: str,
        name: str,
        entry: Any,
        taken: set[str],
        make: Callable[[str, Mapping[str, Any]], T],
    ) -> T:
        if name in taken:
            raise _Wrong((), f"{name!r} is a shipped name and cannot be changed; take another name")
        if not _NAME.fullmatch(name):
            raise _Wrong((), "a name has small letters, digits and _, and begins with a letter")
        if not isinstance(entry, dict):
            raise _Wrong((), f"an entry of {section!r} must be 'key: value' lines")
        for alias in _words(entry, "aliases"):
            if alias in taken:
                raise _Wrong(("aliases",), f"the alias {alias!r} is a shipped name; take another one")
        return make(name, entry)

    def _prefixes(self, types: Mapping[str, PageType]) -> list[tuple[str, str]]:
        entries = self.data.get("prefixes")
        if entries is None:
            return []
        if not isinstance(entries, list):
            self.wrong.append(_Wrong(("prefixes",), "'prefixes' must be a list of 'path' and 'type'"))
            return []
        found = []
        for place, entry in enumerate(entries):
            try:
                found.append(_prefix(entry, types))
            except _Wrong as exc:
                self.wrong.append(_Wrong(("prefixes", place), exc.message))
        return found


def _prefix(entry: Any, types: Mapping[str, PageType]) -> tuple[str, str]:
    if not isinstance(entry, dict) or set(entry) != {"path", "type"}:
        raise _Wrong((), "a prefix has a 'path' and a 'type'")
    path = entry["path"]
    if not isinstance(path, str) or not _FOLDER.fullmatch(path.rstrip("/")):
        raise _Wrong((), "'path' must be a folder such as people/team/")
    if not isinstance(entry["type"], str) or entry["type"] not in types:
        raise _Wrong((), "'type' is not a type of the ontology")
    prefix = path.rstrip("/") + "/"
    if any(prefix == shipped for shipped, _ in SHIPPED.prefixes):
        raise _Wrong((), f"{prefix} is a shipped prefix and cannot be changed")
    return prefix, entry["type"]


def _page_type(name: str, entry: Mapping[str, Any]) -> PageType:
    _known(entry, _TYPE_KEYS)
    folder = entry.get("folder", name)
    if not isinstance(folder, str) or not _FOLDER.fullmatch(folder):
        raise _Wrong(("folder",), "'folder' must be a folder's name such as recipes")
    if folder.split("/")[0] in _RESERVED or any(f"{folder}/" == one for one, _ in SHIPPED.prefixes):
        raise _Wrong(("folder",), f"the folder {folder!r} is lorebank's own; take another one")
    entity = entry.get("entity", True)
    if not isinstance(entity, bool):
        raise _Wrong(("entity",), "'entity' must be true or false")
    label, description = _texts(name, entry)
    aliases = tuple(_words(entry, "aliases"))
    return PageType(name, label, description, folder, entity, aliases, _fields(entry), shipped=False)


def _relation(name: str, entry: Mapping[str, Any], types: Mapping[str, PageType]) -> Relation:
    _known(entry, _RELATION_KEYS)
    ends = {}
    for end in ("from", "to"):
        ends[end] = tuple(_words(entry, end))
        unknown = [one for one in ends[end] if one not in types]
        if unknown:
            raise _Wrong((end,), f"{unknown[0]!r} is not a type of the ontology")
    label, description = _texts(name, entry)
    aliases = tuple(_words(entry, "aliases"))
    return Relation(
        name, label, description, ends["from"], ends["to"], aliases, _fields(entry), shipped=False
    )


def _fields(entry: Mapping[str, Any]) -> dict[str, FieldRule]:
    fields = entry.get("fields") or {}
    if not isinstance(fields, dict):
        raise _Wrong(("fields",), "'fields' must hold 'name:' entries")
    return {name: _field(name, rule) for name, rule in fields.items()}


def _field(name: str, rule: Any) -> FieldRule:
    here: Where = ("fields", name)
    if isinstance(rule, str) or rule is None:
        rule = {"kind": rule or "text"}
    if not _NAME.fullmatch(name) or not isinstance(rule, dict):
        raise _Wrong(here, "a field is a name in small letters with its kind, or with 'key: value' lines")
    _known(rule, _FIELD_KEYS, here)
    kind, required = rule.get("kind", "text"), rule.get("required", False)
    if not isinstance(kind, str) or kind not in FIELD_KINDS:
        raise _Wrong((*here, "kind"), f"'kind' must be one of {', '.join(FIELD_KINDS)}")
    if not isinstance(required, bool):
        raise _Wrong((*here, "required"), "'required' must be true or false")
    values, description = tuple(_words(rule, "values", here)), rule.get("description", "")
    if not isinstance(description, str):
        raise _Wrong((*here, "description"), "'description' must be text")
    return FieldRule(name, kind, values, required, description)


def _known(entry: Mapping[str, Any], keys: frozenset[str], where: Where = ()) -> None:
    for key in entry:
        if key not in keys:
            raise _Wrong((*where, key), f"{key!r} is unknown here; there are {', '.join(sorted(keys))}")


def _texts(name: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    label = entry.get("label", name.replace("_", " ").capitalize())
    description = entry.get("description", "")
    for key, value in (("label", label), ("description", description)):
        if not isinstance(value, str):
            raise _Wrong((key,), f"{key!r} must be text")
    return label, description


def _words(entry: Mapping[str, Any], key: str, where: Where = ()) -> list[str]:
    words = entry.get(key)
    if words is None:
        return []
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise _Wrong((*where, key), f"{key!r} must be a list of words")
    return words
