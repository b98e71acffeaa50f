"""The access directory through its port: all or nothing, one change at a time, nothing left to inherit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from storage_kit import NOW, SECOND, Engine, open_engine

from lorebank.access.builtins import BUILTINS
from lorebank.access.directory import (
    AccessData,
    AccessWriter,
    Attachment,
    Group,
    Key,
    Policy,
    ServiceAccount,
    User,
    nothing_more,
)
from lorebank.access.keys import digest
from lorebank.errors import Conflict, Forbidden, InvalidInput

ANN, BOB = User("ann", "Ann", "ann@example.org"), User("bob", "Bob")
TEAM = Group("team", "The team")
READ = Policy("read", "Read", '{"version": "2026-03-24",  "statements": []}')
ROBOT = ServiceAccount("robot", "ann", "Robot", scoping_policy_id="read")


def key(id: str, owner: str = "ann", kind: str = "user", expires_at: int | None = None) -> Key:
    made = "user" if kind == "user" else "service_account"
    return Key(id, made, owner, digest(id), f"hc_{id}", "for tests", NOW, expires_at)  # type: ignore[arg-type]


def fill(writer: AccessWriter) -> None:
    """One of everything."""
    writer.add_user(ANN, NOW)
    writer.add_user(BOB, NOW)
    writer.add_channel("ann", "telegram", "1:1")
    writer.add_group(TEAM, NOW)
    writer.put_member("team", "ann")
    writer.add_policy(READ, NOW)
    writer.add_service_account(ROBOT, NOW)
    for attachment in (
        Attachment("read", "user", "ann", 3),
        Attachment("bank:readonly", "group", "team"),
        Attachment("read", "service_account", "robot"),
    ):
        writer.put_attachment(attachment)
    writer.add_key(key("k1", expires_at=NOW + SECOND))
    writer.add_key(key("k2", "robot", "service_account"))
    writer.put_bank_policy("hr", '{"a":  1}', NOW)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    with engine.directory.access.change(nothing_more) as writer:
        fill(writer)
    return engine


def without_epoch(data: AccessData) -> tuple[object, ...]:
    return tuple(getattr(data, name) for name in AccessData.__slots__ if name != "epoch")


def test_a_new_directory_holds_the_built_in_policies_and_nothing_else(engine: Engine) -> None:
    data = engine.directory.access.data
    assert dict(data.policies) == dict(BUILTINS) and all(one.is_builtin for one in data.policies.values())
    assert without_epoch(data) == without_epoch(AccessData(0, policies=data.policies))


def test_everything_comes_back_as_it_was_put_in_also_after_a_restart(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    with engine.directory.access.change(nothing_more) as writer:
        fill(writer)
    data = engine.directory.access.data
    assert dict(data.users) == {"ann": ANN, "bob": BOB}
    assert dict(data.channels) == {("telegram", "1:1"): "ann"}
    assert dict(data.groups) == {"team": TEAM} and dict(data.groups_of) == {"ann": ("team",)}
    assert data.policies["read"] == READ and data.policies["read"].text == READ.text
    assert dict(data.service_accounts) == {"robot": ROBOT}
    assert data.attachments[("user", "ann")] == (Attachment("read", "user", "ann", 3),)
    assert data.attachments[("group", "team")] == (Attachment("bank:readonly", "group", "team"),)
    assert data.keys[digest("k1")] == key("k1", expires_at=NOW + SECOND) == data.keys_by_id["k1"]
    assert set(data.keys_by_id) == {"k1", "k2"} and dict(data.bank_policies) == {"hr": '{"a":  1}'}
    engine.directory.close()
    engine = open_engine(tmp_path / "data")
    assert engine.directory.access.data == data
    engine.directory.close()


def test_what_did_not_change_stays_the_same_object(filled: Engine) -> None:
    before = filled.directory.access.data
    with filled.directory.access.change(nothing_more) as writer:
        writer.add_policy(Policy("write", "Write", "{}"), NOW)
        writer.put_policy(Policy("read", "Read it", READ.text), NOW)
        writer.put_user(User("bob", "Robert"), NOW)
    after = filled.directory.access.data
    assert after.users["ann"] is before.users["ann"] and after.users["bob"] == User("bob", "Robert")
    assert after.policies["bank:admin"] is BUILTINS["bank:admin"]
    assert after.attachments is before.attachments and after.keys is before.keys
    assert (before.policies["read"].display_name, "write" in before.policies) == ("Read", False)


def test_the_epoch_rises_with_each_change_and_only_with_one(filled: Engine) -> None:
    access, epoch = filled.directory.access, filled.directory.epoch
    before, at = access.data, epoch.value
    assert before.epoch == at == 1
    with access.change(nothing_more) as writer:
        writer.put_user(ANN, NOW + 1)
        writer.put_member("team", "ann")
        writer.put_attachment(Attachment("read", "user", "ann", 3))
        assert not writer.delete_user("nobody") and not writer.delete_bank_policy("nothing")
        writer.add_user(User("carl", "Carl"), NOW)
        assert writer.data().users["carl"] == User("carl", "Carl")
        assert writer.delete_user("carl")
    assert access.data is before and epoch.value == at
    with access.change(nothing_more) as writer:
        writer.put_user(User("ann", "Ann", is_active=False), NOW)
        writer.delete_channel("ann", "telegram", "1:1")
    assert epoch.value == access.data.epoch == at + 1


def test_the_new_snapshot_is_in_force_before_the_epoch_rises(
    filled: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    access, epoch = filled.directory.access, filled.directory.epoch
    real, seen = epoch.advance, []

    def advance() -> int:
        seen.append("ann" in access.data.users)
        return real()

    monkeypatch.setattr(epoch, "advance", advance)
    with access.change(nothing_more) as writer:
        writer.delete_user("ann")
        assert "ann" in access.data.users and epoch.value == 1
    assert seen == [False] and epoch.value == 2


def test_a_check_sees_both_sides_and_what_it_raises_undoes_everything(filled: Engine) -> None:
    access = filled.directory.access
    before, seen = access.data, []

    def refuse(old: AccessData, new: AccessData) -> None:
        seen.append((old, new))
        raise Forbidden("no")

    with pytest.raises(Forbidden), access.change(refuse) as writer:
        writer.delete_user("ann")
        writer.put_policy(Policy("read", "Read", "{}"), NOW)
    [(old, new)] = seen
    assert old is before and new.epoch == old.epoch + 1
    assert "ann" not in new.users and new.policies["read"].text == "{}"
    assert access.data is before and filled.directory.epoch.value == before.epoch
    with access.change(nothing_more) as writer:
        assert writer.data() is before


def test_a_check_runs_for_a_change_that_changes_nothing_too(filled: Engine) -> None:
    def refuse(old: AccessData, new: AccessData) -> None:
        assert new is old
        raise Forbidden("no")

    with pytest.raises(Forbidden), filled.directory.access.change(refuse) as writer:
        writer.put_member("team", "ann")


def test_an_error_in_the_middle_of_a_change_leaves_nothing(filled: Engine) -> None:
    access = filled.directory.access
    before = access.data
    for error in (Conflict, ZeroDivisionError):
        with pytest.raises(error), access.change(nothing_more) as writer:
            writer.delete_group("team")
            if error is Conflict:
                writer.add_user(ANN, NOW)
            raise ZeroDivisionError
    assert access.data is before


CONFLICTS = {
    "a user twice": lambda w: w.add_user(User("ann", "x"), NOW),
    "an address twice": lambda w: w.add_user(User("carl", "x", ANN.email), NOW),
    "another's address": lambda w: w.put_user(User("bob", "x", ANN.email), NOW),
    "a sender twice": lambda w: w.add_channel("bob", "telegram", "1:1"),
    "a sender of nobody": lambda w: w.add_channel("nobody", "telegram", "2"),
    "a group twice": lambda w: w.add_group(TEAM, NOW),
    "nobody as a member": lambda w: w.put_member("team", "nobody"),
    "a member of nothing": lambda w: w.put_member("nothing", "ann"),
    "a policy twice": lambda w: w.add_policy(READ, NOW),
    "the id of a built-in policy": lambda w: w.add_policy(Policy("bank:admin", "x", "{}"), NOW),
    "a built-in policy changed": lambda w: w.put_policy(Policy("bank:admin", "x", "{}"), NOW),
    "a built-in policy deleted": lambda w: w.delete_policy("bank:admin"),
    "a policy in use deleted": lambda w: w.delete_policy("read"),
    "a policy that is not there": lambda w: w.put_attachment(Attachment("none", "user", "ann")),
    "attached to nobody": lambda w: w.put_attachment(Attachment("read", "user", "nobody")),
    "attached to no group": lambda w: w.put_attachment(Attachment("read", "group", "ann")),
    "attached to no account": lambda w: w.put_attachment(Attachment("read", "service_account", "ann")),
    "an account twice": lambda w: w.add_service_account(ROBOT, NOW),
    "an account of nobody": lambda w: w.add_service_account(ServiceAccount("r2", "nobody", "x"), NOW),
    "an account scoped by nothing": lambda w: w.put_service_account(
        ServiceAccount("robot", "ann", "x", scoping_policy_id="none"), NOW
    ),
    "a key twice": lambda w: w.add_key(key("k1")),
    "a key of nobody": lambda w: w.add_key(key("k3", "nobody")),
    "a user's key for an account": lambda w: w.add_key(key("k3", "robot")),
}


@pytest.mark.parametrize("what", CONFLICTS)
def test_what_contradicts_the_directory_is_a_conflict(filled: Engine, what: str) -> None:
    before = filled.directory.access.data
    with pytest.raises(Conflict) as refused, filled.directory.access.change(nothing_more) as writer:
        CONFLICTS[what](writer)
    assert refused.value.message and "SQL" not in refused.value.message
    assert filled.directory.access.data is before


def test_a_deleted_user_leaves_nothing_that_a_new_one_of_that_name_inherits(filled: Engine) -> None:
    access = filled.directory.access
    with access.change(nothing_more) as writer:
        assert writer.delete_user("ann") and not writer.delete_user("ann")
    with access.change(nothing_more) as writer:
        writer.add_user(ANN, NOW)
        writer.add_service_account(ROBOT, NOW)
    data = access.data
    assert (dict(data.channels), dict(data.groups_of), dict(data.keys)) == ({}, {}, {})
    assert set(data.attachments) == {("group", "team")} and data.service_accounts["robot"] == ROBOT


def test_a_deleted_group_or_account_leaves_nothing_either(filled: Engine) -> None:
    access = filled.directory.access
    with access.change(nothing_more) as writer:
        assert writer.delete_group("team") and writer.delete_service_account("robot")
        assert not writer.delete_group("team") and not writer.delete_service_account("robot")
    with access.change(nothing_more) as writer:
        writer.add_group(TEAM, NOW)
        writer.add_service_account(ROBOT, NOW)
    data = access.data
    assert (dict(data.groups_of), set(data.attachments)) == ({}, {("user", "ann")})
    assert set(data.keys_by_id) == {"k1"}


def test_each_thing_can_be_taken_away_by_itself(filled: Engine) -> None:
    access = filled.directory.access
    with access.change(nothing_more) as writer:
        assert not writer.delete_key("user", "bob", "k1") and not writer.delete_key("user", "robot", "k2")
        assert writer.delete_key("user", "ann", "k1") and not writer.delete_key("user", "ann", "k1")
        assert not writer.delete_channel("bob", "telegram", "1:1")
        assert writer.delete_channel("ann", "telegram", "1:1")
        assert writer.delete_member("team", "ann") and not writer.delete_member("team", "ann")
        for type, id in (("user", "ann"), ("service_account", "robot")):
            assert writer.delete_attachment("read", type, id)  # type: ignore[arg-type]
        assert not writer.delete_attachment("read", "user", "ann")
        with pytest.raises(Conflict, match="1 service accounts"):
            writer.delete_policy("read")
        writer.put_service_account(ServiceAccount("robot", "bob", "R", is_active=False), NOW)
        assert writer.delete_policy("read") and not writer.delete_policy("read")
        assert writer.delete_bank_policy("hr")
    data = access.data
    assert set(data.keys_by_id) == {"k2"} and (dict(data.bank_policies), dict(data.channels)) == ({}, {})
    # An account never changes hands.
    assert data.service_accounts["robot"] == ServiceAccount("robot", "ann", "R", is_active=False)


def test_ids_are_any_text(engine: Engine) -> None:
    odd = ["sa:x", "_unmapped", "a/b %'", "É", "e\u0301", "A", "a"]
    with engine.directory.access.change(nothing_more) as writer:
        for id in odd:
            writer.add_user(User(id, id), NOW)
    assert set(engine.directory.access.data.users) == set(odd)
    for user in (User("\ud800", "x"), User("x", "x", is_active=1 << 70)):  # type: ignore[arg-type]
        with pytest.raises(InvalidInput), engine.directory.access.change(nothing_more) as writer:
            writer.add_user(user, NOW)


def test_changes_from_many_threads_happen_one_after_the_other(engine: Engine) -> None:
    access, steps = engine.directory.access, []

    def check(before: AccessData, after: AccessData) -> None:
        steps.append((before.epoch, after.epoch, len(after.users) - len(before.users)))

    def work(thread: int) -> None:
        for i in range(10):
            with access.change(check) as writer:
                writer.add_user(User(f"u{thread}-{i}", "x"), NOW)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert steps == [(n, n + 1, 1) for n in range(40)]
    assert engine.directory.epoch.value == access.data.epoch == 40 == len(access.data.users)


def test_a_token_id_is_good_for_one_request_and_its_repeats(engine: Engine) -> None:
    claim = engine.directory.access.claim_token
    until = NOW + 60 * SECOND
    assert claim("t", "one", until, NOW) and claim("t", "one", until, NOW + SECOND)
    assert not claim("t", "two", until, NOW + SECOND) and claim("other", "two", until, NOW)
    assert claim("t", "two", until + 60 * SECOND, until)
    assert not claim("t", "one", until, until)


def test_of_two_requests_with_one_token_at_once_one_is_the_first(engine: Engine) -> None:
    claim, start = engine.directory.access.claim_token, threading.Barrier(8)

    def one(n: int) -> bool:
        start.wait()
        return claim("t", f"request {n}", NOW + SECOND, NOW)

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(8))) == [False] * 7 + [True]


def test_claims_and_uses_survive_a_restart(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    with engine.directory.access.change(nothing_more) as writer:
        fill(writer)
    epoch = engine.directory.epoch.value
    access = engine.directory.access
    access.claim_token("t", "one", NOW + SECOND, NOW)
    for id, at in (("k1", NOW), ("k1", NOW + 5), ("k1", NOW + 2), ("k2", NOW), ("gone", NOW)):
        access.note_use(id, at)
    assert dict(access.last_uses()) == {"k1": NOW + 5, "k2": NOW, "gone": NOW}
    assert engine.directory.epoch.value == epoch
    engine.directory.close()
    engine = open_engine(tmp_path / "data")
    assert dict(engine.directory.access.last_uses()) == {"k1": NOW + 5, "k2": NOW}
    assert not engine.directory.access.claim_token("t", "two", NOW + SECOND, NOW)
    engine.directory.close()
