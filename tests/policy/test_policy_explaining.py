"""What an explanation says, and that it agrees with the engine."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from policy_kit import (
    ASKED,
    BANKS,
    allow,
    at_group,
    at_user,
    attached,
    bank_policies,
    bank_policy,
    circumstances,
    deny,
    few,
    refs,
)

from lorebank.access.policy.explain import Explanation, Layer, NearMiss, explain, explain_unmapped
from lorebank.access.policy.merge import FIELDS, SINGLE_VALUE
from lorebank.access.policy.narrow import narrow
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.public import unmapped_verdict
from lorebank.access.policy.sentences import changes, told
from lorebank.access.policy.strategy import strategy_for
from lorebank.access.policy.values import Attached, BankPolicy, PolicyDocument
from lorebank.access.principal import Circumstances

GROUP = {"tags": ["d:sales"], "match": "any"}
STAFF = at_group("staff", allow("bank:recall", recall_budget="mid", recall_tag_groups=[GROUP]), via="staff")
EXEC = at_user("exec", allow("bank:*", "ops hr", recall_budget="high", exclude_providers=["web"]), priority=5)
CLOSED = at_group("hr-closed", deny("bank:recall", "hr"), via="staff")
SCOPE = Layer(
    "the scoping policy 'ci'", (at_user("ci", allow("bank:reflect", "ops", recall_budget="low")),), True
)
DEFAULT = Layer("the policies of group '_default'", ())


def bobs(*attached: Attached) -> Layer:
    """Bob's own policies."""
    return Layer("the policies of user 'bob'", attached)


def sources(explanation: Explanation) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """field -> value and statements."""
    return {one.field: (one.value, one.statements) for one in explanation.sources}


def test_an_allowed_action_tells_its_statements_and_its_parameters() -> None:
    found = explain([bobs(STAFF, EXEC)], "bank:memories:list", "ops")
    assert found.allowed
    assert [(str(one.ref), one.action, one.bank, one.decided) for one in found.statements] == [
        ("exec#0", "bank:*", "ops", True),
        ("staff#0", "bank:recall", "*", True),
    ]
    assert sources(found) == {
        "recall_budget": ("high", ("exec#0",)),
        "recall_tag_groups": ((GROUP,), ("staff#0",)),
        "exclude_providers": (("web",), ("exec#0",)),
    }
    assert told(found) == (
        "bank:memories:list on 'ops' is allowed.",
        "exec#0 allows 'bank:*' on 'ops' (the policies of user 'bob', attached to a user with priority 5).",
        "staff#0 allows 'bank:recall', which implies bank:memories:list, on every bank "
        "(the policies of user 'bob', attached to group 'staff' with priority 0).",
        "recall_budget is 'high', from exec#0.",
        'recall_tag_groups is {"tags": ["d:sales"], "match": "any"}, from staff#0.',
        "exclude_providers is 'web', from exec#0.",
        "To refuse it, add a statement that denies it, or take it out of every statement that allows it.",
    )


def test_a_deny_tells_how_to_lift_it() -> None:
    found = explain([bobs(STAFF, EXEC, CLOSED)], "bank:recall", "hr")
    assert not found.allowed
    assert found.verdict.determining == refs("hr-closed#0")
    assert [str(one.ref) for one in found.statements if one.decided] == ["hr-closed#0"]
    assert told(found) == (
        "bank:recall on 'hr' is denied. A deny wins over every allow, whatever the priorities.",
        "hr-closed#0 denies bank:recall on 'hr' "
        "(the policies of user 'bob', attached to group 'staff' with priority 0).",
        "To lift the deny of hr-closed#0, take 'bank:recall' out of its actions or 'hr' out of its banks, "
        "or detach the policy 'hr-closed'.",
    )


def test_a_deny_without_an_allow_tells_that_one_is_missing_too() -> None:
    found = told(explain([bobs(CLOSED)], "bank:recall", "hr"))
    assert found[-2:] == (
        "That alone is not enough: nothing in the policies of user 'bob' allows it.",
        "No statement comes near: add one that allows bank:recall on 'hr' to the policies of user 'bob'.",
    )


def test_near_misses_tell_which_word_is_missing() -> None:
    found = explain([bobs(STAFF, EXEC, CLOSED)], "bank:retain", "shop")
    assert [(str(one.ref), one.lacks, one.has) for one in found.near_misses] == [
        ("staff#0", "action", ("bank:recall",)),
        ("exec#0", "bank", ("ops", "hr")),
    ]
    assert told(found) == (
        "bank:retain on 'shop' is refused: nothing in the policies of user 'bob' allows it.",
        "staff#0 allows 'bank:recall' on 'shop': add 'bank:retain' to its actions to allow it.",
        "exec#0 allows bank:retain, but on 'ops' and 'hr': add 'shop' to its banks to allow it.",
    )


