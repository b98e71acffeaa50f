"""What callers send to the tools that write: limits, and checks that name the wrong argument."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.errors import InvalidInput
from lorebank.vaults.record.checks import date_text, is_id, is_title, line_range
from lorebank.vaults.record.domain import DATES, field_problem
from lorebank.vaults.record.ontology import FieldRule
from lorebank.vaults.record.values import Citation

MAX_TEXT_CHARS: Final = 20_000
"""Characters of a claim's text."""
MAX_EXCERPT_CHARS: Final = 100_000
"""Characters of a retained excerpt; longer sources are attached as files."""
MAX_BODY_CHARS: Final = 1_000_000
"""Characters of a page's body that a tool writes."""
MAX_ATTRIBUTION_CHARS: Final = 1_000
MAX_REASON_CHARS: Final = 2_000
MAX_LIST: Final = 200
"""Aliases, tags, entities or dependencies of one record. Evidence is not limited (specs, Record formats)."""
MAX_FIELDS: Final = 100
_TITLE_CHARS: Final = 80
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKUP = re.compile(r"^[#>*+\-\s]+")


@dataclass(frozen=True, slots=True)
class CitationInput:
    """A citation as it is sent; `lines` is `3-5`, `3` or a number."""

    source: str
    lines: str | int | None = None
    quote: str | None = None
    attribution: str | None = None


def text(value: str, name: str, limit: int, *, empty: bool = False) -> str:
    """A text of several lines with LF line ends. `InvalidInput` for nothing, too much, control characters."""
    clean = value.replace("\r\n", "\n")
    if not empty and not clean.strip():
        raise InvalidInput(f"{name} must not be empty")
    if len(clean) > limit:
        raise InvalidInput(f"{name} may have {limit:,} characters; these are {len(clean):,}. Shorten it")
    if _CONTROLS.search(clean):
        raise InvalidInput(f"{name} must not contain control characters")
    return clean


def title(value: str, name: str = "title") -> str:
    """A title or alias: one line, blanks around it removed."""
    clean = " ".join(value.split())
    if not is_title(clean):
        raise InvalidInput(f"{name} must be one line of 1 to 500 characters")
    return clean


def title_of(text_: str) -> str:
    """A title made of a text's first line."""
    first = next((line for line in text_.split("\n") if _MARKUP.sub("", line).strip()), text_)
    clean = _CONTROLS.sub("", " ".join(_MARKUP.sub("", first).split())) or "Untitled"
    if len(clean) > _TITLE_CHARS:
        cut = clean[:_TITLE_CHARS].rpartition(" ")[0]
        clean = (cut if len(cut) > _TITLE_CHARS // 2 else clean[: _TITLE_CHARS - 1]) + "…"
    return clean if is_title(clean) else "Untitled"


def texts(values: Sequence[str], name: str) -> list[str]:
    """Aliases or tags: single lines, each once."""
    _few(values, name)
    return list(dict.fromkeys(title(value, f"{name}.{place}") for place, value in enumerate(values)))


def ids(values: Sequence[str], name: str) -> list[str]:
    """Ids, each once."""
    _few(values, name)
    return list(dict.fromkeys(record_id(value, f"{name}.{place}") for place, value in enumerate(values)))


def record_id(value: str, name: str) -> str:
    """The id of a record or source."""
    if not is_id(value):
        raise InvalidInput(f"{name} must be an id as the tools answer it (1 to 200 characters)")
    return value


def date(value: str | int, name: str) -> str:
    """A date as exact as it is known."""
    found = date_text(value)
    if found is None:
        raise InvalidInput(f"{name} must be a date such as {DATES}")
    return found


def citations(given: Sequence[CitationInput], name: str = "evidence") -> list[Citation]:
    """Citations as values; whether they hold is checked against the sources."""
    if not given:
        raise InvalidInput(f"{name} must name at least one source (knowledge_attach_file retains one)")
    return [_citation(one, f"{name}.{place}") for place, one in enumerate(given)]


def _citation(one: CitationInput, name: str) -> Citation:
    lines = None if one.lines is None else line_range(one.lines)
    if one.lines is not None and lines is None:
        raise InvalidInput(f"{name}.lines must be a range such as 3-5, from 1")
    quote = None if one.quote is None else text(one.quote, f"{name}.quote", MAX_EXCERPT_CHARS)
    by = (
        None
        if one.attribution is None
        else text(one.attribution, f"{name}.attribution", MAX_ATTRIBUTION_CHARS)
    )
    return Citation(record_id(one.source, f"{name}.source"), lines, quote, by)


def citation_meta(one: Citation) -> dict[str, Any]:
    """A citation as frontmatter has it."""
    lines: str | int | None = None
    if one.lines is not None:
        lines = one.lines[0] if one.lines[0] == one.lines[1] else f"{one.lines[0]}-{one.lines[1]}"
    pairs = {"source": one.source, "lines": lines, "quote": one.quote, "attribution": one.attribution}
    return {key: value for key, value in pairs.items() if value is not None}


def fields(given: Mapping[str, Any], rules: Mapping[str, FieldRule], owner: str) -> dict[str, Any]:
    """Fields by the rules of their type; None takes one out. Unknown ones are refused: they are a slip, or
    belong into the body."""
    if len(given) > MAX_FIELDS:
        raise InvalidInput(f"fields may hold {MAX_FIELDS} entries")
    for name, value in given.items():
        rule = rules.get(name)
        if rule is None:
            known = ", ".join(rules) or "none"
            raise InvalidInput(f"fields.{name} is no field of {owner}; there are: {known}")
        problem = None if value is None else field_problem(rule, value)
        if problem is not None:
            raise InvalidInput(f"fields.{name} {problem}")
    return {name: _date_field(rules[name], value) for name, value in given.items()}


def _date_field(rule: FieldRule, value: Any) -> Any:
    return date_text(value) if rule.kind == "date" and isinstance(value, int) else value


def _few(values: Iterable[str], name: str) -> None:
    count = sum(1 for _ in values)
    if count > MAX_LIST:
        raise InvalidInput(f"{name} may hold {MAX_LIST} entries; these are {count}")
