"""What the port promises of the knowledge registry."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from lorebank import clock
from lorebank.access.knowledge import ConversationGrant
from lorebank.access.reasons import BUSY
from lorebank.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from lorebank.storage.knowledge_ports import AssignmentRow, ConversationRow, ReviewRow, StoreRow
from lorebank.storage.sqlite.connect import connect, create_file, transaction
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.storage.sqlite.migrate import APPLICATION_IDS, apply, create_schema, known


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SqliteKnowledgeRegistry]:
    opened = SqliteKnowledgeRegistry(tmp_path / "knowledge")
    yield opened
    assert opened.check() == []
    opened.close()


def planned(id: str, **bindings: str | None) -> AssignmentRow:
    named = {key.replace("_", ":"): vault for key, vault in bindings.items()}
    return AssignmentRow(id, "{}", "before", "after", named, "planned", 7, "owner")


def test_a_binding_that_is_taken_gives_its_store_back(registry: SqliteKnowledgeRegistry) -> None:
    first = registry.begin_store("a", "stores/a", "named:personal", 1)
    assert first == StoreRow("a", "stores/a", "creating", "personal", 1)
    assert registry.begin_store("b", "stores/b", "named:personal", 2) == first
    registry.store_ready("a")
    assert [row.state for row in registry.stores()] == ["ready"]
    assert registry.bindings() == {"named:personal": "a"}
    with pytest.raises(NotFound):
        registry.store_ready("b")


def test_many_first_uses_at_once_make_one_store(registry: SqliteKnowledgeRegistry) -> None:
    found: list[str] = []

    def use(i: int) -> None:
        found.append(registry.begin_store(f"v{i}", f"stores/v{i}", "own:main", i).vault)

    threads = [threading.Thread(target=use, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and len(registry.stores()) == 1


def test_an_imported_store_takes_no_id_place_or_name_of_another(registry: SqliteKnowledgeRegistry) -> None:
    registry.begin_store("a", "stores/a", "own:main", 1)
    for row, binding in (
        (StoreRow("a", "stores/x", "ready", None, 1), None),
        (StoreRow("b", "stores/a", "ready", None, 1), None),
        (StoreRow("b", "stores/b", "ready", None, 1), "own:main"),
    ):
        with pytest.raises(Conflict):
            registry.add_store(row, binding)
    assert len(registry.stores()) == 1


def test_1_2_20_an_assignment_is_written_down_and_settled_with_its_bindings(
    registry: SqliteKnowledgeRegistry,
) -> None:
    registry.begin_store("a", "stores/a", "own:main", 1)
    row = planned("1", own_main=None, named_personal="a")
    registry.plan_assignment(row)
    assert registry.open_assignment() == row
    with pytest.raises(Conflict):
        registry.plan_assignment(planned("2"))
    with pytest.raises(StoreUnavailable) as busy:
        registry.begin_store("b", "stores/b", "named:personal", 2)
    assert busy.value.reason == BUSY
    assert registry.begin_store("b", "stores/b", "own:main", 2).vault == "a"
    registry.settle_assignment("1", "done")
    registry.settle_assignment("1", "cancelled")
    assert registry.bindings() == {"named:personal": "a"}
    assert registry.stores()[0].last_name == "personal" and registry.open_assignment() is None
    registry.plan_assignment(planned("2", named_personal=None))
    registry.settle_assignment("2", "cancelled")
    assert registry.bindings() == {"named:personal": "a"}
    assert [(one.id, one.state) for one in registry.assignments(5)] == [("2", "cancelled"), ("1", "done")]
    assert len(registry.assignments(1)) == 1


def test_grants_are_replaced_and_dropped(registry: SqliteKnowledgeRegistry) -> None:
    first = ConversationGrant("main", "k", "read", "o", 1)
    second = ConversationGrant("main", "k", "read-and-save", "p", 2)
    registry.set_grant(first)
    registry.set_grant(second)
    assert registry.grants() == [second]
    assert registry.drop_grant("main", "k") and not registry.drop_grant("main", "k")
    assert registry.grants() == []


def test_a_session_id_that_is_a_uuid_stands_for_itself(registry: SqliteKnowledgeRegistry) -> None:
    one = "33333333-3333-4333-8333-3333333333AB"
    assert registry.session_uuid(one, record=True) == one.lower()
    for text in (one.replace("-", ""), "{" + one + "}", "../../etc", "", "a" * 5000, "x\0y"):
        made = registry.session_uuid(text, record=True)
        assert str(uuid.UUID(made)) == made and made != one.lower()
        assert registry.session_uuid(text, record=False) == made
    with pytest.raises(InvalidInput):
        registry.session_uuid("\ud800", record=True)


def test_session_ids_are_foretold_by_no_other_registry(tmp_path: Path) -> None:
    found = set()
    for name in ("a", "b"):
        registry = SqliteKnowledgeRegistry(tmp_path / name)
        found.add(registry.session_uuid("same", record=True))
        registry.close()
    assert len(found) == 2


def test_agents_that_a_report_leaves_out_are_removed_until_they_are_back(
    registry: SqliteKnowledgeRegistry,
) -> None:
    assert registry.host_agents() == (None, frozenset())
    row = ConversationRow("a", "agent:a:g", "group", "Family", 1)
    registry.report_host(["a", "b"], [row], 1)
    assert registry.host_agents() == (frozenset("ab"), frozenset())
    assert registry.conversations("a") == [row] and registry.conversations("b") == []
    registry.report_host(["b"], [], 2)
    assert registry.host_agents() == (frozenset("b"), frozenset("a"))
    assert registry.conversations("a") == []
    registry.report_host(["a", "b"], [], 3)
    assert registry.host_agents() == (frozenset("ab"), frozenset())


def test_the_end_of_a_run_is_remembered_until_its_tokens_are_gone(registry: SqliteKnowledgeRegistry) -> None:
    now = clock.now()
    registry.end_invocation("old", now - 1)
    registry.end_invocation("run", now + 10**9)
    registry.end_invocation("run", now)
    assert registry.ended_invocations() == {"run"}


def test_listeners_hear_what_changes_and_whether_rights_did(registry: SqliteKnowledgeRegistry) -> None:
    heard: list[bool] = []
    registry.listen(heard.append)
    registry.begin_store("a", "stores/a", "own:main", 1)
    registry.set_grant(ConversationGrant("main", "k", "read", "o", 1))
    registry.drop_grant("main", "nobody's")
    registry.report_host(["main"], [], 1)
    registry.report_host(["main"], [], 2)
    registry.set_value("x", 1)
    assert heard == [False, True, True, False]


def test_values_are_json(registry: SqliteKnowledgeRegistry) -> None:
    assert registry.value("next") is None
    registry.set_value("next", {"at": [1, None, "ü"]})
    registry.set_value("next", {"at": [2]})
    assert registry.value("next") == {"at": [2]}


def test_a_review_is_requested_taken_and_answered_once(registry: SqliteKnowledgeRegistry) -> None:
    row = ReviewRow("r", "job", 3, 1, None, None, None)
    assert registry.add_review(row) and not registry.add_review(row)
    assert registry.reviews(open_only=True) == [row]
    taken = registry.take_review("r", 2)
    assert taken is not None and taken.taken_at == 2
    assert registry.take_review("r", 3) == taken and registry.take_review("other", 3) is None
    answered = registry.answer_review("r", "enqueued", 4)
    assert answered == ReviewRow("r", "job", 3, 1, 2, "enqueued", 4)
    assert registry.answer_review("r", "failed", 5) == answered
    assert registry.answer_review("other", "failed", 5) is None
    assert registry.reviews(open_only=True) == [] and registry.reviews(open_only=False) == [answered]


def test_the_fresh_schema_of_the_registry_equals_the_sum_of_its_migrations(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        create_file(tmp_path / name)
        db = connect(tmp_path / name)
        if name == "a":
            with transaction(db):
                create_schema(db, "knowledge")
            assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_IDS["knowledge"],)
        else:
            for number, file in known("knowledge"):
                apply(db, "knowledge", number, file)
        rows = db.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        found.append([(*row[:2], " ".join(str(row[2]).split())) for row in rows])
        db.close()
    assert found[0] == found[1] and found[0]
