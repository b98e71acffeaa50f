"""Lane, pool, fences and staging."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from store_world import World, changes, made_id, owner, page, save, saving, titles, together, world

from lorebank.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LorebankError,
    RevisionConflict,
    StoreUnavailable,
    Unavailable,
)
from lorebank.vaults import reasons
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.store import catalogue, looking
from lorebank.vaults.store.lane import Lane
from lorebank.vaults.store.values import Draft, FileChange, View


def in_threads(*work: Callable[[], object]) -> list[BaseException]:
    """Run them at once; what they raised."""
    raised: list[BaseException] = []

    def run(one: Callable[[], object]) -> None:
        try:
            one()
        except BaseException as exc:
            raised.append(exc)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.statement("1.7.62", "1.9.80")
def test_a_lane_that_stays_taken_is_busy() -> None:
    lane = Lane(patience=0.05)
    with lane.entered(), lane.entered():
        raised = in_threads(lambda: lane.entered().__enter__())
    assert isinstance(raised[0], StoreUnavailable) and raised[0].reason == reasons.BUSY
    lane.close()
    with pytest.raises(Unavailable), lane.entered():
        pytest.fail("somebody came in")


def test_who_waits_for_a_look_takes_the_view_of_one_that_began_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path, watch=False) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        scans: list[str] = []
        real = looking.look

        def counted(*more: Any) -> Any:
            scans.append("one")
            return real(*more)

        with stores.vaults.pool.using(handle.vault) as runtime:
            monkeypatch.setattr(catalogue, "look", counted)
            waiting = [threading.Thread(target=titles, args=(handle,)) for _ in range(6)]
            with runtime.lane.entered():
                for thread in waiting:
                    thread.start()
                time.sleep(0.1)
            for thread in waiting:
                thread.join()
        assert len(scans) == 1
        (stores.private() / "people/p1.md").write_bytes(page(1, "Eva"))
        assert titles(handle) == ["Eva"]


@pytest.mark.statement("1.7.63", "1.7.65")
def test_agents_and_a_person_at_the_same_files_lose_nothing(tmp_path: Path) -> None:
    shared = '{ stores: { team: { label: "Team", agents: ["a", "b"] } } }'
    with world(tmp_path, config=shared) as stores:
        handles = [stores.open(owner(agent)) for agent in ("a", "b")]
        save(handles[0], 1, "begin", path="people/one.md")
        written: set[str] = {"begin"}
        file = stores.private("a") / "people/one.md"

        def agent(place: int) -> None:
            for number in range(8):
                title = f"agent {place} {number}"
                try:
                    save(handles[place], 1, title, path="people/one.md")
                except (RevisionConflict, Unavailable):
                    continue
                written.add(title)

        def person() -> None:
            for number in range(8):
                title = f"person {number}"
                draft = file.with_name(f".{number}.tmp")
                draft.write_bytes(page(1, title))
                draft.replace(file)
                written.add(title)
                time.sleep(0.01)

        assert in_threads(lambda: agent(0), lambda: agent(1), person) == []
        (last,) = titles(handles[0])
        rows = handles[0].history(made_id(1), before=None, limit=100)
        revisions = [row.revision for row in rows if row.revision is not None]
        assert revisions == sorted(revisions, reverse=True) and len(set(revisions)) == len(revisions)
        kept = {_title(handles[0].content_of(row)) for row in rows}
        assert last in written and kept <= written
        # What an agent was told to be saved is in history; of the person's only what nobody looked at in
        # time is missing, because he wrote over it himself.
        assert {title for title in written if title.startswith("agent")} <= kept


def _title(content: bytes | None) -> str:
    assert content is not None
    return next(line[7:].strip('"') for line in content.decode().splitlines() if line.startswith("title: "))


@pytest.mark.statement("1.7.63")
def test_two_agents_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    shared = '{ stores: { team: { label: "Team", agents: ["a", "b"] } } }'
    with world(tmp_path, config=shared) as stores:
        handles = [stores.open(owner(agent)) for agent in ("a", "b")]

        def work(place: int) -> None:
            for number in range(6):
                save(handles[place], 100 * place + number, f"{place} {number}")

        def read() -> None:
            for _ in range(10):
                titles(handles[0])

        assert in_threads(lambda: work(0), lambda: work(1), read) == []
        assert len(titles(handles[0])) == 12
        assert changes(handles[0], 105) == [("save", 1, "b")]
        assert len(list(stores.private("a").rglob("*.md"))) == 12


@pytest.mark.statement("1.7.66")
def test_readers_during_a_publication_see_it_before_or_after_as_a_whole(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    seen: list[list[str]] = []
    waiting: list[threading.Thread] = []

    def look(point: Point) -> None:
        if point is Point.MANIFEST_WRITTEN:
            waiting.append(threading.Thread(target=lambda: seen.append(titles(handle))))
            waiting[0].start()

    with installed(look):
        save(handle, 1, "Ada 2")
    for thread in waiting:
        thread.join()
    assert seen == [["Ada 2"]]


@pytest.mark.statement("1.7.66")
def test_a_reading_that_a_publication_overtakes_is_whole(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    with handle.reading() as view:
        assert in_threads(lambda: save(handle, 2, "Bob")) == []
        assert len(view.entries) == 1
    assert titles(handle) == ["Ada", "Bob"]


@pytest.mark.statement("1.7.67")
def test_stopping_fences_what_is_under_way(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        with pytest.raises(Unavailable), handle.reading():
            stores.vaults.close()
        with pytest.raises(Unavailable):
            titles(handle)
        assert stores.vaults.pool.open_count() == 0


@pytest.mark.statement("1.7.67")
def test_a_fence_ends_what_is_under_way_and_the_next_use_opens_anew(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    plan = saving(2, "Bob")

    def fenced(view: View) -> Draft:
        stores.vaults.fence(handle.vault)
        return plan(view)

    with pytest.raises(Unavailable):
        handle.publish("one", "one", fenced)
    assert titles(handle) == ["Ada"]
    with pytest.raises(Unavailable), handle.reading():
        stores.vaults.fence(handle.vault)
    stores.vaults.fence("nobody")
    assert titles(handle) == ["Ada"]


@pytest.mark.statement("1.7.67")
def test_a_store_that_is_assigned_otherwise_is_lost_to_who_uses_it(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    with pytest.raises(Forbidden), handle.reading():
        stores.configure('{ stores: { team: { label: "Team", agents: ["main"] } } }')
    assert titles(stores.open()) == []


def test_few_stores_are_open_at_once(tmp_path: Path) -> None:
    with world(tmp_path, max_open=2) as stores:
        handles = [stores.open(owner(f"agent{number}")) for number in range(5)]
        for number, handle in enumerate(handles):
            save(handle, number, f"Page {number}")
        assert stores.vaults.pool.open_count() <= 2
        assert [titles(handle) for handle in handles] == [[f"Page {number}"] for number in range(5)]
        with handles[0].reading() as view:
            for handle in handles[1:]:
                titles(handle)
            (entry,) = view.entries.values()
            assert view.read(entry)


def test_the_same_request_gives_the_same_receipt(stores: World) -> None:
    handle = stores.open()
    first = handle.publish("one", "digest", saving(1, "Ada"))
    again = handle.publish("one", "digest", lambda view: pytest.fail("planned again"))
    assert again.replayed and again.publication_id == first.publication_id
    with pytest.raises(Conflict):
        handle.publish("one", "other", saving(1, "Ada"))


def test_a_staged_file_becomes_part_of_the_vault(stores: World) -> None:
    handle = stores.open()
    content = b"evidence " * 1000
    path, sha256, size = handle.stage(iter([content[:10], content[10:]]), size=len(content), sha256=None)
    assert (sha256, size) == (hashlib.sha256(content).hexdigest(), len(content))
    target = f"artifacts/{sha256[:2]}/{sha256}/content"
    change = FileChange(target, staged=path, sha256=sha256, action="retain")
    handle.publish("one", "one", lambda view: Draft((change,), ()))
    assert (stores.private() / target).read_bytes() == content and not path.exists()
    assert titles(handle) == []


@pytest.mark.parametrize("size, sha256", [(3, None), (5, None), (None, "0" * 64)])
def test_a_staged_file_that_is_not_what_was_told_leaves_nothing(
    stores: World, size: int | None, sha256: str | None
) -> None:
    handle = stores.open()
    with pytest.raises(InvalidInput):
        handle.stage(iter([b"four"]), size=size, sha256=sha256)
    assert list((stores.store() / "staging").iterdir()) == []


@pytest.mark.statement("1.3.32")
def test_a_stream_ends_when_the_authority_does(stores: World) -> None:
    handle = stores.open()

    def chunks() -> Iterator[bytes]:
        yield b"a"
        stores.registry.end_invocation("run", 1 << 60)
        yield b"b"

    with pytest.raises(LorebankError):
        handle.stage(chunks(), size=None, sha256=None)
    assert list((stores.store() / "staging").iterdir()) == []


def test_a_staged_file_outlives_the_closing_of_an_idle_store(tmp_path: Path) -> None:
    with world(tmp_path, max_open=1) as stores:
        handle = stores.open()
        path, sha256, _ = handle.stage(iter([b"evidence"]), size=None, sha256=None)
        stores.open(owner("other"))
        titles(handle)
        assert path.exists()
        target = f"artifacts/{sha256[:2]}/{sha256}/content"
        change = FileChange(target, staged=path, sha256=sha256, action="retain")
        handle.publish("one", "one", lambda view: Draft((change,), ()))
    path.parent.joinpath("left").write_bytes(b"x")
    with world(tmp_path) as stores:
        titles(stores.open())
        assert not path.parent.joinpath("left").exists()


@pytest.mark.statement("1.7.66")
def test_what_a_kill_left_is_finished_before_the_first_reading(tmp_path: Path) -> None:
    class Killed(BaseException):
        """The process ends here."""

    def kill(point: Point) -> None:
        if point is Point.FILES_WRITTEN:
            raise Killed

    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        with pytest.raises(Killed), installed(kill):
            save(handle, 1, "Ada 2")
        # Also in the same process: nobody reads before the journal is empty.
        assert titles(handle) == ["Ada 2"]
        with pytest.raises(Killed), installed(kill):
            save(handle, 2, "Bob")
    with world(tmp_path) as stores:
        handle = stores.open()
        assert titles(handle) == ["Ada 2", "Bob"]
        assert changes(handle, 2) == [("save", 1, "main")]


@pytest.mark.statement("1.7.66", "1.9.80")
def test_a_conflicted_publication_blocks_every_reading(tmp_path: Path) -> None:
    class Killed(BaseException):
        """The process ends here."""

    def kill(point: Point) -> None:
        if point is Point.FILE_WRITTEN:
            raise Killed

    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        with pytest.raises(Killed), installed(kill):
            handle.publish("one", "one", together(saving(2, "Bob"), saving(1, "Ada 2")))
        (stores.private() / "people/p1.md").write_bytes(page(1, "Theirs"))
        for _ in range(2):
            with pytest.raises(StoreUnavailable) as said:
                titles(handle)
            assert said.value.reason == reasons.CONFLICTED_PUBLICATION
        with pytest.raises(StoreUnavailable):
            handle.history(made_id(1), before=None, limit=5)
