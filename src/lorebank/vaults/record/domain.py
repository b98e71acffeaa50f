"""What a record says about its subject, checked against the ontology. Wrong data makes a record invalid: it
can be looked at, and nothing rests on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lorebank.vaults.record.checks import date_order, date_text, is_id, line_range
from lorebank.vaults.record.front import Notes
from lorebank.vaults.record.ontology import FieldRule, Ontology
from lorebank.vaults.record.values import Citation

DATES: Final = "2026, 2026-11 or 2026-11-30"
_MAX_NAMES = 20
_TEXTS = ("origin", "attribution", "subject_hint", "reason")
_DATES = ("valid_from", "valid_to")
_IDS = ("source_page", "replaced_by")


def type_of(meta: Mapping[str, Any], path: str, ontology: Ontology) -> Any:
    """A page's type: as written, or by the first path prefix that fits (specs, Record formats)."""
    written = meta.get("type")
    if written is not None:
        return written
    return next((name for prefix, name in ontology.prefixes if path.startswith(prefix)), None)


def check_page(notes: Notes, type_name: Any, ontology: Ontology) -> None:
    """Type and fields."""
    known = ontology.types.get(type_name) if isinstance(type_name, str) else None
    if known is None:
        what = "has no type" if type_name is None else "has a type that the ontology does not know"
        notes.add(("type",), "page.type", f"the page {what}; 'type' may be {_names(ontology.types)}")
        return
    check_fields(notes, known.fields)


def check_claim(notes: Notes, body: str, ontology: Ontology) -> None:
    """Kind, text and annotations; the evidence is checked by `citations_of`."""
    kind = notes.front.value.get("claim_kind")
    if not isinstance(kind, str) or kind not in ontology.claim_kinds:
        notes.add(
            ("claim_kind",), "claim.kind", f"'claim_kind' must be one of {_names(ontology.claim_kinds)}"
        )
    if not body.strip():
        notes.add((), "claim.text", "a claim says what it claims in its body")
    if not isinstance(notes.front.value.get("remembered", False), bool):
        notes.add(("remembered",), "claim.remembered", "'remembered' must be true or false")


def check_relationship(notes: Notes, ontology: Ontology) -> None:
    """Relation and ends; whether the ends exist is a matter of all records (`references.py`)."""
    name = notes.front.value.get("relation")
    known = ontology.relations.get(name) if isinstance(name, str) else None
    if known is None:
        allowed = _names(ontology.relations)
        notes.add(("relation",), "relationship.relation", f"'relation' must be one of {allowed}")
    else:
        check_fields(notes, known.fields)
    for end in ("from", "to"):
        if not is_id(notes.front.value.get(end)):
            notes.add((end,), "relationship.end", f"{end!r} must be the id of a page")


def check_annotations(notes: Notes) -> dict[int, str]:
    """The keys that claims, pages and relationships share; gives the linked entities by their places."""
    meta = notes.front.value
    for key in _TEXTS:
        if meta.get(key) is not None and not isinstance(meta[key], str):
            notes.add((key,), f"record.{key}", f"{key!r} must be text (numbers in quotes)")
    for key in _IDS:
        if meta.get(key) is not None and not is_id(meta[key]):
            notes.add((key,), f"record.{key}", f"{key!r} must be the id of a record")
    _check_dates(notes)
    entities = meta.get("entities")
    if entities is None:
        return {}
    if not isinstance(entities, list):
        notes.add(("entities",), "record.entities", "'entities' must be a list of ids")
        return {}
    for place, item in enumerate(entities):
        if not is_id(item):
            notes.add(("entities", place), "record.entities", "an entity is named by the id of its page")
    return {place: item for place, item in enumerate(entities) if is_id(item)}


