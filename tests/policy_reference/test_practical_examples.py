"""The worked examples of the access texts (seed 001: Access Control, Terraform Provider), value by value.

Where the page's table and its HCL with the Result list disagree, the HCL holds (issue 3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from naive_evaluator import World
from raw_world import access_data, rules_over

from lorebank.access.policy.values import UNSET, Parameters
from lorebank.access.principal import UNMAPPED, Circumstances, Principal
from lorebank.access.resolve import Decision
from lorebank.access.rules import PolicyRules
from lorebank.ids import BankId

CORE = ("bank:recall", "bank:reflect", "bank:retain")


def world(
    policies: dict[str, list[dict[str, Any]]],
    attached: list[tuple[str, str, str, int]],
    members: tuple[tuple[str, str], ...] = (),
    **more: Any,
) -> World:
    """A world from statements by policy id, (policy, type, principal, priority) and (group, user)."""
    documents = {id: {"version": "2026-03-24", "statements": each} for id, each in policies.items()}
    names = ("policy_id", "principal_type", "principal_id", "priority")
    made: World = {
        "policies": documents,
        "attachments": [dict(zip(names, one, strict=True)) for one in attached],
        "members": [{"group_id": group, "user_id": user} for group, user in members],
        "accounts": {},
        "bank_policies": {},
    }
    return made | more


def allow(actions: list[str], banks: list[str], **parameters: Any) -> dict[str, Any]:
    """An allow statement."""
    return {"effect": "allow", "actions": actions, "banks": banks, **parameters}


def deny(actions: list[str], banks: list[str]) -> dict[str, Any]:
    """A deny statement."""
    return {"effect": "deny", "actions": actions, "banks": banks}


def rules_of(made: World) -> PolicyRules:
    """The real rules over the world."""
    return rules_over(access_data(made))[0]


def ask(rules: PolicyRules, who: str, action: str, bank: str, **claims: str) -> Decision:
    """Ask as a user, or as an unmapped sender where `who` is empty."""
    circumstances = Circumstances(**claims)
    kind_id = Principal("user", who, circumstances) if who else Principal("unmapped", UNMAPPED, circumstances)
    return rules.decide(kind_id, f"bank:{action}", BankId(bank))


def allowed(rules: PolicyRules, who: str, bank: str, **claims: str) -> set[str]:
    """Which of recall, reflect and retain are allowed."""
    return {action for action in CORE if ask(rules, who, action[len("bank:") :], bank, **claims).allowed}


# Access Control, Practical example


@pytest.fixture
def fleet() -> PolicyRules:
    """alice and bob in `default`, alice in `executive`, a deny of retain on advisor for each."""
    return rules_of(
        world(
            {
                "default-access": [
                    allow(
                        list(CORE),
                        ["*"],
                        recall_budget="mid",
                        recall_max_tokens=1024,
                        retain_roles=["user", "assistant"],
                    )
                ],
                "executive-upgrade": [
                    allow(["bank:recall"], ["*"], recall_budget="high", recall_max_tokens=2048)
                ],
                "alice-overrides": [deny(["bank:retain"], ["advisor"])],
                "bob-overrides": [deny(["bank:retain"], ["advisor"])],
            },
            [
                ("default-access", "group", "default", 0),
                ("executive-upgrade", "group", "executive", 10),
                ("alice-overrides", "user", "alice", 0),
                ("bob-overrides", "user", "bob", 0),
            ],
            (("default", "alice"), ("executive", "alice"), ("default", "bob")),
        )
    )


MID = Parameters(recall_budget="mid", recall_max_tokens=1024, retain_roles=("assistant", "user"))
HIGH = replace(MID, recall_budget="high", recall_max_tokens=2048)


def test_nobody_of_the_fleet_retains_on_advisor_and_both_do_everything_on_ops_agent(
    fleet: PolicyRules,
) -> None:
    for who in ("alice", "bob"):
        assert allowed(fleet, who, "advisor") == {"bank:recall", "bank:reflect"}
        assert allowed(fleet, who, "ops-agent") == set(CORE)


@pytest.mark.parametrize("bank", ["advisor", "ops-agent"])
def test_alice_recalls_with_the_high_budget_of_her_upgrade(fleet: PolicyRules, bank: str) -> None:
    decision = ask(fleet, "alice", "recall", bank)
    assert decision.parameters == HIGH
    assert decision.filter is None and decision.user == "alice" and decision.auto_tags == ("user:alice",)
    assert decision.determining == ("default-access#0", "executive-upgrade#0")


@pytest.mark.parametrize("bank", ["advisor", "ops-agent"])
def test_bob_recalls_with_the_mid_budget(fleet: PolicyRules, bank: str) -> None:
    decision = ask(fleet, "bob", "recall", bank)
    assert decision.parameters == MID
    assert decision.determining == ("default-access#0",)


def test_the_upgrade_speaks_of_recall_only(fleet: PolicyRules) -> None:
    assert ask(fleet, "alice", "reflect", "advisor").parameters == MID
    assert ask(fleet, "alice", "retain", "ops-agent").parameters == MID


def test_the_deny_is_what_decides_on_retain(fleet: PolicyRules) -> None:
    decision = ask(fleet, "alice", "retain", "advisor")
    assert decision.determining == ("alice-overrides#0",) and decision.parameters == UNSET
    assert not decision.failure and not decision.credential_gone


def test_an_anonymous_sender_of_the_fleet_is_denied_everywhere(fleet: PolicyRules) -> None:
    for bank in ("advisor", "ops-agent"):
        assert allowed(fleet, "", bank, provider="telegram", sender="telegram:333333") == set()


# Terraform Provider, Practical example


@pytest.fixture
def office() -> PolicyRules:
    """alice in executives, bob in staff; a service account of alice without a scope, and one with."""
    executive = allow(
        list(CORE), ["*"], recall_budget="high", recall_max_tokens=2048, retain_roles=["user", "assistant"]
    )
    scope = allow(
        ["bank:recall", "bank:reflect"], ["yoda", "r2d2"], recall_budget="mid", recall_max_tokens=1024
    )
    return rules_of(
        world(
            {
                "executive": [executive],
                "staff-readonly": [
                    allow(["bank:recall", "bank:reflect"], ["*"], recall_budget="low", recall_max_tokens=512)
                ],
                "alice-claude-scope": [scope],
            },
            [("executive", "group", "executives", 0), ("staff-readonly", "group", "staff", 0)],
            (("executives", "alice"), ("staff", "bob")),
            accounts={
                "alice-terraform": {"owner": "alice", "scoping_policy_id": None},
                "alice-claude": {"owner": "alice", "scoping_policy_id": "alice-claude-scope"},
            },
        )
    )


@pytest.mark.parametrize("bank", ["yoda", "r2d2"])
def test_the_office_table_holds(office: PolicyRules, bank: str) -> None:
    assert allowed(office, "alice", bank) == set(CORE)
    assert allowed(office, "bob", bank) == {"bank:recall", "bank:reflect"}
    assert allowed(office, "", bank, provider="telegram") == set()
    for action in CORE:
        assert ask(office, "alice", action[5:], bank).parameters == HIGH
    low = Parameters(recall_budget="low", recall_max_tokens=512)
    for action in ("recall", "reflect"):
        assert ask(office, "bob", action, bank).parameters == low


def test_an_account_without_a_scope_has_its_owners_rights(office: PolicyRules) -> None:
    terraform = Principal("service_account", "alice-terraform")
    for action in CORE:
        decision = office.decide(terraform, action, BankId("yoda"))
        assert decision.allowed and decision.parameters == HIGH and decision.user == "alice"


def test_a_scoped_account_recalls_on_two_banks_with_the_lower_values(office: PolicyRules) -> None:
    claude = Principal("service_account", "alice-claude")
    recall = office.decide(claude, "bank:recall", BankId("r2d2"))
    assert recall.parameters == MID and recall.determining == ("alice-claude-scope#0", "executive#0")
    assert not office.decide(claude, "bank:retain", BankId("r2d2")).allowed
    assert not office.decide(claude, "bank:recall", BankId("c3po")).allowed


def test_staff_is_denied_the_sensitive_bank_alone() -> None:
    reading = ["bank:recall", "bank:reflect"]
    document = [allow(reading, ["*"], recall_budget="low"), deny(list(CORE), ["bb9e"])]
    rules = rules_of(world({"staff": document}, [("staff", "group", "staff", 0)], (("staff", "bob"),)))
    assert allowed(rules, "bob", "bb9e") == set()
    assert ask(rules, "bob", "recall", "bb9e").determining == ("staff#1",)
    assert allowed(rules, "bob", "r2d2") == set(reading)
    assert ask(rules, "bob", "recall", "r2d2").parameters == Parameters(recall_budget="low")
    for implied in ("memories:list", "documents:get", "graph", "operations:list"):
        assert not ask(rules, "bob", implied, "bb9e").allowed


def test_an_explicit_empty_list_of_roles_means_none() -> None:
    statement = allow(["bank:recall", "bank:retain"], ["*"], recall_budget="low", retain_roles=[])
    rules = rules_of(world({"staff": [statement]}, [("staff", "user", "bob", 0)]))
    assert ask(rules, "bob", "retain", "r2d2").parameters == Parameters(recall_budget="low", retain_roles=())


def test_the_advisor_reads_two_banks_and_never_writes_to_hr() -> None:
    reading = allow(
        ["bank:recall", "bank:reflect"],
        ["strategy", "finance"],
        recall_budget="high",
        recall_max_tokens=2048,
    )
    policies = {"advisor": [reading, deny(["bank:retain"], ["hr"])], "all": [allow(list(CORE), ["*"])]}
    alone = rules_of(world(policies, [("advisor", "user", "ada", 0)]))
    for bank in ("strategy", "finance"):
        assert allowed(alone, "ada", bank) == {"bank:recall", "bank:reflect"}
        recall = ask(alone, "ada", "recall", bank)
        assert recall.parameters == Parameters(recall_budget="high", recall_max_tokens=2048)
    assert allowed(alone, "ada", "hr") == set()
    wide = rules_of(world(policies, [("advisor", "user", "ada", 0), ("all", "user", "ada", 99)]))
    assert allowed(wide, "ada", "hr") == {"bank:recall", "bank:reflect"}


# the reference page: `resources` for `banks`, policies attached to service accounts


def test_the_reference_pages_spelling_is_understood() -> None:
    def says(effect: str, *actions: str) -> dict[str, Any]:
        return {"effect": effect, "actions": [*actions], "resources": ["*"]}

    policies = {
        "exec-memory": [says("allow", "bank:recall", "bank:retain")],
        "staff-readonly": [says("allow", "bank:recall"), says("deny", "bank:retain")],
    }
    attached = [("exec-memory", "group", "executives", 0), ("staff-readonly", "group", "staff", 0)]
    members = (("executives", "alice"), ("staff", "bob"), ("executives", "carol"), ("staff", "carol"))
    rules = rules_of(world(policies, attached, members))
    assert allowed(rules, "alice", "r2d2") == {"bank:recall", "bank:retain"}
    assert allowed(rules, "bob", "r2d2") == {"bank:recall"}
    assert allowed(rules, "carol", "r2d2") == {"bank:recall"}


def test_a_policy_attached_to_an_account_narrows_it() -> None:
    made = world(
        {"everything": [allow(["bank:*", "iam:*"], ["*"])], "iam-admin": [allow(["iam:*"], ["*"])]},
        [("everything", "user", "alice", 0), ("iam-admin", "service_account", "terraform-admin", 0)],
        accounts={"terraform-admin": {"owner": "alice", "scoping_policy_id": None}},
    )
    terraform = Principal("service_account", "terraform-admin")
    rules = rules_of(made)
    assert rules.decide(terraform, "iam:users:write", None).allowed
    assert not rules.decide(terraform, "bank:recall", BankId("yoda")).allowed
    poor = rules_of(made | {"policies": made["policies"] | {"everything": made["policies"]["iam-admin"]}})
    assert poor.decide(terraform, "iam:users:write", None).allowed
    none = rules_of(made | {"attachments": made["attachments"][1:], "users": ["alice"]})
    assert not none.decide(terraform, "iam:users:write", None).allowed


# bank policies: strategies and public access


def public(bank: str, document: dict[str, Any]) -> World:
    """A world in which only the bank's policy speaks."""
    return world({}, [], bank_policies={bank: {"version": "2026-03-24", **document}})


