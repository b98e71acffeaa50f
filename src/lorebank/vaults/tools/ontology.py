"""`knowledge_ontology`: which types, relations and kinds of claims there are here, and what they may say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lorebank.errors import NotFound
from lorebank.vaults.find.facets import folded, records, type_of
from lorebank.vaults.record.ontology import FieldRule, Ontology, PageType, Relation
from lorebank.vaults.store.values import VaultHandle, View
from lorebank.vaults.tools.reading import read


@dataclass(frozen=True, slots=True)
class OntologyAsk:
    """Nothing: the catalogue. A `name` (or alias): the definition of that type, relation or claim kind."""

    name: str | None = None


def run(handle: VaultHandle, ask: OntologyAsk) -> dict[str, Any]:
    """The catalogue with counts, or one definition; `NotFound` for a name that is not there."""
    name = ask.name
    return read(handle, catalogue if name is None else lambda view: definition(view.ontology, name))


def catalogue(view: View) -> dict[str, Any]:
    """Names, labels, descriptions, aliases, and how many active valid records of each are here."""
    counts = Counter(
        (record.kind, type_of(record))
        for _, record in records(view)
        if record.valid and record.lifecycle == "active"
    )
    ontology = view.ontology
    return {
        "types": [
            _entry(one, "entity" if one.entity else "page") | {"count": counts["page", one.name]}
            for one in ontology.types.values()
        ],
        "relations": [
            _entry(one, "relation") | {"count": counts["relationship", one.name]}
            for one in ontology.relations.values()
        ],
        "claimKinds": [
            {"name": name, "kind": "claim", "description": text, "count": counts["claim", name]}
            for name, text in ontology.claim_kinds.items()
        ],
    }


def _entry(one: PageType | Relation, kind: str) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": kind,
        "label": one.label,
        "description": one.description,
        "aliases": list(one.aliases),
        "shipped": one.shipped,
    }


def definition(ontology: Ontology, name: str) -> dict[str, Any]:
    """Fields with their allowed values, where pages are filed, what may stand at the ends of a relation."""
    wanted = folded(name)
    for page in ontology.types.values():
        if wanted in _names(page):
            prefixes = [prefix for prefix, of in ontology.prefixes if of == page.name]
            filed = {"folder": page.folder, "prefixes": prefixes}
            return _entry(page, "entity" if page.entity else "page") | filed | _fields(page.fields)
    for relation in ontology.relations.values():
        if wanted in _names(relation):
            ends = {"from": list(relation.sources), "to": list(relation.targets)}
            return _entry(relation, "relation") | ends | _fields(relation.fields)
    for kind, text in ontology.claim_kinds.items():
        if folded(kind) == wanted:
            return {"name": kind, "kind": "claim", "description": text, "fields": []}
    raise NotFound("no type, relation or claim kind has this name; the catalogue lists them all")


def _names(one: PageType | Relation) -> set[str]:
    return {folded(name) for name in (one.name, one.label, *one.aliases)}


def _fields(rules: Mapping[str, FieldRule]) -> dict[str, Any]:
    return {
        "fields": [
            {
                "name": rule.name,
                "kind": rule.kind,
                "values": list(rule.values),
                "required": rule.required,
                "description": rule.description,
            }
            for rule in rules.values()
        ]
    }
