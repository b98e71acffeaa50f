"""Reading policy documents: from decoded JSON to values, or an error that names the field.

Unknown keys are ignored, as in the peer; whoever stores a document keeps its text.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable
from typing import Any, get_args

from lorebank.access.actions import ACTIONS, AUDIENCE_ONLY
from lorebank.access.policy.reading import (
    ROOT,
    Loc,
    a_count,
    a_list,
    a_string,
    an_object,
    one_of,
    problem,
    strings,
)
from lorebank.access.policy.tag_filter import read_groups
from lorebank.access.policy.values import (
    BUDGETS,
    UNSET,
    VERSION,
    BankPolicy,
    ContextScope,
    Effect,
    Parameters,
    PolicyDocument,
    PublicOverride,
    PublicRule,
    Statement,
    StrategyOverride,
)

ROLES = ("user", "assistant", "system", "tool")
"""The roles of a transcript's messages that a policy can keep."""
RESERVED_TAG_PREFIXES = ("user:", "agent:")
"""Tags that only the server sets (issue 3)."""


def parse_policy(raw: object) -> PolicyDocument:
    """The access policy in decoded JSON. `InvalidInput` with the path of the first wrong field."""
    document = _document(raw)
    loc: Loc = (*ROOT, "statements")
    statements = a_list(_required(document, "statements", ROOT), loc)
    return PolicyDocument(tuple(_statement(one, (*loc, index)) for index, one in enumerate(statements)))


def parse_bank_policy(raw: object) -> BankPolicy:
    """The bank policy in decoded JSON. `InvalidInput` with the path of the first wrong field."""
    document = _document(raw)
    public = document.get("public_access")
    loc: Loc = (*ROOT, "public_access")
    access = {} if public is None else an_object(public, loc)
    default = access.get("default")
    return BankPolicy(
        default_strategy=_optional(document, "default_strategy", ROOT, a_string),
        strategy_overrides=_each(document, "strategy_overrides", ROOT, _strategy_override),
        public_default=None
        if default is None
        else _public_rule(an_object(default, (*loc, "default")), (*loc, "default")),
        public_overrides=_each(access, "overrides", loc, _public_override),
    )


def _document(raw: object) -> dict[str, object]:
    document = an_object(raw, ROOT)
    if document.get("version") != VERSION:
        raise problem((*ROOT, "version"), f"must be '{VERSION}'")
    return document


def _required(holder: dict[str, object], name: str, loc: Loc) -> object:
    value = holder.get(name)
    if value is None:
        raise problem((*loc, name), "is required")
    return value


def _optional(holder: dict[str, object], name: str, loc: Loc, reader: Callable[[object, Loc], Any]) -> Any:
    """The field's value; None where it is missing or null: both mean that it is not set."""
    value = holder.get(name)
    return None if value is None else reader(value, (*loc, name))


def _each(
    holder: dict[str, object], name: str, loc: Loc, reader: Callable[[object, Loc], Any]
) -> tuple[Any, ...]:
    value = holder.get(name)
    items = [] if value is None else a_list(value, (*loc, name))
    return tuple(reader(item, (*loc, name, index)) for index, item in enumerate(items))


# access policies


def _statement(value: object, loc: Loc) -> Statement:
    raw = an_object(value, loc)
    effect: Effect = one_of(_required(raw, "effect", loc), (*loc, "effect"), get_args(Effect))
    actions = read_actions(_required(raw, "actions", loc), (*loc, "actions"))
    banks = _banks(raw, loc)
    parameters = _parameters(raw, loc)
    return Statement(effect, actions, banks, parameters if effect == "allow" else UNSET)


def read_actions(value: object, loc: Loc) -> tuple[str, ...]:
    """A list of actions and families of actions, all of them known."""
    return tuple(_action(one, (*loc, index)) for index, one in enumerate(strings(value, loc)))