ADVISOR = {
    "default_strategy": "advisor-default",
    "strategy_overrides": [
        {"scope": "channel", "value": "telegram", "strategy": "advisor-telegram"},
        {"scope": "topic", "value": "99001", "strategy": "advisor-project-alpha"},
    ],
    "public_access": {
        "default": None,
        "overrides": [
            {
                "scope": "provider",
                "value": "web",
                "actions": ["bank:recall", "bank:reflect"],
                "recall_budget": "low",
                "recall_max_tokens": 512,
            }
        ],
    },
}


def test_web_visitors_recall_and_reflect_on_advisor_with_little() -> None:
    rules = rules_of(public("advisor", ADVISOR))
    assert allowed(rules, "", "advisor", provider="web") == {"bank:recall", "bank:reflect"}
    recall = ask(rules, "", "recall", "advisor", provider="web")
    assert recall.parameters == Parameters(recall_budget="low", recall_max_tokens=512)
    assert recall.user is None and recall.auto_tags == () and recall.filter is None
    assert not ask(rules, "", "memories:list", "advisor", provider="web").allowed
    assert allowed(rules, "", "advisor", provider="telegram") == set()
    assert allowed(rules, "", "advisor") == set()
    assert allowed(rules, "", "other-bank", provider="web") == set()


