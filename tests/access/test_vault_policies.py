"""Operators' rights on knowledge: policies name agents as `agent:<id>`, and that is a role."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixed_facts import FixedFacts, Recorded, agent, audience
from lorebank.access.actions import (
    ACTIONS,
    AUDIENCE_ONLY,
    KNOWLEDGE_ADMIN,
    KNOWLEDGE_HOST,
    KNOWLEDGE_READ,
    KNOWLEDGE_RECALL,
    KNOWLEDGE_WRITE,
)
from lorebank.access.builtins import BUILTINS, ROOT_POLICIES
from lorebank.access.directory import Attachment, Policy, nothing_more
from lorebank.access.explaining import explained
from lorebank.access.policy.document import parse_policy
from lorebank.access.policy.explain import Layer, explain
from lorebank.access.policy.match import agent_level, agent_patterns_of, bank_level
from lorebank.access.policy.naming import named_banks
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import VERSION, Attached
from lorebank.access.policy.wider import representatives, wider
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.resolve import Resolver
from lorebank.access.rules import PolicyRules
from lorebank.access.vault_resolve import VaultResolver
from lorebank.errors import InvalidInput
from lorebank.ids import BankId, names_another
from lorebank.storage.sqlite.directory import DataDirectory
from small_directory import NOW, SmallDirectory

ALICE = Principal("user", "alice")
OPERATORS = (KNOWLEDGE_READ, KNOWLEDGE_WRITE, KNOWLEDGE_ADMIN, KNOWLEDGE_HOST)


def statement(actions: list[str], banks: list[str], effect: str = "allow") -> dict[str, Any]:
    return {"effect": effect, "actions": actions, "banks": banks}


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"version": VERSION, "statements": list(statements)}


def rules(*statements: dict[str, Any], **options: Any) -> PolicyRules:
    directory = SmallDirectory()
    directory.put_user("alice")
    directory.put_channel("telegram", "42", "alice")
    policy = Policy("p", "p", json.dumps(document(*statements)))
    held = {("user", "alice"): (Attachment("p", "user", "alice"),)}
    directory.update(policies={"p": policy}, attachments=held)
    return PolicyRules(directory, root="root", now=lambda: NOW, **options)


def allowed(made: PolicyRules, action: str, name: str | None, who: Principal = ALICE) -> bool:
    return made.decide(who, action, None if name is None else BankId(f"agent:{name}")).allowed


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", {"main", "team-a", "team-b", "a::b"}),
        ("agent:*", {"main", "team-a", "team-b", "a::b"}),
        ("agent:team-*", {"team-a", "team-b"}),
        ("agent:team-a", {"team-a"}),
        ("agent:a::*", {"a::b"}),
        ("agent:", set()),
        ("team-a", set()),
        ("agent::*", set()),
        ("Agent:*", set()),
        ("agent*", set()),
    ],
)
def test_a_statement_names_agents_among_its_banks(pattern: str, names: set[str]) -> None:
    made = rules(statement([KNOWLEDGE_READ], [pattern]))
    asked = {"main", "team-a", "team-b", "a::b"}
    assert {name for name in asked if allowed(made, KNOWLEDGE_READ, name)} == names


def test_a_role_on_agents_is_none_on_banks_of_that_name() -> None:
    made = rules(statement(["knowledge:*", "bank:recall"], ["agent:team-*"]))
    assert allowed(made, KNOWLEDGE_ADMIN, "team-a")
    assert not made.decide(ALICE, "bank:recall", BankId("agent:team-a")).allowed
    assert made.decide(ALICE, "bank:recall", BankId("agent:team-*")).allowed


def test_admin_implies_write_and_write_implies_read() -> None:
    for level, held in enumerate((KNOWLEDGE_READ, KNOWLEDGE_WRITE, KNOWLEDGE_ADMIN), start=1):
        made = rules(statement([held], ["agent:main"]))
        said = [allowed(made, one, "main") for one in (KNOWLEDGE_READ, KNOWLEDGE_WRITE, KNOWLEDGE_ADMIN)]
        assert said == [True] * level + [False] * (3 - level)
    assert not allowed(rules(statement([KNOWLEDGE_ADMIN], ["*"])), KNOWLEDGE_HOST, None)


def test_a_deny_takes_agents_out_of_a_role() -> None:
    made = rules(statement(["knowledge:*"], ["*"]), statement([KNOWLEDGE_READ], ["agent:secret-*"], "deny"))
    assert allowed(made, KNOWLEDGE_READ, "main") and not allowed(made, KNOWLEDGE_READ, "secret-1")


def test_the_hosts_report_is_a_right_on_the_server() -> None:
    assert allowed(rules(statement([KNOWLEDGE_HOST], ["*"])), KNOWLEDGE_HOST, None)
    assert not allowed(rules(statement([KNOWLEDGE_HOST], ["agent:*"])), KNOWLEDGE_HOST, None)


@pytest.mark.parametrize("action", sorted(AUDIENCE_ONLY))
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_no_policy_names_what_an_audience_decides(action: str, effect: str) -> None:
    with pytest.raises(InvalidInput, match="audience"):
        parse_policy(document(statement([action], ["*"], effect)))


def test_no_family_opens_what_an_audience_decides() -> None:
    made = rules(statement(["knowledge:*"], ["*"]))
    for who in (ALICE, Principal("local", "local")):
        for action in AUDIENCE_ONLY:
            assert not allowed(made, action, "main", who)
            assert not made.decide(who, action, None).allowed


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_policies_open_nothing_to_an_agent(action: str) -> None:
    made = rules(statement(["bank:*", "iam:*", "template:*", "knowledge:*"], ["*"]))
    who = agent(audience(agent="alice"))
    for name in (None, "alice", "main"):
        assert not allowed(made, action, name, who)
    assert not made.shows(who, BankId("any"))


def test_a_conversation_with_an_operator_in_it_is_no_operators_desk() -> None:
    sender = Principal("user", "alice", Circumstances(sender="telegram:42"), by_token=True)
    for admin in (False, True):
        made = rules(statement(["knowledge:*"], ["*"]), token_admin=admin)
        assert [allowed(made, one, "main", sender) for one in OPERATORS[:3]] == [admin] * 3


def test_an_operator_by_policies_browses() -> None:
    facts = FixedFacts()
    facts.set(operator_read=True)
    made = rules(statement([KNOWLEDGE_READ], ["agent:team-*"]))
    vaults = VaultResolver(facts, Resolver(made, facts.epoch, Recorded()))
    assert vaults.ask_operator(ALICE, KNOWLEDGE_READ, "team-a")[0].agent == "team-a"
    assert [vaults.may(ALICE, KNOWLEDGE_READ, name) for name in ("team-b", "main")] == [True, False]


# explanations


def test_an_explanation_tells_of_agents_what_the_decision_is() -> None:
    made = rules(statement(["knowledge:read"], ["agent:team-*"]))
    yes = explained(made, ALICE, KNOWLEDGE_READ, "agent:team-a")
    no = explained(made, ALICE, KNOWLEDGE_READ, "agent:main")
    assert (yes.outcome, yes.bank) == ("allow", "agent:team-a")
    assert yes.explanation is not None and yes.explanation.statements[0].bank == "agent:team-*"
    assert no.outcome == "deny" and no.explanation is not None
    assert [miss.lacks for miss in no.explanation.near_misses] == ["bank"]


def test_an_explanation_tells_that_an_audience_decides() -> None:
    made = explained(rules(statement(["knowledge:*"], ["*"])), ALICE, KNOWLEDGE_RECALL, "agent:main")
    assert made.outcome == "deny" and made.explanation is None
    assert "audience" in " ".join(made.changes)


# the engine


NAMES = st.text("ab:*", max_size=4)
PATTERNS = st.lists(NAMES.map("agent:{}".format) | NAMES | st.just("*"), min_size=1, max_size=3)
STATEMENTS = st.lists(
    st.builds(
        statement,
        st.lists(
            st.sampled_from([*OPERATORS, "knowledge:*", "bank:recall", "bank:*"]), min_size=1, max_size=2
        ),
        PATTERNS,
        st.sampled_from(["allow", "allow", "deny"]),
    ),
    min_size=1,
    max_size=4,
)


def parsed(statements: list[dict[str, Any]]) -> Any:
    for one in statements:
        one["banks"] = [pattern or "x" for pattern in one["banks"]]
    return parse_policy(document(*statements))


def rights(read: Any) -> PolicySet:
    return PolicySet([Attached("p", "user", 0, read)])


@given(NAMES.map("agent:{}".format), st.text("ab:", min_size=1, max_size=4).map("agent:{}".format))
def test_the_patterns_of_an_agent_are_those_that_match_it(pattern: str, target: str) -> None:
    found = dict(agent_patterns_of(target))
    assert found.get(pattern, 0) == agent_level(pattern, target)
    if not pattern.endswith("*"):
        assert agent_level(pattern, target) == bank_level(pattern, target)


@given(STATEMENTS, st.text("ab:", min_size=1, max_size=4), st.sampled_from([*OPERATORS, "bank:recall"]))
def test_the_set_and_the_explanation_agree_on_agents(
    statements: list[dict[str, Any]], name: str, action: str
) -> None:
    read = parsed(statements)
    verdict = rights(read).evaluate(action, f"agent:{name}")
    told = explain([Layer("p", (Attached("p", "user", 0, read),))], action, f"agent:{name}")
    assert (told.verdict.allowed, told.verdict.denied) == (verdict.allowed, verdict.denied)


@given(STATEMENTS, STATEMENTS, st.text("abc:", min_size=1, max_size=4))
def test_representatives_find_whoever_would_gain_agents(
    mine: list[dict[str, Any]], bound: list[dict[str, Any]], name: str
) -> None:
    one, other = parsed(mine), parsed(bound)
    sets = rights(one), rights(other)
    if wider(sets[0].evaluate, sets[1].evaluate, representatives((one, other))) is None:
        for target in (f"agent:{name}", name, f"agent:{name}*"):
            for action in (*OPERATORS, "bank:recall"):
                if target.endswith("*") and action != "bank:recall":
                    continue
                mays = [held.evaluate(action, target).allowed for held in sets]
                assert not mays[0] or mays[1], (action, target)


def test_a_whole_family_gains_nothing_over_all_that_policies_can_name() -> None:
    family = parse_policy(document(statement(["knowledge:*"], ["*"])))
    listed = parse_policy(document(statement(list(OPERATORS), ["*"])))
    assert wider(rights(family).evaluate, rights(listed).evaluate, representatives((family, listed))) is None


def test_agents_are_not_taken_for_banks_that_may_have_another_name() -> None:
    read = parse_policy(
        document(statement([KNOWLEDGE_READ], ["agent:a"]), statement(["bank:recall"], ["agent:b", "c::*"]))
    )
    assert list(named_banks(read)) == [(1, "agent:b")]


# root


def held(directory: DataDirectory, user: str = "root") -> tuple[str, ...]:
    return tuple(one.policy_id for one in directory.access.data.attachments.get(("user", user), ()))


def as_before(directory: DataDirectory, *taken: str) -> None:
    """The directory as a version before knowledge left it, with what an admin had taken from root."""
    with directory.access.change(nothing_more) as writer:
        for policy in ("knowledge:admin", *taken):
            writer.delete_attachment(policy, "user", "root")
    with sqlite3.connect(directory.path / "registry.sqlite") as db:
        db.execute("DELETE FROM access_meta WHERE name = 'root_knowledge:root'")
    db.close()


def test_the_root_key_administrates_knowledge_at_once(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", None)
        assert held(directory) == ROOT_POLICIES
        made = PolicyRules(directory.access, root="root")
        for action in OPERATORS:
            assert allowed(
                made, action, None if action == KNOWLEDGE_HOST else "main", Principal("user", "root")
            )


def test_a_root_of_the_version_before_gets_the_right_once(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", "given")
        as_before(directory)
        assert held(directory) == ("bank:admin", "iam:admin")
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", "given")
        assert held(directory) == ROOT_POLICIES
        with directory.access.change(nothing_more) as writer:
            writer.delete_attachment("knowledge:admin", "user", "root")
        directory.ensure_root("root", "given")
        assert "knowledge:admin" not in held(directory)


def test_a_root_that_lost_the_control_plane_is_given_no_knowledge(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", "given")
        as_before(directory, "iam:admin")
        directory.ensure_root("root", "given")
        assert held(directory) == ("bank:admin",)


def test_no_user_is_called_like_an_agent() -> None:
    for name in ("agent:main", "agent:", "agent:*"):
        assert "'agent:'" in (names_another(name) or "")
    assert names_another("agent") is None


def test_the_built_in_policies_on_knowledge_say_what_they_open() -> None:
    found = {id: json.loads(one.text) for id, one in BUILTINS.items() if id.startswith("knowledge:")}
    assert {id: one["statements"][0]["actions"] for id, one in found.items()} == {
        "knowledge:admin": ["knowledge:*"],
        "knowledge:host": ["knowledge:host"],
    }
