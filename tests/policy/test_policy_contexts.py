"""Public access and strategies: what depends on where the conversation is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_kit import ASKED, attached, bank_policies, bank_policy, circumstances, few, refs

from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.public import unmapped_verdict
from lorebank.access.policy.strategy import strategy_for
from lorebank.access.policy.values import UNSET, Attached, BankPolicy, Parameters, Verdict
from lorebank.access.principal import NOWHERE, Circumstances

NOBODY = Verdict(False)


def public(action: str, policy: BankPolicy | None, where: Circumstances = NOWHERE) -> Verdict:
    """What an unmapped sender may whose group `_default` has no policies."""
    return unmapped_verdict(NOBODY, policy, where, action, "shop")


def test_without_a_bank_policy_nothing_is_public() -> None:
    for policy in (None, bank_policy(), bank_policy(public_access={"default": None, "overrides": []})):
        assert public("bank:recall", policy, Circumstances(provider="web")) == NOBODY


def test_the_seeds_advisor_is_open_to_the_web_alone() -> None:
    override = {
        "scope": "provider",
        "value": "web",
        "actions": ["bank:recall", "bank:reflect"],
        "recall_budget": "low",
        "recall_max_tokens": 512,
    }
    policy = bank_policy(public_access={"default": None, "overrides": [override]})
    web, telegram = Circumstances(provider="web"), Circumstances(provider="telegram")
    low = Parameters(recall_budget="low", recall_max_tokens=512)
    for action in ("bank:recall", "bank:reflect"):
        assert public(action, policy, web) == Verdict(True, False, refs("bank-policy:shop#0"), low)
        assert public(action, policy, telegram) == NOBODY
    assert public("bank:retain", policy, web).denied
    assert not public("bank:retain", policy, telegram).allowed


def test_the_seeds_default_is_open_to_every_sender() -> None:
    default = {"actions": ["bank:recall"], "recall_budget": "low", "recall_max_tokens": 256}
    policy = bank_policy(public_access={"default": default})
    low = Parameters(recall_budget="low", recall_max_tokens=256)
    for where in (NOWHERE, Circumstances(provider="web", channel="c", topic="t")):
        assert public("bank:recall", policy, where) == Verdict(True, False, refs("bank-policy:shop#-1"), low)
        assert public("bank:reflect", policy, where) == NOBODY


def test_an_override_that_fits_but_does_not_list_the_action_denies() -> None:
    overrides = [{"scope": "channel", "value": "c", "actions": ["bank:reflect"]}]
    policy = bank_policy(public_access={"default": {"actions": ["bank:recall"]}, "overrides": overrides})
    allowed = Verdict(True, determining=refs("_default-policy#0"))
    refused = Verdict(False, True, refs("bank-policy:shop#0"))
    assert public("bank:recall", policy, Circumstances(channel="c")) == refused
    assert unmapped_verdict(allowed, policy, Circumstances(channel="c"), "bank:recall", "shop") == refused
    assert public("bank:recall", policy, Circumstances(channel="d")).allowed


def test_public_actions_are_compared_literally() -> None:
    policy = bank_policy(public_access={"default": {"actions": ["bank:*", "bank:recall"]}})
    assert public("bank:recall", policy).allowed
    assert not public("bank:reflect", policy).allowed
    assert not public("bank:memories:list", policy).allowed


@pytest.mark.parametrize(
    ("where", "place"),
    [
        (Circumstances(provider="x", channel="x", topic="x"), 2),
        (Circumstances(provider="x", channel="x", topic="other"), 1),
        (Circumstances(provider="x", channel="x"), 1),
        (Circumstances(provider="x", topic="x"), 2),
        (Circumstances(provider="x"), 0),
        (Circumstances(channel="x"), 1),
        (Circumstances(provider="other"), -1),
        (Circumstances(agent="x", sender="x", client="x"), -1),
        (NOWHERE, -1),
    ],
)
def test_topic_beats_channel_beats_provider(where: Circumstances, place: int) -> None:
    scopes = ("provider", "channel", "topic", "topic", "channel", "provider")
    rules: list[dict[str, Any]] = [{"scope": scope, "value": "x"} for scope in scopes]
    policy = bank_policy(
        default_strategy="s-1",
        strategy_overrides=[{**one, "strategy": f"s{at}"} for at, one in enumerate(rules)],
        public_access={
            "default": {"actions": ["bank:recall"]},
            "overrides": [{**one, "actions": ["bank:recall"], "recall_max_tokens": 1} for one in rules],
        },
    )
    assert public("bank:recall", policy, where).determining == refs(f"bank-policy:shop#{place}")
    assert strategy_for(UNSET, policy, where) == f"s{place}"


def test_a_deny_of_the_default_group_denies_what_is_public() -> None:
    policy = bank_policy(public_access={"default": {"actions": ["bank:recall"]}})
    denied = Verdict(False, True, refs("no#0"))
    assert unmapped_verdict(denied, policy, NOWHERE, "bank:recall", "shop") == denied


def test_allowed_by_both_the_parameters_are_merged() -> None:
    mine = Parameters(recall_budget="low", recall_max_tokens=900, retain_tags=("t",), llm_model="m")
    group = Verdict(True, determining=refs("staff#0"), parameters=mine)
    policy = bank_policy(
        public_access={
            "default": {"actions": ["bank:recall"], "recall_budget": "mid", "recall_max_tokens": 5}
        }
    )
    found = unmapped_verdict(group, policy, NOWHERE, "bank:recall", "shop")
    assert found.determining == refs("bank-policy:shop#-1", "staff#0")
    assert found.parameters == Parameters("mid", 900, retain_tags=("t",), llm_model="m")
    assert unmapped_verdict(group, policy, NOWHERE, "bank:reflect", "shop") == group


def test_the_principals_own_strategy_comes_first() -> None:
    policy = bank_policy(
        default_strategy="d", strategy_overrides=[{"scope": "topic", "value": "x", "strategy": "t"}]
    )
    mine = Parameters(retain_strategy="mine")
    assert strategy_for(mine, policy, Circumstances(topic="x")) == "mine"
    assert strategy_for(mine, None, NOWHERE) == "mine"
    assert strategy_for(UNSET, None, Circumstances(topic="x")) is None
    assert strategy_for(UNSET, bank_policy(), Circumstances(topic="x")) is None


@few
@given(attached(), bank_policies(), circumstances(), st.sampled_from(ASKED))
def test_public_access_adds_to_the_default_group_and_lifts_no_deny(
    default: list[Attached], policy: BankPolicy, where: Circumstances, action: str
) -> None:
    group = PolicySet(default).evaluate(action, "a")
    alone = unmapped_verdict(NOBODY, policy, where, action, "a")
    found = unmapped_verdict(group, policy, where, action, "a")
    assert found.denied is (group.denied or alone.denied)
    assert found.allowed is (not found.denied and (group.allowed or alone.allowed))
    assert unmapped_verdict(group, None, where, action, "a") == group
    if not found.allowed:
        assert found.parameters == UNSET


@few
@given(bank_policies(), circumstances())
def test_a_strategy_is_one_that_is_written_for_this_conversation(
    policy: BankPolicy, where: Circumstances
) -> None:
    fitting: set[str | None] = {
        one.strategy for one in policy.strategy_overrides if getattr(where, one.scope) == one.value
    }
    assert strategy_for(UNSET, policy, where) in (fitting or {policy.default_strategy})
