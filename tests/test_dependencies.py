"""The locks hold what the server needs and nothing that it was proven not to need."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
RUNTIME = (ROOT / "requirements" / "runtime.txt").read_text("utf-8")
DEV = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
# The module of a package whose name differs from it.
MODULES = {"pyyaml": "yaml"}

USE_EVERYTHING = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is not installed in the offline default")

sys.meta_path.insert(0, Refuse())
import click, httptools, httpx, jwt.api_jws, multipart, orjson, rich.progress, rich.table, snowballstemmer
import starlette.routing, uvicorn.protocols.http.httptools_impl
from lorebank import tokens
from lorebank.models.local import local_embedder, local_reranker
from lorebank.models.service import EmbedService, RerankService
from lorebank.models.workers import WorkerPool
import lorebank.bootstrap.build

pool = WorkerPool(1)
assert EmbedService(local_embedder(), pool).embed_query("hello", 60).shape == (384,)
assert RerankService(local_reranker(), pool).score("hello", ["world"], 60).shape == (1,)
assert tokens.count("hello world") == 2
pool.close()
"""


def make_list(name: str) -> set[str]:
    """The words of a list in the Makefile."""
    found = re.search(rf"^{name} := (.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    return set(found[1].split())


def locked(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9.-]+)==", lock, re.MULTILINE))


def test_the_server_runs_without_the_packages_that_are_left_out() -> None:
    left_out = make_list("UNNEEDED") | make_list("UNNEEDED_AT_RUN_TIME")
    blocked = {MODULES.get(name, name.replace("-", "_")) for name in left_out}
    code = f"BLOCKED = {blocked!r}\n{USE_EVERYTHING}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_locks_leave_them_out() -> None:
    assert not locked(DEV) & make_list("UNNEEDED")
    assert not locked(RUNTIME) & (make_list("UNNEEDED") | make_list("UNNEEDED_AT_RUN_TIME"))


def test_every_locked_package_carries_a_hash() -> None:
    for lock in (RUNTIME, DEV):
        entries = re.split(r"\n(?=\S)", "\n".join(line for line in lock.splitlines() if line[:1] != "#"))
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_direct_dependency_is_locked_and_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[\s<>=!~;\[]", one)[0] for one in project["dependencies"]}
    assert names <= locked(RUNTIME)
    explained = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    assert sorted(name for name in names if f"`{name}`" not in explained) == []


def test_both_locks_agree_on_versions() -> None:
    versions = {lock: set(re.findall(r"^(\S+==\S+)", lock, re.MULTILINE)) for lock in (RUNTIME, DEV)}
    assert versions[RUNTIME] <= versions[DEV]
