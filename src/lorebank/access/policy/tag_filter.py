"""Tag groups as policies carry them: read with care, compared by content, and made into one filter.

A group in a policy holds something back, so what would restrict nothing is refused where a caller's
own groups may contain it: leaves without tags, and fuzzy leaves, which stand for more tags than are
written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lorebank.access.policy.reading import Loc, a_list, problem
from lorebank.access.policy.values import TagGroup
from lorebank.errors import FieldProblem, InvalidInput
from lorebank.tags import And, Leaf, Not, Or, TagFilter, parse_tag_groups


class ReadGroup(dict[str, Any]):
    """A group as written, with what was worked out while it was read: parsing is the dearest part of
    a decision. Never changed after it was made; a copy without the extras works as well."""

    __slots__ = ("filter", "key")

    key: str
    filter: TagFilter


def read_groups(value: object, loc: Loc) -> tuple[TagGroup, ...]:
    """The groups of a document's `recall_tag_groups`: a list, or a JSON string that holds one, as the
    Terraform provider has it. `InvalidInput` naming the place."""
    if isinstance(value, str):
        value = _decoded(value, loc)
    groups = a_list(value, loc)
    filters = _parsed(groups, loc)
    return tuple(_read(group, part) for group, part in zip(groups, filters, strict=True))


def key_of(group: TagGroup) -> str:
    """Equal for groups with equal content, whatever the order of their keys."""
    if isinstance(group, ReadGroup) and hasattr(group, "key"):
        return group.key
    return json.dumps(group, sort_keys=True, ensure_ascii=False)


def distinct(groups: Iterable[TagGroup]) -> tuple[TagGroup, ...]:
    """The groups in their order, each content once."""
    several = list(groups)
    try:
        keys = [group.key for group in several]  # type: ignore[attr-defined]
    except AttributeError:
        keys = [key_of(group) for group in several]
    return tuple(dict(zip(keys, several, strict=True)).values())


def tag_filter(groups: tuple[TagGroup, ...]) -> TagFilter:
    """The filter of rows that pass every group. Groups of many policies may be more than one request
    could send, so each is parsed by itself; raises `InvalidInput` for one that no document could hold."""
    return And(tuple(_filter_of(group) for group in groups))


def _filter_of(group: TagGroup) -> TagFilter:
    if isinstance(group, ReadGroup) and hasattr(group, "filter"):
        return group.filter
    (part,) = _parsed([dict(group)], ("recall_tag_groups",))
    return part


def _decoded(text: str, loc: Loc) -> object:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise problem(loc, "must be a list of tag groups, or a JSON string with such a list") from exc
    return [] if value is None else value


def _read(group: object, part: TagFilter) -> TagGroup:
    assert isinstance(group, dict)  # parse_tag_groups refuses anything else
    read = ReadGroup(group)
    read.filter = part
    read.key = json.dumps(group, sort_keys=True, ensure_ascii=False)
    return read


def _parsed(groups: list[Any], loc: Loc) -> tuple[TagFilter, ...]:
    try:
        whole = parse_tag_groups(groups, str(loc[-1]))
    except InvalidInput as exc:
        raise _moved(exc, loc) from exc
    assert isinstance(whole, And)
    for index, part in enumerate(whole.parts):
        flaw = _flaw(part)
        if flaw is not None:
            raise problem((*loc, index), flaw)
    return whole.parts


def _moved(error: InvalidInput, loc: Loc) -> InvalidInput:
    """The same problem, placed inside the document."""
    before = ".".join(map(str, loc[1:-1]))
    prefix = f"{before}." if before else ""
    fields = [replace(one, loc=(*loc[:-1], *one.loc), msg=prefix + one.msg) for one in error.fields]
    return InvalidInput(prefix + error.message, fields=fields or [FieldProblem(loc, error.message)])


def _flaw(node: TagFilter) -> str | None:
    match node:
        case And(parts) | Or(parts):
            if not parts:
                return "has an empty 'and' or 'or'; write the parts that must match, or remove it"
            return next((flaw for part in parts if (flaw := _flaw(part))), None)
        case Not(part):
            return _flaw(part)
        case Leaf(tags, match, resolve):
            if resolve == "fuzzy":
                return "must not use resolve 'fuzzy': a policy names exact tags"
            if not tags and match != "exact":
                return "has a leaf without tags, which restricts nothing; name the tags"
            return None
