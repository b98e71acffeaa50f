"""Short forms for documents, and strategies that make small random ones."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from lorebank.access.policy.document import parse_bank_policy, parse_policy
from lorebank.access.policy.values import VERSION, Attached, BankPolicy, PolicyDocument, StatementRef, Through
from lorebank.access.principal import Circumstances

ACTIONS = (
    "bank:recall",
    "bank:retain",
    "bank:reflect",
    "bank:memories:list",
    "bank:memories:delete",
    "bank:operations:get",
    "bank:memories:*",
    "bank:*",
    "iam:*",
    "iam:service_accounts:manage",
    "iam:service_accounts:*",
)
ASKED = (
    "bank:recall",
    "bank:retain",
    "bank:reflect",
    "bank:memories:list",
    "bank:memories:delete",
    "bank:operations:get",
    "iam:users:read",
    "iam:service_accounts:write",
)
PATTERNS = ("*", "a", "b", "a::*", "a::b::*", "a::b", "a::b::c", "a*")
BANKS = ("a", "b", "c", "*", "a::", "a::b", "a::x", "a::b::c", "a::b::d", "a*", "ab")
GROUPS = (
    {"tags": ["d:sales"], "match": "any"},
    {"not": {"tags": ["secret"], "match": "any_strict"}},
    {"or": [{"tags": ["x"]}, {"tags": [], "match": "exact"}]},
)

few = settings(max_examples=50)
"""For properties whose examples are costly to make."""


def allow(actions: str, banks: str = "*", **parameters: Any) -> dict[str, Any]:
    """An allow statement as it is sent; actions and banks separated by spaces."""
    return {"effect": "allow", "actions": actions.split(), "banks": banks.split(), **parameters}


def deny(actions: str, banks: str = "*") -> dict[str, Any]:
    """A deny statement as it is sent."""
    return {"effect": "deny", "actions": actions.split(), "banks": banks.split()}


def sent(*statements: dict[str, Any]) -> dict[str, Any]:
    """A document as it is sent."""
    return {"version": VERSION, "statements": list(statements)}


def document(*statements: dict[str, Any]) -> PolicyDocument:
    """A parsed document."""
    return parse_policy(sent(*statements))


def at_user(policy_id: str, *statements: dict[str, Any], priority: int = 0) -> Attached:
    """A policy attached to the user himself."""
    return Attached(policy_id, "user", priority, document(*statements))


def at_group(policy_id: str, *statements: dict[str, Any], priority: int = 0, via: str = "") -> Attached:
    """A policy attached to a group."""
    return Attached(policy_id, "group", priority, document(*statements), via)


def bank_policy(**parts: Any) -> BankPolicy:
    """A parsed bank policy."""
    return parse_bank_policy({"version": VERSION, **parts})


def refs(*names: str) -> tuple[StatementRef, ...]:
    """`policy#index` as references."""
    pairs = (name.rsplit("#", 1) for name in names)
    return tuple(StatementRef(policy_id, int(index)) for policy_id, index in pairs)


def some(values: tuple[Any, ...], least: int = 1, most: int = 3) -> st.SearchStrategy[list[Any]]:
    """A short list of different values."""
    return st.lists(st.sampled_from(values), min_size=least, max_size=most, unique_by=repr)


def parameters() -> st.SearchStrategy[dict[str, Any]]:
    """Behavioural parameters as they are sent, each there or not."""
    return st.fixed_dictionaries(
        {},
        optional={
            "recall_budget": st.sampled_from(("low", "mid", "high")),
            "recall_max_tokens": st.integers(1, 4),
            "recall_tag_groups": some(GROUPS, 0, 2),
            "retain_roles": some(("user", "assistant", "tool"), 0),
            "retain_tags": some(("t:1", "t:2", "t:3"), 0),
            "retain_every_n_turns": st.integers(1, 4),
            "retain_strategy": st.sampled_from(("s1", "s2", "s3")),
            "llm_model": st.sampled_from(("m1", "m2", "m3")),
            "llm_provider": st.sampled_from(("p1", "p2")),
            "exclude_providers": some(("web", "slack"), 0),
        },
    )


def statements(
    effects: tuple[str, ...] = ("allow", "allow", "allow", "deny"),
) -> st.SearchStrategy[dict[str, Any]]:
    """A statement as it is sent."""
    return st.builds(
        lambda effect, actions, banks, more: {"effect": effect, "actions": actions, "banks": banks, **more},
        st.sampled_from(effects),
        some(ACTIONS),
        some(PATTERNS),
        parameters(),
    )


def attached(
    effects: tuple[str, ...] = ("allow", "allow", "allow", "deny"),
) -> st.SearchStrategy[list[Attached]]:
    """A few policies, each attached to the user, to a group, or to both."""
    documents = st.lists(statements(effects), max_size=3).map(lambda made: document(*made))
    ways: tuple[tuple[Through, ...], ...] = (("user",), ("group",), ("user", "group"))
    one = st.tuples(
        st.sampled_from(("p", "q", "r", "s")), st.sampled_from(ways), st.integers(0, 2), documents
    )
    several = st.lists(one, max_size=3, unique_by=lambda made: made[0])
    return several.map(
        lambda found: [
            Attached(policy_id, way, priority + at, made)
            for policy_id, by, priority, made in found
            for at, way in enumerate(by)
        ]
    )


def circumstances() -> st.SearchStrategy[Circumstances]:
    """The claims of a token, each there or not."""
    claim = st.sampled_from((None, "x", "y"))
    return st.builds(Circumstances, provider=claim, channel=claim, topic=claim)


def bank_policies() -> st.SearchStrategy[BankPolicy]:
    """A small bank policy."""
    rule = st.fixed_dictionaries(
        {"actions": some(ASKED, 0)},
        optional={"recall_budget": st.sampled_from(("low", "high")), "recall_max_tokens": st.integers(1, 4)},
    )
    scope = {"scope": st.sampled_from(("provider", "channel", "topic")), "value": st.sampled_from(("x", "y"))}
    override = st.tuples(st.fixed_dictionaries(scope), rule).map(lambda pair: {**pair[0], **pair[1]})
    public = st.fixed_dictionaries(
        {}, optional={"default": st.none() | rule, "overrides": st.lists(override, max_size=3)}
    )
    strategy = st.sampled_from(("s1", "s2"))
    strategies = st.lists(st.fixed_dictionaries({**scope, "strategy": strategy}), max_size=3)
    parts = {"default_strategy": strategy, "strategy_overrides": strategies, "public_access": public}
    return st.fixed_dictionaries({}, optional=parts).map(lambda made: bank_policy(**made))
