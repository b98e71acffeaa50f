"""What a decision carries: excluded providers, filters, own operations, the tags of what is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from raw_world import access_data, rules_over
from small_world import ANN, BOT, A, B, allow, deny, rules, unmapped, world

from lorebank.access.actions import ACTIONS, AUDIENCE_ONLY, IMPLIED, RECALL
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.rules import placed
from lorebank.tags import matches

# excluded providers


def test_a_provider_that_recall_excludes_is_excluded_from_the_whole_bank() -> None:
    others = allow("bank:*", "iam:*", "template:*", "knowledge:*")
    decided = rules([allow("bank:recall", exclude_providers=["web"]), others])
    web = Principal("user", "ann", Circumstances(provider="web"))
    for action in ACTIONS.keys() - AUDIENCE_ONLY:
        on_bank = action.startswith("bank:") and action != "bank:access"
        assert decided.decide(web, action, A).allowed != on_bank, action
    assert not decided.shows(web, A) and decided.shows(ANN, A)
    assert decided.decide(replace(web, circumstances=Circumstances(provider="slack")), RECALL, A).allowed


def test_implied_reading_is_excluded_with_recall() -> None:
    decided = rules([allow("bank:recall", exclude_providers=["web"])])
    web = Principal("user", "ann", Circumstances(sender="web:7"))
    for action in IMPLIED[RECALL]:
        refused = decided.decide(web, action, A)
        assert not refused.allowed and refused.reason == "the caller's provider is excluded"
        assert decided.decide(ANN, action, A).allowed


def test_an_exclusion_that_stands_with_another_action_stays_there() -> None:
    decided = rules([allow("bank:retain", exclude_providers=["web"]), allow("bank:recall")])
    web = Principal("user", "ann", Circumstances(provider="web"))
    assert not decided.decide(web, "bank:retain", A).allowed
    assert not decided.decide(web, "bank:operations:get", A).allowed
    assert decided.decide(web, RECALL, A).allowed


def test_the_provider_is_what_the_token_says_or_what_the_sender_begins_with() -> None:
    assert placed(Circumstances(sender="web:7:x")).provider == "web"
    assert placed(Circumstances(sender="web:7", provider="slack")).provider == "slack"
    assert placed(Circumstances(sender="web")).provider is None
    assert placed(Circumstances()).provider is None


# tag filters

SECRETS = {"not": {"tags": ["secret"], "match": "any_strict"}}
RED = {"tags": ["team:red"], "match": "any"}


@pytest.mark.parametrize(
    "action",
    ["bank:reflect", "bank:stats", "bank:documents:list", "bank:graph", "bank:export", "bank:retain"],
)
def test_recalls_filter_holds_for_the_rest_of_the_bank(action: str) -> None:
    decided = rules(
        [allow("bank:recall", recall_tag_groups=[SECRETS]), allow(action, recall_tag_groups=[RED])]
    )
    decision = decided.decide(ANN, action, A)
    assert decision.filter is not None
    assert matches(decision.filter, ["team:red"]) and matches(decision.filter, [])
    assert not matches(decision.filter, ["team:red", "secret"])
    assert not matches(decision.filter, ["team:blue"])
    assert not matches(decision.filter, ["team:red", "labels:pending"])


def test_without_tag_groups_nothing_is_filtered() -> None:
    decided = rules([allow("bank:*", recall_tag_groups=[])])
    assert decided.decide(ANN, RECALL, A).filter is None
    assert decided.decide(ANN, "bank:stats", A).filter is None


def test_a_deny_of_recall_does_not_lift_its_filter_from_reflect() -> None:
    filtered = allow("bank:recall", recall_tag_groups=[SECRETS], exclude_providers=["web"])
    decided = rules([filtered, allow("bank:reflect"), deny("bank:recall", banks=("a",))])
    assert not decided.decide(ANN, RECALL, A).allowed
    for bank in (A, B):
        reflect = decided.decide(ANN, "bank:reflect", bank)
        assert reflect.allowed and reflect.filter is not None and not matches(reflect.filter, ["secret"])
        assert reflect.parameters.exclude_providers == ("web",)


def test_an_account_that_only_reflects_sees_no_more_than_its_owner() -> None:
    decided = rules(
        [allow("bank:recall", recall_tag_groups=[SECRETS]), allow("bank:reflect")],
        scope=[allow("bank:reflect", recall_tag_groups=[RED])],
    )
    decision = decided.decide(BOT, "bank:reflect", A)
    assert decision.filter is not None
    assert not matches(decision.filter, ["secret"]) and not matches(decision.filter, ["team:blue"])
    assert matches(decision.filter, ["team:red"])


def test_the_filter_of_the_default_group_holds_where_a_bank_is_public() -> None:
    reflecting = {"version": "2026-03-24", "public_access": {"default": {"actions": ["bank:reflect"]}}}
    made = world([allow("bank:recall", recall_tag_groups=[SECRETS])], bank_policies={"a": reflecting})
    made["attachments"].append(
        {"policy_id": "ann", "principal_type": "group", "principal_id": "_default", "priority": 0}
    )
    decision = rules_over(access_data(made))[0].decide(unmapped(provider="web"), "bank:reflect", A)
    assert decision.allowed and decision.filter is not None and not matches(decision.filter, ["secret"])


# operations


@pytest.mark.parametrize(
    ("statement", "own"),
    [
        (allow("bank:retain"), True),
        (allow("bank:operations:list", "bank:operations:get"), False),
        (allow("bank:operations:*"), False),
        (allow("bank:*"), False),
        (allow("bank:*", recall_tag_groups=[SECRETS]), True),
    ],
)
def test_operations_seen_through_retain_or_a_filter_are_ones_own(
    statement: dict[str, Any], own: bool
) -> None:
    decided = rules([statement])
    for action in ("bank:operations:list", "bank:operations:get"):
        decision = decided.decide(ANN, action, A)
        assert decision.allowed and decision.own_operations is own


def test_an_account_sees_all_operations_only_if_both_sides_name_them() -> None:
    for owner, scope, own in (
        ("bank:operations:*", "bank:retain", True),
        ("bank:retain", "bank:operations:*", True),
        ("bank:*", "bank:operations:list", False),
    ):
        decision = rules([allow(owner)], scope=[allow(scope)]).decide(BOT, "bank:operations:list", A)
        assert decision.allowed and decision.own_operations is own


def test_an_unmapped_sender_sees_only_his_own_operations() -> None:
    actions = ["bank:operations:list", "bank:operations:cancel"]
    policy = {"version": "2026-03-24", "public_access": {"default": {"actions": actions}}}
    decided = rules([], bank_policies={"a": policy})
    for action in actions:
        assert decided.decide(unmapped(sender="web:7"), action, A).own_operations


def test_cancelling_is_not_implied_by_retain() -> None:
    decided = rules([allow("bank:retain")])
    assert not decided.decide(ANN, "bank:operations:cancel", A).allowed
    assert not rules([allow("bank:retain")]).decide(ANN, "bank:operations:delete", A).allowed


# tags of what is stored


def test_what_a_principal_stores_is_tagged_with_who_he_is() -> None:
    decided = rules([allow("bank:retain")], channels={("web", "7"): "ann"})
    agent = Circumstances(agent="yoda", sender="web:7")
    assert decided.decide(ANN, "bank:retain", A).auto_tags == ("user:ann",)
    assert decided.decide(BOT, "bank:retain", A).auto_tags == ("user:ann",)
    by_token = Principal("user", "ann", agent, by_token=True)
    assert decided.decide(by_token, "bank:retain", A).auto_tags == ("agent:yoda", "user:ann")


def test_what_a_stranger_or_root_stores_has_no_user() -> None:
    public = {"version": "2026-03-24", "public_access": {"default": {"actions": ["bank:retain"]}}}
    made = world([allow("bank:retain")], bank_policies={"a": public})
    made["attachments"].append(
        {"policy_id": "ann", "principal_type": "user", "principal_id": "root", "priority": 0}
    )
    decided = rules_over(access_data(made))[0]
    stranger = decided.decide(unmapped(agent="yoda"), "bank:retain", A)
    assert stranger.auto_tags == ("agent:yoda",) and stranger.user is None
    root = decided.decide(Principal("user", "root"), "bank:retain", A)
    assert root.auto_tags == () and root.user == "root"


def test_reserved_tags_are_set_by_hand_only_by_those_who_may() -> None:
    plain = rules([allow("bank:retain")])
    assert not plain.decide(ANN, "bank:retain", A).may_reserve
    named = rules([allow("bank:retain"), allow("bank:tags:reserved", banks=("a",))])
    assert named.decide(ANN, "bank:retain", A).may_reserve
    assert not named.decide(ANN, "bank:retain", B).may_reserve
    assert not named.decide(ANN, "bank:tags:list", A).may_reserve
    assert not rules([allow("bank:*", "iam:*")]).decide(ANN, RECALL, A).may_reserve
    assert not rules([allow("bank:*", "iam:*")]).decide(ANN, "iam:users:write", None).may_reserve
    scoped = rules([allow("bank:*")], scope=[allow("bank:retain")])
    assert scoped.decide(ANN, "bank:retain", A).may_reserve
    assert not scoped.decide(BOT, "bank:retain", A).may_reserve
