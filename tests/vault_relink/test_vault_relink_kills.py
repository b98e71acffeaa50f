"""Relink over a real store, killed at every write point of a link: it ends as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from relink_child import KILLED, links
from relink_corpus import Corpus, corpus
from store_world import world

from lorebank.vaults.publish.points import Point

CHILD = Path(__file__).parent / "relink_child.py"
POINTS = [
    Point.PLANNED,
    Point.ACCEPTED,
    Point.FILE_WRITTEN,
    Point.FILES_WRITTEN,
    Point.MANIFEST_WRITTEN,
    Point.PUBLISHED,
    Point.COMMITTED,
    Point.NOTED,
]
MADE = corpus(3, people=6)


def prepare(root: Path, made: Corpus = MADE) -> None:
    """A real store with the corpus in its private partition, as if a person had put it there."""
    with world(root) as stores:
        stores.open()
        for path, content in made.vault.files.items():
            target = stores.private() / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def files(root: Path) -> dict[str, bytes]:
    with world(root) as stores:
        private = stores.private()
        return {
            str(path.relative_to(private)): path.read_bytes() for path in private.rglob("*") if path.is_file()
        }


def receipts(root: Path, claim: str) -> list[tuple[str, int | None]]:
    with world(root) as stores:
        rows = stores.open().history(claim, before=None, limit=20)
        return [(row.change, row.revision) for row in rows]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("undisturbed")
    prepare(root)
    wanted = [link for link in MADE.expected.values() if link is not None]
    assert links(root) == len(wanted) == 3
    assert links(root) == 0, "a second pass changes nothing"
    return files(root)


@pytest.mark.statement("4.1.10", "4.1.9")
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.value)
def test_4_1_10_killed_at_any_point_it_ends_the_same(
    tmp_path: Path, undisturbed: dict[str, bytes], point: Point
) -> None:
    prepare(tmp_path)
    done = subprocess.run(
        [sys.executable, str(CHILD), str(tmp_path), point.value, "2"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == KILLED, done.stderr
    links(tmp_path)
    assert files(tmp_path) == undisturbed
    assert links(tmp_path) == 0
    linked = next(claim for claim in sorted(MADE.expected) if MADE.expected[claim] is not None)
    assert [change for change, _ in receipts(tmp_path, linked)].count("relink") == 1


@pytest.mark.soak
@pytest.mark.statement("4.1.6", "4.1.10")
def test_4_1_6_a_real_store_with_2000_claims_ends_as_known_and_a_second_pass_changes_nothing(
    tmp_path: Path,
) -> None:
    made = corpus(2000)
    prepare(tmp_path, made)
    wanted = {claim: link[1] for claim, link in made.expected.items() if link is not None}
    assert links(tmp_path) == len(wanted)
    with world(tmp_path) as stores, stores.open().reading() as view:
        for claim in made.expected:
            entry = view.by_id(claim)
            assert entry is not None and entry.record is not None
            assert entry.record.entities == ((wanted[claim],) if claim in wanted else ())
    before = files(tmp_path)
    assert links(tmp_path) == 0
    assert files(tmp_path) == before