def test_the_part_of_the_sender_before_the_colon_is_the_provider_where_none_is_claimed() -> None:
    rules = rules_of(public("advisor", ADVISOR))
    assert ask(rules, "", "recall", "advisor", sender="web:visitor:7").allowed
    assert not ask(rules, "", "recall", "advisor", sender="web:visitor", provider="slack").allowed


def test_a_default_rule_opens_the_bank_to_every_unmapped_sender() -> None:
    rule = {"actions": ["bank:recall"], "recall_budget": "low", "recall_max_tokens": 256}
    rules = rules_of(public("faq", {"public_access": {"default": rule}}))
    for claims in ({}, {"provider": "web"}, {"channel": "telegram", "topic": "5"}):
        assert allowed(rules, "", "faq", **claims) == {"bank:recall"}
        recall = ask(rules, "", "recall", "faq", **claims)
        assert recall.parameters == Parameters(recall_budget="low", recall_max_tokens=256)


def test_telegram_senders_recall_and_reflect_on_kb_agent() -> None:
    override = {
        "scope": "provider",
        "value": "telegram",
        "actions": ["bank:recall", "bank:reflect"],
        "recall_budget": "low",
        "recall_max_tokens": 256,
    }
    document = {"default_strategy": "kb-default", "public_access": {"overrides": [override]}}
    rules = rules_of(public("kb-agent", document))
    assert allowed(rules, "", "kb-agent", provider="telegram") == {"bank:recall", "bank:reflect"}
    reflect = ask(rules, "", "reflect", "kb-agent", provider="telegram")
    assert reflect.parameters == Parameters(recall_budget="low", recall_max_tokens=256)
    assert allowed(rules, "", "kb-agent", provider="slack") == set()


