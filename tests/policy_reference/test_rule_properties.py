"""What must hold for every set of policies, whatever it says."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_evaluator import Request, World
from random_worlds import ACCOUNTS, ACTIONS, BANKS, TAG_GROUPS, USERS, request, world
from raw_world import access_data, principal_of, rules_over

from lorebank.access.actions import ACTIONS as ALL
from lorebank.access.actions import AUDIENCE_ONLY, LIST_BANKS, SHOWS_BANK
from lorebank.access.policy.values import BUDGETS
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision
from lorebank.access.rules import PolicyRules
from lorebank.ids import BankId

SEEDS = st.integers(0, 2**40)
ALL_ACTIONS = frozenset(ALL) - AUDIENCE_ONLY
"""What policies can name."""
EXAMPLES = settings(max_examples=60)


def rules_of(made: World) -> PolicyRules:
    """The real rules over a world."""
    return rules_over(access_data(made))[0]


def asked_of(rules: PolicyRules, question: Request) -> Decision:
    """The decision on a request."""
    bank = None if question["bank"] is None else BankId(question["bank"])
    return rules.decide(principal_of(question), question["action"], bank)


def questions(seed: int, count: int = 25) -> Iterator[Request]:
    """Requests of that seed."""
    rng = random.Random(~seed)
    return (request(rng) for _ in range(count))


def with_statement(seed: int, made: World, statement: dict[str, Any]) -> World:
    """The world with one statement more, somewhere in one of its policies."""
    grown, rng = copy.deepcopy(made), random.Random(seed)
    statements = grown["policies"][rng.choice(sorted(grown["policies"]))]["statements"]
    statements.insert(rng.randint(0, len(statements)), statement)
    return grown


def no_wider(narrow: Decision, wide: Decision) -> bool:
    """Whether the first lets its holder do no more than the second; names of models and strategies are
    neither wider nor narrower."""
    if not narrow.allowed:
        return True
    less, more = narrow.parameters, wide.parameters
    return (
        wide.allowed
        and narrow.own_operations >= wide.own_operations
        and narrow.may_reserve <= wide.may_reserve
        and set(narrow.auto_tags) >= set(wide.auto_tags)
        and _at_most(_rank(less.recall_budget), _rank(more.recall_budget))
        and _at_most(less.recall_max_tokens, more.recall_max_tokens)
        and _at_most(_negative(less.retain_every_n_turns), _negative(more.retain_every_n_turns))
        and (more.retain_roles is None or set(less.retain_roles or ()) <= set(more.retain_roles))
        and (more.retain_roles is None or less.retain_roles is not None)
        and set(less.retain_tags or ()) >= set(more.retain_tags or ())
        and set(less.exclude_providers or ()) >= set(more.exclude_providers or ())
        and {repr(one) for one in less.recall_tag_groups or ()}
        >= {repr(one) for one in more.recall_tag_groups or ()}
        and (narrow.filter is not None or wide.filter is None)
    )


def _rank(budget: Any) -> int | None:
    return None if budget is None else BUDGETS.index(budget)


def _negative(value: int | None) -> int | None:
    return None if value is None else -value


def _at_most(less: int | None, more: int | None) -> bool:
    """None sets no bound."""
    return more is None or (less is not None and less <= more)


@EXAMPLES
@given(SEEDS, st.sampled_from(sorted(ALL_ACTIONS)))
def test_a_deny_beats_whatever_allows(seed: int, action: str) -> None:
    made = world(seed)
    made["policies"]["no"] = {
        "version": "2026-03-24",
        "statements": [{"effect": "deny", "actions": [action], "banks": ["*"]}],
    }
    holders = [("user", one) for one in USERS] + [("service_account", one) for one in ACCOUNTS]
    names = ("policy_id", "principal_type", "principal_id", "priority")
    holders.append(("group", "_default"))
    made["attachments"] += [dict(zip(names, ("no", *one, -5), strict=True)) for one in holders]
    rules = rules_of(made)
    for question in questions(seed):
        decision = asked_of(rules, {**question, "action": action})
        everybody = action == "bank:access" or (action == "iam:me:read" and question["kind"] == "user")
        assert decision.allowed == everybody
        if not everybody and action != "iam:me:read":
            assert any(one.startswith("no#") for one in decision.determining)


@EXAMPLES
@given(SEEDS)
def test_an_allow_more_takes_no_allowed_action_away(seed: int) -> None:
    made, rng = world(seed), random.Random(seed)
    statement = {"effect": "allow", "actions": [rng.choice(ACTIONS)], "banks": [rng.choice(("*", *BANKS))]}
    before, after = rules_of(made), rules_of(with_statement(seed, made, statement))
    for question in questions(seed):
        assert asked_of(before, question).allowed <= asked_of(after, question).allowed


@EXAMPLES
@given(SEEDS)
def test_a_deny_more_widens_nothing(seed: int) -> None:
    made, rng = world(seed), random.Random(seed)
    statement = {"effect": "deny", "actions": [rng.choice(ACTIONS)], "banks": [rng.choice(("*", *BANKS))]}
    before, after = rules_of(made), rules_of(with_statement(seed, made, statement))
    for question in questions(seed):
        assert no_wider(asked_of(after, question), asked_of(before, question))


@EXAMPLES
@given(SEEDS)
def test_an_account_is_never_wider_than_its_owner(seed: int) -> None:
    made = world(seed)
    rules = rules_of(made)
    for question in questions(seed, 60):
        for account, one in made["accounts"].items():
            narrow = asked_of(rules, {**question, "kind": "service_account", "id": account})
            wide = asked_of(rules, {**question, "kind": "user", "id": one["owner"]})
            assert no_wider(narrow, wide), (question, narrow, wide)


@EXAMPLES
@given(SEEDS)
def test_a_bank_is_listed_exactly_for_those_who_may_do_something_there(seed: int) -> None:
    made = world(seed)
    rules, silent = rules_of(made), rules_of({**made, "bank_policies": {}})
    for question in questions(seed, 8):
        principal = principal_of(question)
        for name in BANKS:
            bank = BankId(name)
            opened = any(rules.decide(principal, action, bank).allowed for action in SHOWS_BANK)
            # Hidden by a statement of a policy; a public override that does not list it hides nothing.
            hidden = silent.said(silent.view(), principal, LIST_BANKS, name).denied
            assert rules.shows(principal, bank) == (opened and not hidden)


@EXAMPLES
@given(SEEDS)
def test_a_remembered_decision_is_the_decision(seed: int) -> None:
    """A snapshot that follows another decides as one that is read afresh."""
    made, other = world(seed), world(seed + 1)
    rules, store = rules_over(access_data(made))
    wanted = list(questions(seed))
    first = [asked_of(rules, question) for question in wanted]
    store.data = access_data(other)
    assert [asked_of(rules, question) for question in wanted] == [
        asked_of(rules_of(other), question) for question in wanted
    ]
    store.data = access_data(made)
    assert [asked_of(rules, question) for question in wanted] == first


@EXAMPLES
@given(SEEDS, st.sampled_from(TAG_GROUPS))
def test_whoever_recalls_through_a_filter_does_nothing_on_the_bank_without_it(
    seed: int, group: dict[str, Any]
) -> None:
    filtered = {"effect": "allow", "actions": ["bank:recall"], "banks": ["*"], "recall_tag_groups": [group]}
    made = world(seed)
    for document in made["policies"].values():
        document["statements"].append(filtered)
    rules = rules_of(made)
    for question in questions(seed):
        decision = asked_of(rules, question)
        reached = rules.view().layers(principal_of(question))[0].attached
        if decision.allowed and reached and question["action"].startswith("bank:"):
            assert decision.filter is not None
            assert group in [_plain(one) for one in decision.parameters.recall_tag_groups or ()]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {key: _plain(one) for key, one in value.items()} if hasattr(value, "items") else value


def test_the_local_owner_may_do_everything_that_there_is() -> None:
    rules, local = rules_of(world(1)), Principal("local", "owner")
    assert all(rules.decide(local, action, BankId("a")).allowed for action in ALL_ACTIONS)
    assert rules.decide(local, "bank:retain", BankId("a")).may_reserve
    assert rules.shows(local, BankId("a"))
    assert rules.decide(local, "bank:fly", None).failure
