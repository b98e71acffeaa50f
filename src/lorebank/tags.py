"""Tag filters: one value that storage, search and access all apply in the same way.

A filter is a tree of leaves joined by and, or and not. The five match modes and the group grammar
are those of the Hindsight 1.1.0 wire contract; `matches` is their definition here and `to_sql` is
proven equal to it by a property test.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Literal, TypeAlias, get_args

from lorebank.errors import FieldProblem, InvalidInput

TagMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
TagResolve = Literal["exact", "fuzzy"]

FUZZY_THRESHOLD = 0.5
"""Least trigram similarity at which a stored tag stands for an asked one. Chosen so that a typo in
one place matches (`kubernets`, 0.64) and tags that share only a prefix (`user:anna`, `user:bob`,
0.36) do not: a filter that widens by accident is worse than one that misses."""
MAX_COMBINATIONS = 1000
MAX_DEPTH = 16
MAX_NODES = 200
MAX_LEAF_TAGS = 200
MAX_FUZZY_TAGS = 200
"""In all leaves together: each is compared with every stored tag."""
# Made once: json.dumps would make an encoder for every set.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Leaf:
    """Compares the tags of a row with `tags`.

    any: shares a tag, or has none; all: has every one, or has none; any_strict and all_strict:
    the same without the untagged rows; exact: the same set. Empty `tags` restrict nothing, except
    in `exact`, where they mean the untagged rows. `fuzzy` leaves are compared literally until
    `expand_fuzzy` has replaced them.
    """

    tags: tuple[str, ...]
    match: TagMatch = "any_strict"
    resolve: TagResolve = "exact"


@dataclass(frozen=True, slots=True)
class And:
    """Rows that every part lets through; no parts let everything through."""

    parts: tuple[TagFilter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Rows that some part lets through; no parts let nothing through."""

    parts: tuple[TagFilter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Rows that the part holds back; over a strict leaf that includes untagged rows."""

    part: TagFilter


TagFilter: TypeAlias = Leaf | And | Or | Not


def both(first: TagFilter | None, second: TagFilter | None) -> TagFilter | None:
    """The filter that applies both; None means no restriction."""
    if first is None or second is None:
        return first if second is None else second
    return And((first, second))


def encode(tags: Iterable[str]) -> str:
    """The stored form of a tag set: a compact JSON array, sorted and without repeats."""
    return _ENCODER.encode(sorted(set(tags)))


# deciding


def matches(filter: TagFilter, tags: Collection[str]) -> bool:
    """Whether a row with these tags passes the filter."""
    return _matches(filter, frozenset(tags))


def _matches(node: TagFilter, tags: frozenset[str]) -> bool:
    match node:
        case And(parts):
            return all(_matches(part, tags) for part in parts)
        case Or(parts):
            return any(_matches(part, tags) for part in parts)
        case Not(part):
            return not _matches(part, tags)
        case Leaf():
            return _leaf_matches(node, tags)


def _leaf_matches(leaf: Leaf, tags: frozenset[str]) -> bool:
    if leaf.match == "exact":
        return tags == frozenset(leaf.tags)
    if not leaf.tags:
        return True
    if not tags:
        return leaf.match in ("any", "all")
    if leaf.match in ("any", "any_strict"):
        return not tags.isdisjoint(leaf.tags)
    return tags.issuperset(leaf.tags)


def to_sql(filter: TagFilter, column: str) -> tuple[str, list[str]]:
    """The filter as an SQLite predicate over `column` and its parameters.

    `column` must hold arrays in the form of `encode` and never NULL. The predicate is true or
    false, never NULL. Fuzzy leaves are compared literally: expand them first.
    """
    parameters: list[str] = []
    return _node_sql(filter, column, parameters), parameters


def _node_sql(node: TagFilter, column: str, parameters: list[str]) -> str:
    match node:
        case And(parts):
            return _join([_node_sql(part, column, parameters) for part in parts], "AND", "1")
        case Or(parts):
            return _join([_node_sql(part, column, parameters) for part in parts], "OR", "0")
        case Not(part):
            return f"NOT {_node_sql(part, column, parameters)}"
        case Leaf():
            return _leaf_sql(node, column, parameters)


def _join(parts: list[str], operator: str, empty: str) -> str:
    """Joined as a balanced tree: SQLite refuses expressions deeper than 1000."""
    if not parts:
        return f"({empty})"
    while len(parts) > 1:
        paired = [f"({a} {operator} {b})" for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = paired + parts[len(parts) & ~1 :]
    return parts[0]


def _leaf_sql(leaf: Leaf, column: str, parameters: list[str]) -> str:
    asked = frozenset(leaf.tags)
    if leaf.match == "exact":
        parameters.append(encode(asked))
        return f"({column} = ?)"
    if not asked:
        return "(1)"
    parameters.append(encode(asked))
    shared = f"FROM json_each({column}) WHERE value IN (SELECT value FROM json_each(?))"
    if leaf.match in ("any", "any_strict"):
        found = f"EXISTS (SELECT 1 {shared})"
    else:
        found = f"(SELECT count(*) {shared}) = {len(asked)}"
    untagged = f"{column} = '[]' OR " if leaf.match in ("any", "all") else ""
    return f"({untagged}{found})"


# fuzzy leaves


def needs_fuzzy(filter: TagFilter) -> bool:
    """Whether a leaf of the filter must be expanded before it is applied."""
    match filter:
        case And(parts) | Or(parts):
            return any(needs_fuzzy(part) for part in parts)
        case Not(part):
            return needs_fuzzy(part)
        case Leaf():
            return filter.resolve == "fuzzy" and bool(filter.tags)


def expand_fuzzy(filter: TagFilter, all_tags: Collection[str]) -> TagFilter:
    """The filter with each fuzzy tag replaced by the tags of `all_tags` that resemble it.

    any: the union of what resembles; all: one of the resembling tags for each asked one; exact:
    any combination that takes one for each. A tag that nothing resembles stands for itself.
    Raises `InvalidInput` when an exact leaf has more than 1000 combinations.
    """
    return _expanded(filter, {tag: _trigrams(tag) for tag in all_tags} if needs_fuzzy(filter) else {})


def _expanded(filter: TagFilter, grams: dict[str, frozenset[str]]) -> TagFilter:
    match filter:
        case And(parts):
            return And(tuple(_expanded(part, grams) for part in parts))
        case Or(parts):
            return Or(tuple(_expanded(part, grams) for part in parts))
        case Not(part):
            return Not(_expanded(part, grams))
        case Leaf():
            return _expand_leaf(filter, grams) if needs_fuzzy(filter) else filter


def _expand_leaf(leaf: Leaf, grams: dict[str, frozenset[str]]) -> TagFilter:
    choices = [_resembling(tag, grams) for tag in leaf.tags]
    if leaf.match in ("any", "any_strict"):
        return Leaf(tuple(sorted({tag for choice in choices for tag in choice})), leaf.match)
    if leaf.match == "exact":
        if prod(len(choice) for choice in choices) > MAX_COMBINATIONS:
            message = "tag_groups: too many stored tags resemble this fuzzy exact leaf; use resolve 'exact'"
            raise InvalidInput(message, fields=[FieldProblem(("tag_groups",), message)])
        return Or(tuple(Leaf(tuple(sorted(set(combination))), "exact") for combination in product(*choices)))
    one: TagMatch = "any" if leaf.match == "all" else "any_strict"
    return And(tuple(Leaf(choice, one) for choice in choices))


def _resembling(asked: str, grams: dict[str, frozenset[str]]) -> tuple[str, ...]:
    wanted = _trigrams(asked)
    found = {tag for tag, have in grams.items() if _similarity(wanted, have) >= FUZZY_THRESHOLD}
    return tuple(sorted(found)) or (asked,)


def similarity(first: str, second: str) -> float:
    """Shared trigrams over all trigrams of both, 0 to 1; case and punctuation do not count."""
    return _similarity(_trigrams(first), _trigrams(second))


def _similarity(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    union = len(first) + len(second) - shared
    return shared / union if union else 0.0


def _trigrams(text: str) -> frozenset[str]:
    """Trigrams of each word, with two spaces before it and one after, as PostgreSQL's pg_trgm does."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(c if c.isalnum() else " " for c in folded).split()
    padded = [f"  {word} " for word in words] or [f"  {folded} "]
    return frozenset(word[i : i + 3] for word in padded for i in range(len(word) - 2))


# reading the wire form


@dataclass(slots=True)
class _Budget:
    nodes: int
    depth: int
    leaf_tags: int
    fuzzy_tags: int = MAX_FUZZY_TAGS


def parse_tag_groups(
    data: object,
    field: str,
    *,
    max_depth: int = MAX_DEPTH,
    max_nodes: int = MAX_NODES,
    max_leaf_tags: int = MAX_LEAF_TAGS,
) -> TagFilter:
    """The filter of a `tag_groups` value: a list of nodes that must all match.

    A node is `{tags, match, resolve}`, `{and: […]}`, `{or: […]}` or `{not: node}`. Raises
    `InvalidInput` naming the place when the value has another shape or exceeds a limit.
    """
    budget = _Budget(max_nodes, max_depth, max_leaf_tags)
    return And(_parse_nodes(data, (field,), 1, budget))


def _parse_nodes(
    data: object, loc: tuple[str | int, ...], depth: int, budget: _Budget
) -> tuple[TagFilter, ...]:
    if not isinstance(data, list):
        raise _problem(loc, "must be a list of tag groups")
    return tuple(_parse_node(item, (*loc, index), depth, budget) for index, item in enumerate(data))


def _parse_node(data: object, loc: tuple[str | int, ...], depth: int, budget: _Budget) -> TagFilter:
    budget.nodes -= 1
    if budget.nodes < 0:
        raise _problem(loc, "has too many nodes; ask with fewer groups")
    if depth > budget.depth:
        raise _problem(loc, f"is nested deeper than {budget.depth} levels")
    if not isinstance(data, dict):
        raise _problem(loc, "must be an object with 'tags', 'and', 'or' or 'not'")
    kinds = [kind for kind in ("tags", "and", "or", "not") if data.get(kind) is not None]
    if len(kinds) != 1:
        raise _problem(loc, "must have exactly one of 'tags', 'and', 'or' and 'not'")
    kind = kinds[0]
    if kind == "tags":
        return _parse_leaf(data, loc, budget)
    if kind == "not":
        return Not(_parse_node(data["not"], (*loc, "not"), depth + 1, budget))
    parts = _parse_nodes(data[kind], (*loc, kind), depth + 1, budget)
    return And(parts) if kind == "and" else Or(parts)


def _parse_leaf(data: dict[str, object], loc: tuple[str | int, ...], budget: _Budget) -> Leaf:
    tags = data["tags"]
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _problem((*loc, "tags"), "must be a list of strings")
    if len(tags) > budget.leaf_tags:
        raise _problem((*loc, "tags"), f"must have at most {budget.leaf_tags} tags")
    names = tuple(sorted({unicodedata.normalize("NFC", str(tag)) for tag in tags}))
    leaf = Leaf(names, parse_match(data.get("match"), (*loc, "match"), "any_strict"))
    resolve = data.get("resolve")
    if resolve not in (None, "exact", "fuzzy"):
        raise _problem((*loc, "resolve"), "must be 'exact' or 'fuzzy'")
    if resolve != "fuzzy":
        return leaf
    budget.fuzzy_tags -= len(names)
    if budget.fuzzy_tags < 0:
        raise _problem((*loc, "tags"), f"makes more than {MAX_FUZZY_TAGS} fuzzy tags in all; ask with fewer")
    return replace(leaf, resolve="fuzzy")


def parse_match(value: object, loc: tuple[str | int, ...], default: TagMatch) -> TagMatch:
    """A match mode, `default` for None; `InvalidInput` for anything that is no mode."""
    if value is None:
        return default
    for mode in get_args(TagMatch):
        if value == mode:
            return mode  # type: ignore[no-any-return]
    raise _problem(loc, f"must be one of {', '.join(get_args(TagMatch))}")


def _problem(loc: tuple[str | int, ...], message: str) -> InvalidInput:
    where = ".".join(str(part) for part in loc)
    return InvalidInput(f"{where} {message}", fields=[FieldProblem(loc, f"{where} {message}")])