def test_an_override_that_does_not_list_the_action_denies_what_the_default_rule_allows() -> None:
    access = {
        "default": {"actions": ["bank:recall", "bank:reflect"]},
        "overrides": [
            {"scope": "provider", "value": "web", "actions": ["bank:recall"]},
            {"scope": "channel", "value": "c1", "actions": ["bank:reflect"]},
            {"scope": "topic", "value": "t1", "actions": []},
        ],
    }
    rules = rules_of(public("faq", {"public_access": access}))
    assert allowed(rules, "", "faq") == {"bank:recall", "bank:reflect"}
    assert allowed(rules, "", "faq", provider="web") == {"bank:recall"}
    assert allowed(rules, "", "faq", provider="web", channel="c1") == {"bank:reflect"}
    assert allowed(rules, "", "faq", provider="web", channel="c1", topic="t1") == set()


def test_the_default_group_adds_to_public_access_and_its_deny_closes_it() -> None:
    made = public("advisor", ADVISOR)
    opened = world(
        {"visitors": [allow(["bank:recall"], ["*"], recall_budget="mid"), deny(["bank:reflect"], ["*"])]},
        [("visitors", "group", "_default", 0)],
        bank_policies=made["bank_policies"],
        users=["carol"],
    )
    rules = rules_of(opened)
    assert allowed(rules, "", "advisor", provider="web") == {"bank:recall"}
    recall = ask(rules, "", "recall", "advisor", provider="web")
    assert recall.parameters == Parameters(recall_budget="mid", recall_max_tokens=512)
    assert allowed(rules, "", "elsewhere") == {"bank:recall"}
    assert allowed(rules, "carol", "elsewhere") == set()


