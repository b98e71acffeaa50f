"""Evidence that takes long to check, and records that take long to write: nobody else of the store waits."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lorebank import clock
from lorebank.errors import InvalidInput, NotFound, Unavailable
from lorebank.vaults.evidence.scan import Scan
from lorebank.vaults.record.once import made_before, once, remembering
from lorebank.vaults.store.handle import PartitionHandle
from lorebank.vaults.store.lane import Lane
from lorebank.vaults.store.values import View
from lorebank.vaults.tools import attach_file, cited, common, save_claim
from lorebank.vaults.tools.attach_file import AttachAsk
from lorebank.vaults.tools.cited import Cited
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.save_claim import SaveClaim
from vault_store.store_world import World, world


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> threading.local:
    """`inside.depth`: how often this thread is in a lane."""
    here = threading.local()
    plain = Lane.last

    @contextmanager
    def counted(lane: Lane) -> Iterator[None]:
        with plain(lane):
            here.depth = getattr(here, "depth", 0) + 1
            try:
                yield
            finally:
                here.depth -= 1

    monkeypatch.setattr(Lane, "last", counted)
    return here


def retain(handle: PartitionHandle, data: bytes, request: str = "kept") -> str:
    ask = AttachAsk(request, hashlib.sha256(data).hexdigest(), len(data))
    return str(attach_file.run(handle, ask, io.BytesIO(data))["source"])


def keep(handle: PartitionHandle, **more: Any) -> dict[str, Any]:
    return save_claim.run(handle, SaveClaim(**more), clock.now)


def content(stores: World) -> Path:
    return next(stores.private().glob("artifacts/*/*/content"))


def test_no_source_is_read_inside_the_lane(
    stores: World, inside: threading.local, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, depths = stores.open(), []
    source = retain(handle, b"one\ntwo\n")
    plain = Scan.run

    def run(scan: Scan, file: Any) -> None:
        depths.append(getattr(inside, "depth", 0))
        plain(scan, file)

    monkeypatch.setattr(Scan, "run", run)
    keep(handle, text="a claim", evidence=[CitationInput(source, 2, "two")])
    with pytest.raises(InvalidInput, match=r"evidence\.0: the quote"):
        keep(handle, text="a claim", evidence=[CitationInput(source, 1, "two")])
    assert depths and not any(depths)


def test_a_large_record_is_written_and_read_back_outside_the_lane(
    stores: World, inside: threading.local, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, depths = stores.open(), []
    source = retain(handle, b"one\n")
    plain_render, plain_edit = common.render_record, common.edit_record

    def render(*args: Any) -> bytes:
        depths.append(inside.depth)
        return plain_render(*args)

    def edit(*args: Any) -> bytes:
        depths.append(inside.depth)
        return plain_edit(*args)

    monkeypatch.setattr(common, "render_record", render)
    monkeypatch.setattr(common, "edit_record", edit)
    monkeypatch.setattr(common, "_LARGE", 10_000)
    many = [CitationInput(source, 1, "one")] * (cited.MANY + 1)
    made = keep(handle, text="a claim", evidence=many)
    monkeypatch.setattr(common, "_LARGE", 1_000)
    changed = keep(handle, id=made["id"], tags=["seen"])
    assert (changed["revision"], depths) == (2, [0, 0])
    with handle.reading() as view:
        entry = view.by_id(made["id"])
        assert entry is not None and entry.record is not None and entry.record.valid
        assert len(entry.record.evidence) == len(many) and entry.record.tags == ("seen",)


def test_a_source_that_changes_after_the_check_is_not_cited(
    stores: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = stores.open()
    source = retain(handle, b"one\n")
    plain = Cited.look

    def look(self: Cited, view: View) -> None:
        plain(self, view)
        content(stores).write_bytes(b"two\n")

    monkeypatch.setattr(Cited, "look", look)
    with pytest.raises((InvalidInput, Unavailable), match=r"SHA-256|changed"):
        keep(handle, text="a claim", evidence=[CitationInput(source, 1, "one")])
    with handle.reading() as view:
        assert not list(view.entries)


def test_a_source_that_never_rests_is_unavailable(stores: World, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = stores.open()
    source = retain(handle, b"one\n")
    plain = Cited.look

    def look(self: Cited, view: View) -> None:
        plain(self, view)
        file = content(stores)
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data)

    monkeypatch.setattr(Cited, "look", look)
    with pytest.raises(Unavailable, match="changed while it was checked"):
        keep(handle, text="a claim", evidence=[CitationInput(source, 1, "one")])


def test_a_request_that_was_published_is_answered_when_its_source_is_gone(stores: World) -> None:
    handle = stores.open()
    source = retain(handle, b"one\n")
    ask = {"text": "a claim", "evidence": [CitationInput(source, 1, "one")], "request_id": "r-1"}
    made = keep(handle, **ask)
    content(stores).unlink()
    assert keep(handle, **ask) == made | {"replayed": True}
    with pytest.raises(InvalidInput, match="missing"):
        keep(handle, **(ask | {"request_id": "r-2"}))
    with pytest.raises(NotFound):
        keep(handle, id="no-such-claim", evidence=ask["evidence"])


def test_what_is_remembered_is_of_one_save_only() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    assert (once("key", make), once("key", make)) == (1, 2)
    with remembering():
        assert not made_before("key")
        assert (once("key", make), once("key", make)) == (3, 3)
        with remembering():
            assert once("key", make) == 4
        assert once("key", make) == 3
    assert once("key", make) == 5
