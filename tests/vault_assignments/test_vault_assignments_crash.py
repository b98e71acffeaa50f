"""A kill between any two steps of a share ends in one of two states: shared, or as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from assignments_kit import OWNER, SHARED, Opener

KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from assignments_kit import OWNER, opened
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.assignments import replace, sharing
owner, name = {
    "plan": (SqliteKnowledgeRegistry, "plan_assignment"),
    "settle": (SqliteKnowledgeRegistry, "settle_assignment"),
    "replace": (sharing, "replace_config"),
    "write": (replace, "_written"),
    "exchange": (replace, "exchange"),
    "sync": (replace, "_sync"),
}[sys.argv[3]]
inner, when = getattr(owner, name), sys.argv[4]
def killed(*args, **kwargs):
    if when == "after":
        inner(*args, **kwargs)
    os._exit(9)
with opened(Path(sys.argv[2])) as world:
    setattr(owner, name, killed)
    world.sharing.share(OWNER, "loner", "home", None, ["research"])
"""
DONE = {
    ("settle", "before"),
    ("settle", "after"),
    ("replace", "after"),
    ("exchange", "after"),
    ("sync", "before"),
}
DONE |= {("sync", "after")}
STEPS = ["plan", "write", "exchange", "sync", "replace", "settle"]


def kill(root: Path, step: str, when: str) -> None:
    arguments = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(root), step, when]
    assert subprocess.run(arguments, timeout=60).returncode == 9


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_1_2_20_a_kill_in_a_share_ends_in_one_of_two_states(
    step: str, when: str, open_world: Opener, tmp_path: Path
) -> None:
    world = open_world(SHARED)
    vault = world.use("loner")
    tree = world.tree()
    world.registry.close()
    kill(tmp_path, step, when)
    world = open_world(None)
    assert world.registry.open_assignment() is None and world.tree() == tree
    states = [row.state for row in world.registry.assignments(5)]
    if (step, when) in DONE:
        assert world.vault("loner") == world.vault("research") == vault
        assert world.registry.bindings() == {"named:home": vault} and states == ["done"]
    else:
        assert world.config.read_text() == SHARED
        assert world.registry.bindings() == {"own:loner": vault} and world.vault("loner") == vault
        assert world.facts.data.membership("research").binding == "named:personal"
        assert states in ([], ["cancelled"])
        assert world.sharing.share(OWNER, "loner", "home", None, ["research"]).vault == vault


@pytest.mark.parametrize(("step", "when"), [("plan", "after"), ("settle", "before")])
def test_a_file_edited_after_the_kill_decides_by_what_it_says(
    step: str, when: str, open_world: Opener, tmp_path: Path
) -> None:
    world = open_world(SHARED)
    vault = world.use("loner")
    world.registry.close()
    kill(tmp_path, step, when)
    world.config.write_text(world.config.read_text() + "// edited\n")
    world = open_world(None)
    bound = "named:home" if step == "settle" else "own:loner"
    assert world.registry.bindings() == {bound: vault} and world.vault("loner") == vault
    assert world.registry.open_assignment() is None


def test_a_file_that_cannot_be_read_after_the_kill_decides_when_it_is_mended(
    open_world: Opener, tmp_path: Path
) -> None:
    world = open_world(SHARED)
    vault = world.use("loner")
    world.registry.close()
    kill(tmp_path, "settle", "before")
    written = world.config.read_text()
    world = open_world("{stores: ")
    assert world.facts.data.problem is not None and world.registry.open_assignment() is not None
    world.config.write_text(written)
    assert world.vault("research") == vault and world.registry.open_assignment() is None