def _action(name: str, loc: Loc) -> str:
    if name in AUDIENCE_ONLY:
        raise problem(loc, f"'{name}' is decided by the audience of an agent's token; no policy can name it")
    if name in ACTIONS:
        return name
    if name == "*":
        raise problem(loc, "must not be a bare '*'; name the parts: 'bank:*', 'iam:*', 'template:*'")
    if name.endswith(":*") and any(known.startswith(name[:-1]) for known in ACTIONS):
        return name
    near = difflib.get_close_matches(name[:100], ACTIONS, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else "docs/actions.md lists all of them"
    raise problem(loc, f"is not a known action: '{name[:100]}'; {hint}")


def _banks(raw: dict[str, object], loc: Loc) -> tuple[str, ...]:
    """`banks`, for which the reference page's `resources` is a synonym (issue 3)."""
    named = {name: raw[name] for name in ("banks", "resources") if raw.get(name) is not None}
    if not named:
        raise problem((*loc, "banks"), "is required")
    read = {name: _patterns(value, (*loc, name)) for name, value in named.items()}
    if len(set(read.values())) > 1:
        raise problem((*loc, "resources"), "is a synonym of 'banks' and differs from it; keep one of them")
    return next(iter(read.values()))


def _patterns(value: object, loc: Loc) -> tuple[str, ...]:
    # Bank ids are in NFC; a pattern in another form would silently match nothing, a deny among them.
    return tuple(map(_normal, strings(value, loc)))


def _parameters(raw: dict[str, object], loc: Loc) -> Parameters:
    made = Parameters(
        recall_budget=_optional(raw, "recall_budget", loc, _budget),
        recall_max_tokens=_optional(raw, "recall_max_tokens", loc, a_count),
        recall_tag_groups=_optional(raw, "recall_tag_groups", loc, read_groups) or None,
        retain_roles=_optional(raw, "retain_roles", loc, _roles),
        retain_tags=_optional(raw, "retain_tags", loc, _tags) or None,
        retain_every_n_turns=_optional(raw, "retain_every_n_turns", loc, a_count),
        retain_strategy=_optional(raw, "retain_strategy", loc, a_string),
        llm_model=_optional(raw, "llm_model", loc, a_string),
        llm_provider=_optional(raw, "llm_provider", loc, a_string),
        exclude_providers=_optional(raw, "exclude_providers", loc, _providers) or None,
    )
    return UNSET if made == UNSET else made


def _budget(value: object, loc: Loc) -> str:
    return one_of(value, loc, BUDGETS)


def _roles(value: object, loc: Loc) -> tuple[str, ...]:
    """The roles; an empty list stays one, because it means that none is kept (issue 3)."""
    roles = {one_of(one, (*loc, index), ROLES) for index, one in enumerate(a_list(value, loc))}
    return tuple(sorted(roles))


def _tags(value: object, loc: Loc) -> tuple[str, ...]:
    tags = [_normal(one) for one in strings(value, loc)]
    for index, tag in enumerate(tags):
        if tag.startswith(RESERVED_TAG_PREFIXES):
            raise problem(
                (*loc, index), "must not begin with 'user:' or 'agent:'; the server sets these tags"
            )
    return tuple(sorted(set(tags)))


def _providers(value: object, loc: Loc) -> tuple[str, ...]:
    # Claims are in NFC too, like whatever is compared with them.
    return tuple(sorted(set(map(_normal, strings(value, loc, empty=True)))))


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


# bank policies


def _scope(raw: dict[str, object], loc: Loc) -> tuple[ContextScope, str]:
    scope: ContextScope = one_of(_required(raw, "scope", loc), (*loc, "scope"), get_args(ContextScope))
    return scope, _normal(a_string(_required(raw, "value", loc), (*loc, "value")))


def _strategy_override(value: object, loc: Loc) -> StrategyOverride:
    raw = an_object(value, loc)
    scope, asked = _scope(raw, loc)
    return StrategyOverride(scope, asked, a_string(_required(raw, "strategy", loc), (*loc, "strategy")))


def _public_rule(raw: dict[str, object], loc: Loc) -> PublicRule:
    return PublicRule(
        actions=read_actions(_required(raw, "actions", loc), (*loc, "actions")),
        recall_budget=_optional(raw, "recall_budget", loc, _budget),
        recall_max_tokens=_optional(raw, "recall_max_tokens", loc, a_count),
    )


def _public_override(value: object, loc: Loc) -> PublicOverride:
    raw = an_object(value, loc)
    scope, asked = _scope(raw, loc)
    return PublicOverride(scope, asked, _public_rule(raw, loc))