def _check_dates(notes: Notes) -> None:
    meta = notes.front.value
    dates = {key: date_text(meta[key]) for key in _DATES if meta.get(key) is not None}
    for key, value in dates.items():
        if value is None:
            notes.add((key,), f"record.{key}", f"{key!r} must be a date such as {DATES}")
    first, last = dates.get("valid_from"), dates.get("valid_to")
    if first is not None and last is not None and not _in_order(first, last):
        notes.add(("valid_to",), "record.valid_to", "'valid_to' is before 'valid_from'")


def _in_order(first: str, last: str) -> bool:
    """Compared as far as both are exact: 2026 may end in 2026-03."""
    one, two = date_order(first), date_order(last)
    shared = min(len(one), len(two))
    return one[:shared] <= two[:shared]


def citations_of(notes: Notes, *, required: bool) -> dict[int, Citation]:
    """The evidence by its places; what is wrong with an entry is noted, and the entry left out."""
    evidence = notes.front.value.get("evidence")
    if evidence is not None and not isinstance(evidence, list):
        notes.add(("evidence",), "evidence.form", "'evidence' must be a list of citations")
        return {}
    if not evidence:
        if required:
            notes.add(("evidence",), "evidence.missing", "claims and relationships need 'evidence'")
        return {}
    read = {place: _citation(notes, place, item) for place, item in enumerate(evidence)}
    return {place: found for place, found in read.items() if found is not None}


def _citation(notes: Notes, place: int, item: Any) -> Citation | None:
    here = ("evidence", place)
    if not isinstance(item, dict) or not is_id(item.get("source")):
        notes.add(here, "evidence.source", "a citation names its 'source', the id of a retained source")
        return None
    lines, quote, attribution = item.get("lines"), item.get("quote"), item.get("attribution")
    found = None if lines is None else line_range(lines)
    if lines is not None and found is None:
        notes.add((*here, "lines"), "evidence.lines", "'lines' must be a range such as 3-5, from 1")
        return None
    for key, value in (("quote", quote), ("attribution", attribution)):
        if value is not None and not isinstance(value, str):
            notes.add((*here, key), f"evidence.{key}", f"{key!r} must be text (numbers in quotes)")
            return None
    return Citation(item["source"], found, quote, attribution)


def check_fields(notes: Notes, rules: Mapping[str, FieldRule]) -> None:
    """`fields` against the rules of the type; fields without a rule are kept and mean nothing here."""
    fields = notes.front.value.get("fields")
    if fields is not None and not isinstance(fields, dict):
        notes.add(("fields",), "fields.form", "'fields' must be 'name: value' lines")
        return
    for name, rule in rules.items():
        value = None if fields is None else fields.get(name)
        if value is None:
            if rule.required:
                notes.add(("fields",), "fields.missing", f"'fields.{name}' is required")
            continue
        wrong = field_problem(rule, value)
        if wrong is not None:
            notes.add(("fields", name), "fields.value", f"'fields.{name}' {wrong}")


def field_problem(rule: FieldRule, value: Any) -> str | None:
    """What is wrong with a field's value, None when it is right."""
    if rule.kind == "list":
        if not isinstance(value, list):
            return "must be a list"
        problems = (_one_problem(rule.values, item) for item in value)
        return next((problem for problem in problems if problem is not None), None)
    right, help_text = _KINDS[rule.kind]
    return _one_problem(rule.values, value) if right(value) else help_text


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_KINDS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "text": (lambda value: isinstance(value, str), "must be text (numbers in quotes)"),
    "number": (_is_number, "must be a number"),
    "date": (lambda value: date_text(value) is not None, f"must be a date such as {DATES}"),
    "boolean": (lambda value: isinstance(value, bool), "must be true or false"),
    "page": (is_id, "must be the id of a page"),
}


def _one_problem(values: tuple[str, ...], item: Any) -> str | None:
    if isinstance(item, (list, dict)):
        return "holds an entry that is no single value"
    return f"must be one of {', '.join(values)}" if values and item not in values else None


def _names(names: Mapping[str, Any]) -> str:
    shown = ", ".join(list(names)[:_MAX_NAMES])
    return shown + (", …" if len(names) > _MAX_NAMES else "")
