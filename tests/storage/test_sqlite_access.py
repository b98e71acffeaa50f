"""The access directory in SQLite: old registries, the root user, snapshots, and disks that refuse."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from storage_kit import NOW, Engine, open_engine

from lorebank.access.audit import AuditQuery
from lorebank.access.builtins import BUILTINS, ROOT_POLICIES
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
from lorebank.access.policy.document import parse_policy
from lorebank.errors import Conflict, Corrupt, Unavailable
from lorebank.storage.ports import Page
from lorebank.storage.sqlite.access_data import load_all
from lorebank.storage.sqlite.connect import connect, create_file, transaction
from lorebank.storage.sqlite.directory import DataDirectory
from lorebank.storage.sqlite.migrate import apply


def old_registry(folder: Path, keys: list[tuple[str, str, int]]) -> None:
    """A registry as the version before the access directory left it."""
    folder.mkdir()
    create_file(folder / "registry.sqlite")
    db = connect(folder / "registry.sqlite")
    apply(db, "registry", 1, "0001_first.sql")
    with transaction(db):
        db.execute("INSERT INTO directory (id, uuid, epoch) VALUES (1, 'old', 7)")
        db.executemany("INSERT INTO api_keys (digest, user_id, root) VALUES (?, ?, ?)", keys)
    db.close()
    (folder / "registry.id").write_text("old")


def owner(directory: DataDirectory, key: str) -> str | None:
    found = directory.access.data.keys.get(digest(key))
    return None if found is None else found.owner_id


def attached(data: AccessData, user_id: str) -> tuple[str, ...]:
    return tuple(one.policy_id for one in data.attachments.get(("user", user_id), ()))


def test_keys_of_the_version_before_still_open(tmp_path: Path) -> None:
    data = tmp_path / "data"
    old_registry(data, [(digest("secret"), "admin", 1), (digest("other"), "bob", 0)])
    (data / "root.key").write_text("secret\n")
    with DataDirectory.open(data) as directory:
        assert directory.epoch.value == directory.access.data.epoch == 7
        assert (owner(directory, "secret"), owner(directory, "other")) == ("admin", "bob")
        assert directory.ensure_root("admin", None) is None
        stored = directory.access.data
        assert dict(stored.users) == {"admin": User("admin", "admin"), "bob": User("bob", "bob")}
        assert (attached(stored, "admin"), attached(stored, "bob")) == (ROOT_POLICIES, ())
        assert stored.keys[digest("secret")].id == "admin-root-key" and (data / "root.key").exists()
        assert directory.epoch.value == 8 and directory.check() == []


def test_an_old_registry_without_keys_gets_a_root_user(tmp_path: Path) -> None:
    old_registry(tmp_path / "data", [])
    with DataDirectory.open(tmp_path / "data") as directory:
        made = directory.ensure_root("root", None)
        assert made is not None and owner(directory, made) == "root"


def test_root_gets_its_policies_once_in_its_life(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", "given")
        assert attached(directory.access.data, "root") == ROOT_POLICIES
        with directory.access.change(nothing_more) as writer:
            writer.delete_attachment("bank:admin", "user", "root")
        directory.ensure_root("root", "rotated")
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", None)
        assert attached(directory.access.data, "root") == ("iam:admin", "knowledge:admin")
        with directory.access.change(nothing_more) as writer:
            writer.delete_user("root")
        # A new root user of that name inherits nothing, and is not given it again.
        directory.ensure_root("root", "rotated")
        assert owner(directory, "rotated") == "root" and attached(directory.access.data, "root") == ()
        directory.ensure_root("second", None)
        assert attached(directory.access.data, "second") == ROOT_POLICIES
        assert (
            owner(directory, "rotated") == "second"
            and "root-root-key" not in directory.access.data.keys_by_id
        )


def test_a_disabled_root_user_stays_disabled(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", None)
        with directory.access.change(nothing_more) as writer:
            writer.put_user(User("root", "root", is_active=False), NOW)
        directory.ensure_root("root", "rotated")
        assert not directory.access.data.users["root"].is_active


def test_a_revoked_root_key_is_made_anew_at_the_next_start_only(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        old = directory.ensure_root("root", None)
        with directory.access.change(nothing_more) as writer:
            assert writer.delete_key("user", "root", "root-root-key")
        assert old is not None and owner(directory, old) is None
        new = directory.ensure_root("root", None)
        assert new is not None and new != old and owner(directory, new) == "root"
        assert (tmp_path / "data" / "root.key").read_text().strip() == new


def test_a_root_key_that_is_somebody_elses_is_refused(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        directory.ensure_root("root", "given")
        with directory.access.change(nothing_more) as writer:
            writer.add_user(User("bob", "Bob"), NOW)
            writer.add_key(Key("k", "user", "bob", digest("bobs"), "", None, NOW))
        with pytest.raises(Conflict, match="key"):
            directory.ensure_root("root", "bobs")
        assert (owner(directory, "given"), owner(directory, "bobs")) == ("root", "bob")


def test_what_the_start_changes_is_in_the_audit_log(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        for key in (None, None, "given", "given"):
            directory.ensure_root("root", key)
        rows = directory.audit.rows(AuditQuery(principal="local:server"), Page(9)).rows
        assert [(row.event.operation, row.event.target) for row in rows] == [("ensure_root", "root")] * 2
        assert all("given" not in str(row.event) for row in rows)


def test_built_in_policies_are_readable_and_sorted_among_the_others(tmp_path: Path) -> None:
    assert len(BUILTINS) == 10
    for policy in BUILTINS.values():
        assert [one.effect for one in parse_policy(policy.document).statements] == ["allow"]
    with DataDirectory.open(tmp_path / "data") as directory:
        with directory.access.change(nothing_more) as writer:
            writer.add_policy(Policy("c", "c", "{}"), NOW)
        ids = list(directory.access.data.policies)
        assert ids == sorted(ids) and len(ids) == 11


NAMES = st.sampled_from(["a", "b", "c"])
STEPS = st.one_of(
    st.tuples(st.just("user"), NAMES, st.booleans()),
    st.tuples(st.just("group"), NAMES, st.booleans()),
    st.tuples(st.just("policy"), NAMES, st.booleans()),
    st.tuples(st.just("account"), NAMES, st.booleans()),
    st.tuples(st.just("member"), NAMES, NAMES, st.booleans()),
    st.tuples(st.just("channel"), NAMES, NAMES, st.booleans()),
    st.tuples(st.just("key"), NAMES, st.booleans()),
    st.tuples(st.just("bank"), NAMES, st.booleans()),
    st.tuples(
        st.just("attach"), NAMES, st.sampled_from(["user", "group", "service_account"]), NAMES, st.booleans()
    ),
)


def take(writer: AccessWriter, step: tuple[object, ...]) -> None:
    match step:
        case ("user", str(id), put):
            writer.put_user(User(id, id), NOW) if put else writer.delete_user(id)
        case ("group", str(id), put):
            writer.put_group(Group(id, id), NOW) if put else writer.delete_group(id)
        case ("policy", str(id), put):
            writer.put_policy(Policy(id, id, "{}"), NOW) if put else writer.delete_policy(id)
        case ("account", str(id), put):
            account = ServiceAccount(id, id, id, scoping_policy_id=id)
            writer.put_service_account(account, NOW) if put else writer.delete_service_account(id)
        case ("member", str(group), str(user), put):
            writer.put_member(group, user) if put else writer.delete_member(group, user)
        case ("channel", str(user), str(sender), put):
            writer.add_channel(user, "p", sender) if put else writer.delete_channel(user, "p", sender)
        case ("key", str(id), put):
            key = Key(id, "user", id, id, id, None, NOW)
            writer.add_key(key) if put else writer.delete_key("user", id, id)
        case ("bank", str(id), put):
            writer.put_bank_policy(id, "{}", NOW) if put else writer.delete_bank_policy(id)
        case ("attach", str(policy), str(type), str(id), put):
            attachment = Attachment(policy, type, id)  # type: ignore[arg-type]
            writer.put_attachment(attachment) if put else writer.delete_attachment(policy, type, id)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return open_engine(tmp_path_factory.mktemp("access") / "data")


@settings(max_examples=40, deadline=None)
@given(changes=st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=8))
def test_the_snapshot_is_always_what_the_tables_hold(
    shared: Engine, changes: list[list[tuple[object, ...]]]
) -> None:
    """Only what a change touches is read again; never is too little."""
    access, epoch = shared.directory.access, shared.directory.epoch
    for steps in changes:
        before = access.data
        try:
            with access.change(nothing_more) as writer:
                for step in steps:
                    take(writer, step)
        except Conflict:
            assert access.data is before
        with shared.directory._registry.locked() as db:
            assert load_all(db) == access.data
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert epoch.value == access.data.epoch == before.epoch + (access.data is not before)
    data = access.data
    homes = {"user": data.users, "group": data.groups, "service_account": data.service_accounts}
    assert all(id in homes[type] for type, id in data.attachments)
    assert all(key.owner_id in homes[key.kind] for key in data.keys.values())


def test_a_disk_that_refuses_leaves_the_directory_as_it_was(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        before = directory.access.data
        with directory._registry.locked() as db:
            db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(Unavailable, match="full"), directory.access.change(nothing_more) as writer:
            writer.add_policy(Policy("big", "x", "x" * 1_000_000), NOW)
        assert directory.access.data is before and directory.epoch.value == before.epoch
        with directory._registry.locked() as db:
            db.execute("PRAGMA max_page_count = 1000000")
        with directory.access.change(nothing_more) as writer:
            writer.add_policy(Policy("small", "x", "{}"), NOW)
        assert directory.epoch.value == before.epoch + 1


def test_a_commit_that_was_called_failed_but_happened_is_noticed(tmp_path: Path) -> None:
    with DataDirectory.open(tmp_path / "data") as directory:
        with directory._registry.changing() as db:
            db.execute("INSERT INTO groups VALUES ('g', 'g', 0, 0)")
            db.execute("UPDATE directory SET epoch = epoch + 1")
        with directory.access.change(nothing_more):
            pass
        assert dict(directory.access.data.groups) == {"g": Group("g", "g")}
        assert directory.epoch.value == directory.access.data.epoch == 1


CRASH = """
import os, sys
from pathlib import Path
from lorebank.access.directory import User, nothing_more
from lorebank.storage.sqlite.directory import DataDirectory