def test_a_star_that_is_a_plain_letter_is_pointed_out() -> None:
    wild, fine = at_user("w", allow("bank:recall", "yoda*")), at_user("f", allow("bank:recall", "a::*"))
    mending = {text[0]: text for text in changes(explain([bobs(wild, fine)], "bank:recall", "yoda2"))}
    assert mending["w"].endswith("'yoda*' names one bank.")
    assert mending["f"].endswith("to its banks to allow it.")


def test_a_star_after_agent_is_none_for_actions_on_agents() -> None:
    team = at_user("t", allow("knowledge:read", "agent:team-*"))
    found = changes(explain([bobs(team)], "knowledge:read", "agent:other"))
    assert found[0].endswith("add 'agent:other' to its banks to allow it.")


def test_a_scope_that_is_silent_is_the_one_that_is_named() -> None:
    found = explain([bobs(STAFF, EXEC), SCOPE], "bank:recall", "ops")
    assert found.silent == ("the scoping policy 'ci'",)
    assert told(found) == (
        "bank:recall on 'ops' is refused: nothing in the scoping policy 'ci' allows it.",
        "All of these must allow it: the policies of user 'bob' and the scoping policy 'ci'.",
        "ci#0 allows 'bank:reflect' on 'ops': add 'bank:recall' to its actions to allow it.",
    )


def test_a_narrowed_parameter_comes_from_the_scope() -> None:
    found = explain([bobs(STAFF, EXEC), SCOPE], "bank:reflect", "ops")
    assert sources(found)["recall_budget"] == ("low", ("ci#0",))
    assert "ci#0 allows bank:reflect on 'ops' (the scoping policy 'ci')." in told(found)


def test_an_excluded_provider_is_told() -> None:
    found = explain([bobs(EXEC)], "bank:recall", "ops", circumstances=Circumstances(provider="web"))
    assert found.verdict.allowed
    assert not found.allowed
    assert told(found)[0].endswith("but exclude the provider 'web'.")
    assert told(found)[-1] == "To allow it, take 'web' out of exclude_providers in exec#0."


def test_the_control_plane_is_on_the_server() -> None:
    found = told(explain([bobs()], "iam:users:read", "*"))
    assert (
        found[0]
        == "iam:users:read on the server is refused: nothing in the policies of user 'bob' allows it."
    )
    assert told(explain([], "bank:recall", "a"))[0].endswith("nothing in any policy allows it.")


def test_the_strategy_of_the_bank_is_told() -> None:
    policy = bank_policy(
        default_strategy="plain", strategy_overrides=[{"scope": "topic", "value": "t", "strategy": "alpha"}]
    )
    layer = bobs(EXEC)
    found = explain([layer], "bank:retain", "ops", policy=policy)
    assert sources(found)["retain_strategy"] == ("plain", ("bank-policy:ops/default_strategy",))
    found = explain([layer], "bank:retain", "ops", policy=policy, circumstances=Circumstances(topic="t"))
    assert sources(found)["retain_strategy"] == ("alpha", ("bank-policy:ops/strategy_overrides#0",))
    assert found.parameters.retain_strategy == "alpha"
    assert "retain_strategy" not in sources(explain([layer], "bank:recall", "ops", policy=policy))


def test_an_unmapped_sender_is_told_of_public_access() -> None:
    policy = bank_policy(
        public_access={
            "default": {"actions": ["bank:recall"], "recall_budget": "low"},
            "overrides": [
                {"scope": "provider", "value": "web", "actions": ["bank:reflect"]},
                {"scope": "channel", "value": "c", "actions": ["bank:retain"]},
            ],
        }
    )

    def sentences(action: str, **claims: str) -> tuple[str, ...]:
        return told(explain_unmapped(DEFAULT, policy, action, "shop", Circumstances(**claims)))

    assert sentences("bank:recall")[:3] == (
        "bank:recall on 'shop' is allowed.",
        "bank-policy:shop#default allows bank:recall on 'shop' "
        "(the public access of bank 'shop', its default).",
        "recall_budget is 'low', from bank-policy:shop#default.",
    )
    assert sentences("bank:recall", provider="web")[1:] == (
        "bank-policy:shop#0 denies bank:recall on 'shop' "
        "(the public access of bank 'shop', its override for provider 'web').",
        "To lift this, add the action to its override for provider 'web' "
        "in the public access of bank 'shop'.",
    )
    assert sentences("bank:retain")[1:] == (
        "bank-policy:shop#default allows 'bank:recall' on 'shop': "
        "add 'bank:retain' to its actions to allow it.",
        "bank-policy:shop#1 would allow it, but only for channel 'c'.",
        "Or map the sender to a user who may.",
    )
    assert "conversations without an override" in " ".join(
        explain_unmapped(DEFAULT, policy, "bank:recall", "shop", Circumstances(channel="c"))
        .near_misses[0]
        .has
    )


