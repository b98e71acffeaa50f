"""What a grant makes of the items of a retain: their tags, the roles that are kept, their strategy.

Applied when a request arrives and, but for the tags, once more when a job stores what waited: rights
may have become narrower meanwhile (issue 3, parameters applied by the server).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lorebank.access.grant import Grant
from lorebank.banks.config import resolve
from lorebank.banks.extract.roles import only_roles
from lorebank.banks.reserved import refuse_forged, scope_tags
from lorebank.banks.retain.items import Item, joined_tags


def refuse_forged_tags(grant: Grant, items: Iterable[Item], document_tags: tuple[str, ...]) -> None:
    """`InvalidInput` that names the field with a `user:` or `agent:` tag that the caller may not set."""
    refuse_forged(grant, document_tags, "document_tags", ("body", "document_tags"))
    for index, item in enumerate(items):
        where = ("body", "items", index)
        refuse_forged(grant, item.tags, f"items[{index}].tags", (*where, "tags"))
        field = "observation_scopes"
        refuse_forged(grant, scope_tags(item.observation_scopes), f"items[{index}].{field}", (*where, field))


def tags_for(grant: Grant, document_tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags that every item of a request gets: the request's, the policy's, and the marks of origin."""
    return joined_tags(document_tags, (*(grant.parameters.retain_tags or ()), *grant.auto_tags))


def under_strategy(
    grant: Grant, items: Sequence[Item], defaults: Mapping[str, Any], overrides: Mapping[str, Any]
) -> list[Item]:
    """The items under the grant's strategy, where it names one; one that the bank does not define stands
    for the bank's own way, so that nothing is lost."""
    name = grant.parameters.retain_strategy
    if name is None:
        return list(items)
    known = resolve(defaults, overrides).retain_strategies
    return [replace(item, strategy=name if name in known else None) for item in items]


def kept(grant: Grant, item: Item) -> Item | None:
    """The item with only the turns that may be kept; None when nothing is left of it."""
    roles = grant.parameters.retain_roles
    if roles is None:
        return item
    content = only_roles(item.content, roles)
    if content == item.content:
        return item
    return replace(item, content=content) if content.strip() else None


def kept_items(grant: Grant, items: Iterable[Item]) -> list[Item]:
    """The items of which something is left."""
    return [left for item in items if (left := kept(grant, item)) is not None]