directory = DataDirectory.open(Path(sys.argv[1]))
def check(before, after):
    if sys.argv[2] == "check":
        os.kill(os.getpid(), 9)
with directory.access.change(check) as writer:
    writer.add_user(User("u", "u"), 0)
    writer.add_group
    if sys.argv[2] == "change":
        os.kill(os.getpid(), 9)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("moment", ["change", "check", "after"])
def test_a_kill_leaves_a_change_with_its_epoch_or_neither(moment: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path / "data"), moment], check=False)
    assert done.returncode == -9
    with DataDirectory.open(tmp_path / "data") as directory:
        users, epoch = len(directory.access.data.users), directory.epoch.value
        assert (users, epoch) == ((1, 1) if moment == "after" else (0, 0))


def test_a_lost_audit_log_is_reported_and_begun_anew_only_when_told_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with DataDirectory.open(data) as directory:
        directory.ensure_root("root", None)
    (data / "audit.sqlite").rename(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(Corrupt, match=r"audit\.reset"):
            DataDirectory.open(data)
        assert not (data / "audit.sqlite").exists()
    (data / "audit.reset").touch()
    with DataDirectory.open(data) as directory:
        [row] = directory.audit.rows(AuditQuery(), Page(9)).rows
        assert row.event.outcome == "note" and "lost" in row.event.reason
        assert directory.check() == [] and not (data / "audit.reset").exists()
    (tmp_path / "elsewhere").replace(data / "audit.sqlite")
    with pytest.raises(Corrupt, match="do not belong together"):
        DataDirectory.open(data)
    (data / "audit.reset").touch()
    with DataDirectory.open(data) as directory:
        newest, oldest = directory.audit.rows(AuditQuery(), Page(9)).rows
        assert "lost" in newest.event.reason and oldest.event.operation == "ensure_root"
        assert directory.check() == []


def test_an_audit_log_whose_end_is_gone_is_reported_at_every_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with DataDirectory.open(data) as directory:
        directory.ensure_root("root", "one")
        directory.ensure_root("root", "two")
    with sqlite3.connect(data / "audit.sqlite") as db:
        db.execute("DROP TRIGGER events_go_by_age_only")
        db.execute("DELETE FROM events WHERE seq = 2")
    db.close()
    for key in ("two", "three", "four"):
        with DataDirectory.open(data) as directory:
            directory.ensure_root("root", key)
            assert any("cut off" in warning for warning in directory.warnings)
            assert any("audit log: row" in problem for problem in directory.check())


def test_an_audit_log_made_before_its_registry_knew_it_is_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with DataDirectory.open(data) as directory:
        directory.ensure_root("root", None)
        with directory._registry.changing() as db:
            db.execute("DELETE FROM access_meta WHERE name = 'audit'")
    with DataDirectory.open(data) as directory:
        assert directory.audit.head()[0] == 1 and directory.warnings == ()
