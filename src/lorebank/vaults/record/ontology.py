"""The ontology as a value: which types of pages, relations and claims there are, and what they may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One field of a type: `kind` text|number|date|boolean|list|page (an id), allowed `values` if any."""

    name: str
    kind: str = "text"
    values: tuple[str, ...] = ()
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class PageType:
    """A domain type of pages. `entity` tells that claims may be about it (relink links only to those).
    `folder` is where its pages are filed."""

    name: str
    label: str
    description: str
    folder: str
    entity: bool
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, FieldRule] = field(default_factory=lambda: MappingProxyType({}))
    shipped: bool = True


@dataclass(frozen=True, slots=True)
class Relation:
    """A type of relationships; `sources` and `targets` are the page types allowed at its ends (none: any)."""

    name: str
    label: str
    description: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, FieldRule] = field(default_factory=lambda: MappingProxyType({}))
    shipped: bool = True


@dataclass(frozen=True, slots=True)
class Ontology:
    """Types, relations, claim kinds, and the ordered path prefixes that classify a page without a type."""

    types: Mapping[str, PageType]
    relations: Mapping[str, Relation]
    claim_kinds: Mapping[str, str]
    prefixes: tuple[tuple[str, str], ...]

    def is_entity(self, type_name: str | None) -> bool:
        """Whether pages of the type are entities."""
        found = None if type_name is None else self.types.get(type_name)
        return found is not None and found.entity