@pytest.mark.parametrize(
    ("claims", "strategy"),
    [
        ({"channel": "telegram"}, "advisor-telegram"),
        ({"channel": "telegram", "topic": "99001"}, "advisor-project-alpha"),
        ({"topic": "99001"}, "advisor-project-alpha"),
        ({"channel": "slack", "topic": "1"}, "advisor-default"),
        ({"provider": "telegram"}, "advisor-default"),
        ({}, "advisor-default"),
    ],
)
def test_the_retain_strategy_follows_the_conversation(claims: dict[str, str], strategy: str) -> None:
    grants = {"p": [allow(["bank:retain", "bank:recall"], ["*"])]}
    rules = rules_of(world(grants, [("p", "user", "alice", 0)], **_advisor_policy()))
    assert ask(rules, "alice", "retain", "advisor", **claims).parameters.retain_strategy == strategy
    assert ask(rules, "alice", "retain", "other", **claims).parameters.retain_strategy is None
    assert ask(rules, "alice", "recall", "advisor", **claims).parameters.retain_strategy is None


def test_a_principals_own_strategy_beats_the_banks_and_the_users_beats_the_groups() -> None:
    policies = {
        "mine": [allow(["bank:retain"], ["*"], retain_strategy="by-user")],
        "ours": [allow(["bank:retain"], ["advisor"], retain_strategy="by-group")],
    }
    group = ("ours", "group", "g", 100)
    both = rules_of(
        world(policies, [("mine", "user", "alice", 0), group], (("g", "alice"),), **_advisor_policy())
    )
    assert ask(both, "alice", "retain", "advisor", topic="99001").parameters.retain_strategy == "by-user"
    one = rules_of(world(policies, [group], (("g", "alice"),), **_advisor_policy()))
    assert ask(one, "alice", "retain", "advisor", topic="99001").parameters.retain_strategy == "by-group"


def _advisor_policy() -> dict[str, Any]:
    return {"bank_policies": public("advisor", ADVISOR)["bank_policies"]}
