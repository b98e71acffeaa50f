"""The indexed and pre-merged set says what going through the statements one by one says."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from policy_kit import ACTIONS, ASKED, BANKS, allow, at_group, at_user, attached

from lorebank.access.policy.match import statement_level
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import BUDGETS, Attached, Parameters, StatementRef, Verdict

Found = tuple[tuple[bool, int, int, str, int], StatementRef, Parameters]
"""Standing for single values, reference, parameters."""


def one_by_one(some: list[Attached], action: str, bank: str, implied: bool) -> Verdict:
    """Slow and plain."""
    found: dict[str, list[Found]] = {"allow": [], "deny": []}
    for one in some:
        for index, statement in enumerate(one.document.statements):
            level = statement_level(statement, action, bank, implied=implied)
            if level:
                standing = (one.through == "user", level, one.priority, one.policy_id, -index)
                ref = StatementRef(one.policy_id, index)
                found[statement.effect].append((standing, ref, statement.parameters))
    effect = "deny" if found["deny"] else "allow"
    determining = tuple(sorted({ref for _, ref, _ in found[effect]}))
    if effect == "deny" or not determining:
        return Verdict(False, bool(determining), determining)
    allows = sorted(found["allow"], key=lambda one: one[1])
    return Verdict(
        True, False, determining, Parameters(**{name: said(name, allows) for name in Parameters.__slots__})
    )


def said(name: str, allows: list[Found]) -> Any:
    """What the statements say together in one field."""
    values = [(standing, getattr(parameters, name)) for standing, _, parameters in allows]
    values = [(standing, value) for standing, value in values if value is not None]
    if not values:
        return None
    if name in ("retain_strategy", "llm_model", "llm_provider"):
        return max(values)[1]
    plain = [value for _, value in values]
    if name == "recall_budget":
        return BUDGETS[max(BUDGETS.index(value) for value in plain)]
    if name in ("recall_max_tokens", "retain_every_n_turns"):
        return max(plain) if name == "recall_max_tokens" else min(plain)
    members = [member for value in plain for member in value]
    if name == "recall_tag_groups":
        return tuple(group for at, group in enumerate(members) if group not in members[:at])
    return tuple(sorted(set(members)))


@given(attached(), st.sampled_from(ASKED), st.sampled_from(BANKS), st.booleans())
@settings(max_examples=100)
def test_a_set_says_what_its_statements_say(
    some: list[Attached], action: str, bank: str, implied: bool
) -> None:
    assert PolicySet(some).evaluate(action, bank, implied=implied) == one_by_one(some, action, bank, implied)


def test_statements_of_one_shape_among_others_keep_their_order_and_their_winners() -> None:
    groups = [{"tags": [f"t{n}"]} for n in range(12)]
    some: list[Attached] = []
    for n, group in enumerate(groups):
        shape = {"actions": ACTIONS[0], "banks": ("*", "a", "* a", "a b")[n % 4]}
        own = allow(shape["actions"], shape["banks"], recall_tag_groups=[group], llm_model=f"m{n}")
        attach = at_user if n % 3 else at_group
        some.append(attach(f"p{n:02}", own, allow("bank:*", "a", retain_tags=[f"r{n}"]), priority=n % 5))
    for bank in ("a", "b", "c"):
        assert PolicySet(some).evaluate("bank:recall", bank) == one_by_one(some, "bank:recall", bank, True)
        assert PolicySet(some[::-1]).evaluate("bank:recall", bank) == PolicySet(some).evaluate(
            "bank:recall", bank
        )
    assert PolicySet(some).evaluate("bank:recall", "a").parameters.recall_tag_groups == tuple(groups)
