"""The rules around the policies: who is still somebody, what fails closed, what is remembered."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from raw_world import Held, access_data, rules_over
from small_world import ANN, BOT, A, B, allow, deny, rules, unmapped, world

from lorebank.access.actions import ACTIONS, AUDIENCE_ONLY, RECALL
from lorebank.access.directory import AccessData, Policy
from lorebank.access.keys import stored_key
from lorebank.access.policy.document import parse_policy
from lorebank.access.policy.values import PolicyDocument
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.resolve import Decision
from lorebank.access.rules import PolicyRules
from lorebank.errors import InvalidInput
from lorebank.ids import BankId

NOW = 1_000_000
SECRET = "hc_u_ann_0123456789abcdef0123456789abcdef"


def failing(decision: Decision) -> bool:
    """Denied because nothing could be decided."""
    return decision.failure and not decision.allowed and not decision.credential_gone


# who is still somebody


@pytest.fixture
def changing() -> tuple[PolicyRules, Held]:
    """ann with a key that expires, who may recall; at a fixed time."""
    key = stored_key(SECRET, "user", "ann", 0, key_id="k1", expires_at=NOW + 1)
    data = access_data(world([allow("bank:recall")], channels={("web", "7"): "ann"}), keys=(key,))
    return rules_over(data, now=lambda: NOW)


def change(store: Held, **fields: Any) -> None:
    """Another snapshot in force."""
    store.data = replace(store.data, epoch=store.data.epoch + 1, **fields)


def gone(decision: Decision) -> bool:
    """Refused because the caller is nobody any more."""
    return decision.credential_gone and not decision.allowed and not decision.failure


def test_a_user_that_was_disabled_or_deleted_is_nobody(changing: tuple[PolicyRules, Held]) -> None:
    decided, store = changing
    ann = store.data.users["ann"]
    assert decided.decide(ANN, RECALL, A).allowed and decided.shows(ANN, A)
    for users in ({**store.data.users, "ann": replace(ann, is_active=False)}, {}):
        change(store, users=users)
        for principal in (ANN, BOT):
            assert gone(decided.decide(principal, RECALL, A))
            assert gone(decided.decide(principal, "bank:access", None))
            assert not decided.shows(principal, A)
    change(store, users={"ann": ann})
    assert decided.decide(ANN, RECALL, A).allowed and decided.decide(BOT, RECALL, A).allowed


def test_an_account_that_was_disabled_or_deleted_is_nobody(changing: tuple[PolicyRules, Held]) -> None:
    decided, store = changing
    bot = store.data.service_accounts["bot"]
    assert decided.decide(BOT, RECALL, A).allowed
    for accounts in ({"bot": replace(bot, is_active=False)}, {}):
        change(store, service_accounts=accounts)
        assert gone(decided.decide(BOT, RECALL, A)) and decided.decide(ANN, RECALL, A).allowed


def test_a_revoked_key_does_not_serve_a_request_in_flight(changing: tuple[PolicyRules, Held]) -> None:
    decided, store = changing
    with_key = replace(ANN, credential="k1")
    assert decided.decide(with_key, RECALL, A).allowed
    keys = store.data.keys_by_id
    other = replace(keys["k1"], owner_id="ben")
    for left in ({}, {"k1": other}, {"k1": replace(keys["k1"], kind="service_account")}):
        change(store, keys_by_id=left)
        assert gone(decided.decide(with_key, RECALL, A)) and not decided.shows(with_key, A)
        assert decided.decide(ANN, RECALL, A).allowed


def test_a_key_expires_while_its_decisions_are_remembered() -> None:
    key = stored_key(SECRET, "user", "ann", 0, key_id="k1", expires_at=NOW + 1)
    clock = [NOW]
    decided, _ = rules_over(access_data(world([allow("bank:recall")]), keys=(key,)), now=lambda: clock[0])
    with_key = replace(ANN, credential="k1")
    assert decided.decide(with_key, RECALL, A).allowed
    clock[0] = NOW + 1
    assert gone(decided.decide(with_key, RECALL, A))
    assert decided.decide(with_key, RECALL, A).reason == "the key has expired"


def test_a_sender_whose_mapping_was_removed_is_not_the_user_any_more(
    changing: tuple[PolicyRules, Held],
) -> None:
    decided, store = changing
    by_token = Principal("user", "ann", Circumstances(sender="web:7"), by_token=True)
    assert decided.decide(by_token, RECALL, A).allowed
    for channels in ({}, {("web", "7"): "ben"}):
        change(store, channels=channels)
        assert gone(decided.decide(by_token, RECALL, A))


# what fails closed


@pytest.mark.parametrize("action", ["", "bank:fly", "*", "bank:*", "bank:recall ", "iam:users:read\n"])
def test_an_action_that_does_not_exist_fails_for_everybody(action: str) -> None:
    decided = rules([allow("bank:*", "iam:*")])
    for principal in (ANN, BOT, unmapped(), Principal("local", "owner")):
        assert failing(decided.decide(principal, action, A))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "null",
        '{"version": "2026-03-24"}',
        '{"version": "1", "statements": []}',
        '{"version": "2026-03-24", "statements": [{"effect": "allow", "actions": ["s3cret"], "banks": []}]}',
        "[" * 100_000,
    ],
)
def test_a_broken_policy_denies_all_whom_it_reaches_and_is_not_quoted(text: str) -> None:
    data = access_data(world([allow("bank:recall")], scope=[allow("bank:*")]))
    broken = Policy("scope", "scope", text)
    decided, store = rules_over(replace(data, policies={**data.policies, "scope": broken}))
    refused = decided.decide(BOT, RECALL, A)
    assert failing(refused) and refused.reason == "the policy 'scope' cannot be read"
    assert not decided.shows(BOT, A)
    assert decided.decide(ANN, RECALL, A).allowed
    store.data = replace(data, policies={**data.policies, "ann": broken})
    assert failing(decided.decide(ANN, RECALL, A)) and failing(decided.decide(BOT, RECALL, A))


def test_a_missing_scoping_policy_denies() -> None:
    data = access_data(world([allow("bank:*", "iam:*")], scope=[]))
    decided, _ = rules_over(replace(data, policies={"ann": data.policies["ann"]}))
    for action, bank in ((RECALL, A), ("iam:users:read", None)):
        assert failing(decided.decide(BOT, action, bank)) and decided.decide(ANN, action, bank).allowed
    assert not decided.shows(BOT, A)


def test_a_broken_bank_policy_denies_what_depends_on_it_only() -> None:
    data = access_data(world([allow("bank:*")]))
    decided, _ = rules_over(replace(data, bank_policies={"a": '{"version": "s3cret"}'}))
    assert failing(decided.decide(unmapped(), RECALL, A)) and not decided.shows(unmapped(), A)
    assert failing(decided.decide(ANN, "bank:retain", A))
    assert "s3cret" not in decided.decide(ANN, "bank:retain", A).reason
    assert decided.decide(ANN, RECALL, A).allowed and decided.decide(ANN, "bank:retain", B).allowed


def test_what_cannot_be_applied_denies_without_quoting_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(groups: object) -> None:
        raise InvalidInput("s3cret")

    monkeypatch.setattr("lorebank.access.rules.tag_filter", fail)
    refused = rules([allow("bank:recall", recall_tag_groups=[{"tags": ["x"]}])]).decide(ANN, RECALL, A)
    assert failing(refused) and refused.reason == "the policies cannot be applied"


def test_a_refusal_says_why() -> None:
    override = {"scope": "provider", "value": "web", "actions": []}
    public = {"version": "2026-03-24", "public_access": {"overrides": [override]}}
    decided = rules([deny("bank:retain")], bank_policies={"a": public})
    assert decided.decide(ANN, RECALL, A).reason == "no allow statement matches"
    assert decided.decide(ANN, "bank:retain", A).reason == "a deny statement matches"
    assert "public access" in decided.decide(unmapped(provider="web"), RECALL, A).reason
    assert decided.decide(unmapped(provider="slack"), RECALL, A).reason == "no allow statement matches"
    assert decided.decide(BOT, "iam:me:read", None).reason == "no user"
    assert decided.decide(ANN, "iam:me:read", None).determining == ("every user",)


def test_control_characters_of_an_id_do_not_reach_a_reason() -> None:
    data = access_data(world([allow("bank:*")]))
    attached = replace(data.attachments[("user", "ann")][0], policy_id="\x1b[31mred\r")
    decided, _ = rules_over(replace(data, attachments={("user", "ann"): (attached,)}))
    reason = decided.decide(ANN, RECALL, A).reason
    assert "red" in reason and reason.isprintable()


# the control plane


def test_gateway_tokens_open_the_control_plane_only_where_the_settings_say_so() -> None:
    data = access_data(
        world([allow("bank:*", "iam:*", "template:*", "knowledge:*")], channels={("web", "7"): "ann"})
    )
    by_token = Principal("user", "ann", Circumstances(sender="web:7"), by_token=True)
    closed, opened = rules_over(data)[0], rules_over(data, token_admin=True)[0]
    for action in ACTIONS.keys() - AUDIENCE_ONLY:
        control = action.startswith(("iam:", "template:", "knowledge:"))
        assert closed.decide(by_token, action, None).allowed == (not control), action
        assert opened.decide(by_token, action, None).allowed
        assert closed.decide(ANN, action, None).allowed


def test_the_server_is_opened_by_a_literal_star_only() -> None:
    by_name = rules([allow("iam:*", banks=("a", "x::*"))])
    assert not by_name.decide(ANN, "iam:users:read", None).allowed
    assert by_name.decide(ANN, "iam:users:read", A).allowed


def test_a_bank_policy_never_opens_the_server() -> None:
    rule = {"actions": ["iam:users:read", "bank:create", "bank:recall"]}
    policy = {"version": "2026-03-24", "public_access": {"default": rule}}
    data = replace(access_data(world([])), bank_policies={"*": json.dumps(policy), "a": json.dumps(policy)})
    decided, _ = rules_over(data, token_admin=True)
    for action in ("iam:users:read", "bank:create", "bank:recall"):
        assert not decided.decide(unmapped(), action, None).allowed
    assert not decided.decide(unmapped(), "iam:users:read", A).allowed
    assert decided.decide(unmapped(), "bank:recall", A).allowed


def test_everybody_asks_for_his_rights_and_every_user_for_his_profile() -> None:
    decided = rules([deny("bank:*", "iam:*")])
    for principal in (ANN, BOT, unmapped()):
        assert decided.decide(principal, "bank:access", A).allowed
        assert decided.decide(principal, "iam:me:read", None).allowed == (principal is ANN)


# lists


def test_a_deny_of_listing_hides_a_bank_that_may_be_recalled() -> None:
    decided = rules([allow("bank:recall"), deny("bank:list", banks=("a",))])
    assert decided.decide(ANN, RECALL, A).allowed
    assert not decided.shows(ANN, A) and decided.shows(ANN, B)


def test_public_access_shows_the_banks_that_it_opens() -> None:
    override = {"scope": "provider", "value": "web", "actions": ["bank:recall"]}
    decided = rules(
        [], bank_policies={"a": {"version": "2026-03-24", "public_access": {"overrides": [override]}}}
    )
    assert decided.shows(unmapped(provider="web"), A)
    assert not decided.shows(unmapped(provider="slack"), A) and not decided.shows(unmapped(provider="web"), B)


# remembering


def test_a_change_holds_from_the_next_decision_on() -> None:
    decided, store = rules_over(access_data(world([allow("bank:recall")])))
    assert decided.decide(ANN, RECALL, A).allowed and decided.shows(ANN, A)
    store.data = access_data(world([deny("bank:recall")]), epoch=2)
    assert not decided.decide(ANN, RECALL, A).allowed and not decided.shows(ANN, A)
    store.data = access_data(world([allow("bank:recall")]), epoch=3)
    assert decided.decide(ANN, RECALL, A).allowed


def test_a_change_of_something_else_keeps_what_was_put_together() -> None:
    decided, store = rules_over(access_data(world([allow("bank:recall")], scope=[allow("bank:*")])))
    before = decided.view().layers(BOT)
    change(store, channels={("web", "7"): "ann"})
    after = decided.view().layers(BOT)
    assert before[0] is after[0] and before[1] is after[1]
    change(
        store, policies={**store.data.policies, "scope": Policy("scope", "", _document(allow("bank:read")))}
    )
    changed = decided.view().layers(BOT)
    assert changed[0] is after[0] and changed[1] is not after[1]
    assert not decided.decide(BOT, RECALL, A).allowed


def test_only_a_policy_that_changed_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def reading(raw: object) -> PolicyDocument:
        read.append(raw)
        return parse_policy(raw)

    monkeypatch.setattr("lorebank.access.assembling.parse_policy", reading)
    decided, store = rules_over(access_data(world([allow("bank:recall")], scope=[allow("bank:*")])))
    assert decided.decide(BOT, RECALL, A).allowed and len(read) == 2
    change(store, policies=dict(store.data.policies))
    assert decided.decide(BOT, RECALL, A).allowed and len(read) == 2
    scope = Policy("scope", "", _document(allow("bank:recall")))
    change(store, policies={**store.data.policies, "scope": scope})
    assert decided.decide(BOT, RECALL, A).allowed and len(read) == 3
    change(store, policies={"ann": store.data.policies["ann"]})
    assert failing(decided.decide(BOT, RECALL, A)) and list(decided.view()._documents) == ["ann"]


def _document(*statements: dict[str, Any]) -> str:
    return json.dumps({"version": "2026-03-24", "statements": statements})


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorebank.access.rules._MAX_CACHED", 50)
    public = {"version": "2026-03-24", "public_access": {"default": {"actions": ["bank:recall"]}}}
    decided = rules([allow("bank:recall", banks=("a",))], bank_policies={"a": public})
    for number in range(500):
        bank = BankId(f"made-up-{number}")
        assert not decided.decide(unmapped(sender=f"web:{number}"), RECALL, bank).allowed
        assert len(decided._state[1]) <= 50
    view = decided.view()
    assert view.bank_policy("a") is not None and view.bank_policy("made-up-1") is None
    assert list(view._bank_policies) == ["a"]


def test_layers_are_dropped_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorebank.access.assembling.MAX_ATTACHED", 20)
    made = world([allow("bank:recall")])
    names = [f"user-{number}" for number in range(60)]
    made["attachments"] += [{**made["attachments"][0], "principal_id": name} for name in names]
    decided = rules_over(access_data(made))[0]
    for name in [*names, *names]:
        assert decided.decide(Principal("user", name), RECALL, A).allowed
        assert len(decided.view()._layers) <= 20


def test_few_of_many_statements_are_told() -> None:
    decided = rules([allow("bank:recall") for _ in range(100)])
    told = decided.decide(ANN, RECALL, A).determining
    assert told[0] == "ann#0" and told[-1] == "and 68 more" and len(told) == 33


def test_threads_never_see_a_decision_of_another_snapshot() -> None:
    """Two snapshots alternate; whoever decides after a change was made gets that change's answer."""
    snapshots = [
        access_data(world([allow("bank:recall")]), epoch=1),
        access_data(world([deny("bank:recall")]), epoch=2),
    ]
    decided, store = rules_over(snapshots[0])
    stop, wrong = threading.Event(), list[str]()

    def read() -> None:
        while not stop.is_set():
            before = store.data
            allowed = decided.decide(ANN, RECALL, A).allowed
            if before is store.data and allowed != (before.epoch == 1):
                wrong.append(f"{allowed} at epoch {before.epoch}")

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(300):
        # A new object each time, so that a reader notices that the snapshot went and came back.
        store.data = replace(snapshots[number % 2])
        expected = number % 2 == 0
        if decided.decide(ANN, RECALL, A).allowed is not expected:
            wrong.append(f"the writer at {number}")
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong


def test_the_snapshot_is_read_with_the_view(changing: tuple[PolicyRules, Held]) -> None:
    decided, store = changing
    empty: AccessData = AccessData(epoch=9)
    store.data = empty
    assert decided.view().data is empty and gone(decided.decide(ANN, RECALL, A))