def test_a_bank_without_public_access_says_what_to_add() -> None:
    found = told(explain_unmapped(DEFAULT, None, "bank:recall", "shop", Circumstances(provider="web")))
    assert found[1] == (
        "No statement comes near: add one that allows bank:recall on 'shop' to the policies "
        "of group '_default' or the public access of bank 'shop'."
    )


def test_long_lists_are_counted_not_told() -> None:
    many = [at_user(f"p{n:03}", allow("bank:recall", f"b{n}")) for n in range(60)]
    found = explain([bobs(*many)], "bank:recall", "a")
    assert (found.near_miss_count, len(found.near_misses)) == (60, 50)
    assert len(told(found)) < 10
    denies = [at_user(f"p{n:03}", deny("bank:recall")) for n in range(9)]
    assert "And 4 more statements that deny it." in told(explain([bobs(*denies)], "bank:recall", "a"))


def check(found: Explanation) -> None:
    """What holds for every explanation."""
    assert {one.ref for one in found.statements if one.decided} == set(found.verdict.determining) or (
        not found.verdict.allowed and not found.verdict.denied
    )
    assert all(" " in line and line.endswith(".") for line in told(found))
    assert json.loads(json.dumps(found.to_json()))["allowed"] is found.allowed
    assert {one.field for one in found.sources} == {
        name for name in FIELDS if getattr(found.parameters, name) is not None
    }
    for one in found.sources:
        assert one.statements
        assert one.field not in SINGLE_VALUE or len(one.statements) == 1
        assert one.value == getattr(found.parameters, one.field)


@few
@given(
    st.lists(attached(), min_size=1, max_size=2),
    st.sampled_from(ASKED),
    st.sampled_from(BANKS),
    st.none() | bank_policies(),
    circumstances(),
)
def test_an_explanation_agrees_with_the_engine(
    layers: list[list[Attached]], action: str, bank: str, policy: BankPolicy | None, where: Circumstances
) -> None:
    verdict = reduce(narrow, [PolicySet(one).evaluate(action, bank) for one in layers])
    titled = [Layer(f"layer {at}", tuple(one)) for at, one in enumerate(layers)]
    found = explain(titled, action, bank, policy=policy, circumstances=where)
    assert found.verdict == verdict
    if verdict.allowed and action == "bank:retain":
        assert found.parameters.retain_strategy == strategy_for(verdict.parameters, policy, where)
    check(found)


@few
@given(attached(), st.sampled_from(ASKED), st.none() | bank_policies(), circumstances())
def test_an_explanation_for_the_unmapped_agrees_too(
    default: list[Attached], action: str, policy: BankPolicy | None, where: Circumstances
) -> None:
    verdict = unmapped_verdict(PolicySet(default).evaluate(action, "a"), policy, where, action, "a")
    found = explain_unmapped(Layer("the group", tuple(default)), policy, action, "a", where)
    assert found.verdict == verdict
    check(found)


@few
@given(attached(), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_the_mending_that_is_told_mends(some: list[Attached], action: str, bank: str) -> None:
    found = explain([bobs(*some)], action, bank)
    if found.verdict.allowed or found.verdict.denied:
        return
    for miss in found.near_misses:
        if miss.effect == "allow":
            mended = [_mended(one, miss, action, bank) for one in some]
            assert PolicySet(mended).evaluate(action, bank).allowed


def _mended(one: Attached, miss: NearMiss, action: str, bank: str) -> Attached:
    """The policy with the word added that the near miss lacks."""
    if one.policy_id != miss.ref.policy_id or miss.ref.index >= len(one.document.statements):
        return one
    statements = list(one.document.statements)
    statement = statements[miss.ref.index]
    if miss.lacks == "action":
        statements[miss.ref.index] = replace(statement, actions=(*statement.actions, action))
    else:
        statements[miss.ref.index] = replace(statement, banks=(*statement.banks, bank))
    return replace(one, document=PolicyDocument(tuple(statements)))
