"""Links, names and paths that would lead out of a partition: nothing beyond it is shown or written."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agents_world import SETTINGS, talks
from canary import canary, found_in
from live_server import Answer, Client, Server
from wire_knowledge import BASE, attachment, audience
from wire_walk import Ask

OUT = canary("outside")
OWN = canary("inside")
BESIDE = canary("beside")
SESSION = "77777777-7777-4777-8777-777777777777"
_numbers = itertools.count()


@dataclass
class Yard:
    """A store of an agent, with a private and a conversation partition, and a folder outside."""

    server: Server
    client: Client
    agent: str
    store: Path
    outside: Path
    inside: str
    ids: Mapping[str, str]

    @property
    def vault(self) -> Path:
        return self.store / "vault"

    @property
    def private(self) -> Path:
        return self.vault / "private"

    @property
    def folder(self) -> Path:
        """The partition that is asked."""
        return self.private if self.inside == "private" else self.vault / "conversations" / SESSION

    @property
    def own(self) -> Path:
        """The file of its page."""
        return next(self.folder.glob("people/*.md"))

    @property
    def other(self) -> Path:
        """The folder of the other partition of this store."""
        return self.vault / "conversations" / SESSION if self.inside == "private" else self.private

    def ask(self, tool: str, ask: Ask, inside: str | None = None) -> Answer:
        self.client.use(_credential(self.agent, inside or self.inside))
        files = list(ask.files) if ask.files else None
        return self.client.request("POST", f"{BASE}/tools/{tool}", ask.body, files=files, fields=ask.fields)

    def look(self, path: str, **query: Any) -> Answer:
        self.client.use(self.server.key)
        return self.client.request("GET", f"{BASE}/agents/{self.agent}{path}", query=query)


def _credential(agent: str, inside: str) -> str:
    claims = {"agent": agent} if inside == "private" else talks(agent, "group:1", SESSION)
    return audience(**claims)


def _record(words: tuple[str, str], scope: str) -> str:
    said = (
        "  visibility: private"
        if scope == "private"
        else f"  visibility: conversation\n  sessionId: {SESSION}"
    )
    return (
        "---\nformat: knowledge-record-v1\nid: aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa\nrevision: 1\n"
        f"kind: page\ntype: person\ntitle: {words[0]}\nrecorded_at: 2026-11-30T04:00:00Z\n"
        f"updated_at: 2026-11-30T04:00:00Z\nscope:\n{said}\nlifecycle: active\n---\n\n{' '.join(words)}\n"
    )


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """The server that watches files, and the one that does not; each is started when it is asked for."""
    running: dict[str, Server] = {}

    def get(watching: str) -> Server:
        if watching not in running:
            home = tmp_path_factory.mktemp(watching)
            config = home / "knowledge.json5"
            config.write_text("{operatorRead: true, maintenance: {enabled: false}}", "utf-8")
            settings = {
                **SETTINGS,
                "LOREBANK_KNOWLEDGE_CONFIG": str(config),
                "LOREBANK_WATCH_VAULTS": str(watching == "watched").lower(),
            }
            running[watching] = Server(home, settings).start()
        return running[watching]

    yield get
    for server in running.values():
        server.stop()


@pytest.fixture
def yard(request: pytest.FixtureRequest, servers: Callable[[str], Server]) -> Iterator[Yard]:
    watching, inside = request.param
    server = servers(watching)
    agent = f"yard{next(_numbers)}"
    client = server.client()
    outside = server.home / f"outside-{agent}"
    made = Yard(server, client, agent, Path(), outside, inside, {})
    ids: dict[str, str] = {}
    for place, words in ((inside, OWN), (_beside(inside), BESIDE)):
        body = {"type": "person", "title": f"Mara {place}", "body": " ".join(words)}
        page = made.ask("knowledge_save_page", Ask(body=body), place).ok()
        claim = {"text": f"Keeps keys {' '.join(words)}.", "subject": page["id"]}
        told = made.ask("knowledge_remember", Ask(body=claim), place).ok()
        if place == inside:
            ids = {"page": page["id"], "claim": told["id"], "source": told["source"]}
    stores = client.request("GET", f"{BASE}/stores") if client.use(server.key) is None else None
    assert stores is not None
    (vault,) = [one["vaultId"] for one in stores.ok()["agents"] if one["agent"] == agent]
    made.store, made.ids = server.data_dir / "knowledge" / "stores" / vault, ids
    _fill(outside, made.folder, inside)
    yield made
    client.close()


def _beside(inside: str) -> str:
    return "conversation" if inside == "private" else "private"


def _fill(outside: Path, folder: Path, scope: str) -> None:
    """A partition as it would have to be, with what nobody here may see."""
    shutil.copytree(folder, outside / "partition")
    for path in outside.glob("partition/people/*.md"):
        path.write_text(_record(OUT, scope), "utf-8")
    for path in outside.glob("partition/artifacts/*/*/content"):
        path.write_text(" ".join(OUT), "utf-8")
    (outside / "record.md").write_text(_record(OUT, scope), "utf-8")
    (outside / "secret.txt").write_text(" ".join(OUT), "utf-8")
    (outside / "ontology.yaml").write_text(
        f"types:\n  {OUT[0]}:\n    label: {OUT[1]}\n    folder: {OUT[0]}\n", "utf-8"
    )
    (outside / "empty").mkdir()


def _state(folder: Path) -> Mapping[str, bytes | str]:
    """All that is below a folder."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else "folder"
    return found


Trick = Callable[[Yard], None]


def _exchange(path: Path, target: Path) -> None:
    """`path` becomes a link to `target`."""
    path.rename(path.with_name(f".{path.name}-before"))
    path.symlink_to(target)


def _linked_over(path: Path, target: Path) -> None:
    path.unlink()
    os.link(target, path)


def _source(yard: Yard) -> Path:
    return next(yard.folder.glob("artifacts/*/*/content"))


def _descriptor_with_a_path(yard: Yard) -> None:
    (path,) = _source(yard).parent.glob("*.json")
    data = json.loads(path.read_text("utf-8"))
    data["path"] = "artifacts/" + os.path.relpath(yard.outside / "secret.txt", yard.folder / "artifacts")
    path.write_text(json.dumps(data), "utf-8")


def _folder_in_an_ontology(yard: Yard) -> None:
    leads = os.path.relpath(yard.outside / "empty", yard.folder)
    (yard.folder / "ontology.yaml").write_text(
        f"types:\n  leaving:\n    label: Leaving\n    folder: {leads}\n", "utf-8"
    )


def _twins(first: str, second: str) -> Trick:
    def make(yard: Yard) -> None:
        folder = yard.folder / "people"
        (folder / first).write_text(_record(OUT, yard.inside).replace("aaaa-4aaa", "aaab-4aaa"), "utf-8")
        (folder / second).write_text(_record(OUT, yard.inside), "utf-8")

    return make


LINKS: Mapping[str, Trick] = {
    "a file is a link": lambda y: (y.folder / "people" / "out.md").symlink_to(y.outside / "record.md"),
    "a link with dots": lambda y: (y.folder / "people" / "out.md").symlink_to(
        os.path.relpath(y.outside / "record.md", y.folder / "people")
    ),
    "the page is a link": lambda y: _exchange(y.own, y.outside / "record.md"),
    "a link to the other partition": lambda y: (y.folder / "people" / "out.md").symlink_to(
        next(y.other.glob("people/*.md"))
    ),
    "a hard link": lambda y: os.link(y.outside / "record.md", y.folder / "people" / "out.md"),
    "a hard link to the other partition": lambda y: os.link(
        next(y.other.glob("people/*.md")), y.folder / "people" / "out.md"
    ),
    "the page is a hard link": lambda y: _linked_over(y.own, y.outside / "record.md"),
    "a folder is a link": lambda y: (y.folder / "projects").symlink_to(y.outside / "partition" / "people"),
    "the folder of pages is a link": lambda y: _exchange(
        y.folder / "people", y.outside / "partition" / "people"
    ),
    "the folder of claims is a link": lambda y: _exchange(y.folder / "claims", y.outside / "empty"),
    "the folder of evidence is a link": lambda y: _exchange(
        y.folder / "artifacts", y.outside / "partition" / "artifacts"
    ),
    "the folder of relationships is a link": lambda y: (y.folder / "relationships").symlink_to(
        y.outside / "empty"
    ),
    "a source is a link": lambda y: _exchange(_source(y), y.outside / "secret.txt"),
    "a source is a hard link": lambda y: _linked_over(_source(y), y.outside / "secret.txt"),
    "a source's folder is a link": lambda y: _exchange(
        _source(y).parent, next((y.outside / "partition").glob("artifacts/*/*"))
    ),
    "the ontology is a link": lambda y: (y.folder / "ontology.yaml").symlink_to(y.outside / "ontology.yaml"),
    "the ontology is a hard link": lambda y: os.link(y.outside / "ontology.yaml", y.folder / "ontology.yaml"),
    "the partition is a link": lambda y: _exchange(y.folder, y.outside / "partition"),
    "the partition is a link to the other": lambda y: _exchange(y.folder, y.other),
    "all conversations are a link": lambda y: _exchange(y.vault / "conversations", y.outside),
    "the vault is a link": lambda y: _exchange(y.vault, y.outside),
    "the manifest is a link": lambda y: _exchange(y.vault / "vault.json", y.outside / "secret.txt"),
    "the manifest is a hard link": lambda y: os.link(
        y.vault / "vault.json", y.outside.with_name(f"{y.agent}.json")
    ),
    "git is a link": lambda y: _exchange(y.vault / ".git", y.outside / "empty"),
    "a link to itself": lambda y: (y.folder / "people" / "loop.md").symlink_to("loop.md"),
    "a link to the vault": lambda y: (y.folder / "loop").symlink_to(y.vault),
    "a link to nothing": lambda y: (y.folder / "people" / "gone.md").symlink_to(y.outside / "never"),
    "a pipe": lambda y: os.mkfifo(y.folder / "people" / "pipe.md"),
    "a descriptor that leads out": _descriptor_with_a_path,
    "an ontology that leads out": _folder_in_an_ontology,
    "names that are one without case": _twins("Twin.md", "tWIN.md"),
    "names that are one in Unicode": _twins(
        unicodedata.normalize("NFC", "Zoé.md"), unicodedata.normalize("NFD", "Zoé.md")
    ),
    "names that are one when folded": _twins("Straße.md", "STRASSE.md"),
}


def _asks(yard: Yard) -> list[tuple[str, Ask]]:
    """Every reading tool."""
    ids = list(yard.ids.values())
    return [
        (
            "knowledge_search",
            Ask(body={"query": f"{OUT[0]} {OUT[1]} {BESIDE[0]} keys Mara", "lifecycle": []}),
        ),
        ("knowledge_search", Ask(body={"query": "", "lifecycle": []})),
        ("knowledge_get", Ask(body={"ids": [*ids, "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"]})),
        ("knowledge_recall", Ask(body={"query": OUT[0]})),
        ("knowledge_ontology", Ask(body={})),
        ("knowledge_context", Ask(body={})),
        ("knowledge_history", Ask(body={"id": yard.ids["page"]})),
        ("knowledge_history", Ask(body={"id": "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"})),
        ("knowledge_relink", Ask(body={"dryRun": True})),
    ]


def _saves(yard: Yard) -> list[tuple[str, Ask]]:
    """Saves into every folder, and names that would lead out."""
    n = next(_numbers)
    leads = os.path.relpath(yard.outside, yard.folder)
    cites = [{"source": yard.ids["source"]}]
    return [
        ("knowledge_save_page", Ask(body={"title": f"../../{leads}/x{n}", "type": "person", "body": "x"})),
        ("knowledge_save_page", Ask(body={"title": f"Ship {n}", "type": "project", "body": "x"})),
        ("knowledge_save_page", Ask(body={"title": f"Left {n}", "type": "leaving", "body": "x"})),
        ("knowledge_save_page", Ask(body={"id": yard.ids["page"], "expectedRevision": 1, "body": "x"})),
        ("knowledge_save_page", Ask(body={"id": yard.ids["page"], "expectedRevision": 2, "body": "y"})),
        ("knowledge_remember", Ask(body={"text": f"News {n}."})),
        ("knowledge_save_claim", Ask(body={"text": f"x{n}", "claimKind": "fact", "evidence": cites})),
        ("knowledge_restore", Ask(body={"id": yard.ids["page"], "revision": 1, "expectedRevision": 2})),
        ("knowledge_attach_file", attachment(b"x" * n, request_id=f"f{n}", filename=f"../../{leads}/x")),
        ("knowledge_relink", Ask(body={})),
    ]


_UNWATCHED = [
    name for name in LINKS if name.startswith(("the folder of", "the partition", "the page", "a source"))
]
# Conversations are never watched (statement 1.7.64).
_WALKS = [
    *[(("watched", inside), trick) for inside in ("private", "conversation") for trick in LINKS],
    *[(("unwatched", "private"), trick) for trick in _UNWATCHED],
]
both = pytest.mark.parametrize("yard", [("watched", "private"), ("watched", "conversation")], indirect=True)


# In a conversation an ontology has no effect (statement 1.5.48), so that one may be shown as a file only.
@pytest.mark.statement("1.4.42", "1.5.47", "1.5.48", "1.8.76")
@pytest.mark.parametrize(("yard", "trick"), _WALKS, indirect=["yard"])
def test_1_8_76_nothing_beyond_the_partition_is_shown_or_written(yard: Yard, trick: str) -> None:
    # Once with the store open, as it is now; the server looks at the next query.
    assert found_in(yard.ask("knowledge_search", Ask(body={"query": "keys"})).body, OWN)
    LINKS[trick](yard)
    before = _state(yard.outside)
    hidden = (*BESIDE, *(() if trick.startswith("names") else OUT))
    told: list[Answer] = []
    for tool, ask in (*_asks(yard), *_saves(yard), *_asks(yard)[1:3]):
        answer = yard.ask(tool, ask)
        told.append(answer)
        assert answer.status != 500, (tool, answer)
        asked = repr(ask.body).encode()
        assert not [one for one in found_in(answer.body, hidden) if not found_in(asked, hidden)] or (
            tool == "knowledge_search" and not answer.json()["hits"]
        ), (tool, ask.body, answer)
    if yard.inside == "private":
        for path in ("/records", "/diagnostics", f"/records/{yard.ids['page']}"):
            answer = yard.look(path)
            assert answer.status != 500 and not found_in(answer.body, hidden), answer
    assert _state(yard.outside) == before, "nothing outside was written"
    # Whatever is refused is refused with a reason, and what is left of the partition is still read.
    whole = trick.startswith(("the partition", "all conv", "the vault", "the manifest"))
    if whole and not (trick.startswith("all conv") and yard.inside == "private"):
        assert {answer.status for answer in told} == {503}, [(a.status, a.body[:200]) for a in told]
    else:
        assert told[0].status == 200, told[0]


@pytest.mark.statement("1.8.76", "2.1.4")
@both
@pytest.mark.parametrize("trick", [name for name in LINKS if name.startswith("names")])
def test_names_that_are_one_are_withheld_and_told(yard: Yard, trick: str) -> None:
    LINKS[trick](yard)
    answer = yard.ask("knowledge_search", Ask(body={"query": OUT[0]}))
    assert answer.status == 200 and answer.json()["total"] < 2, answer
    if yard.inside == "private":
        assert yard.look("/diagnostics").ok()["total"] > 0


@pytest.mark.statement("1.5.50", "1.5.49")
@both
@pytest.mark.parametrize("scope", ["private", "conversation"])
def test_1_5_50_a_record_of_another_scope_is_withheld(yard: Yard, scope: str) -> None:
    """A file copied from one partition into the other does not come with it."""
    (yard.folder / "people" / "copied.md").write_text(_record(OUT, scope), "utf-8")
    answer = yard.ask("knowledge_search", Ask(body={"query": OUT[0]}))
    assert (answer.ok()["total"] == 1) is (scope == yard.inside)
    assert scope == yard.inside or not found_in(answer.body, OUT)


@both
@pytest.mark.statement("1.4.42", "1.4.43")
def test_1_4_43_another_stores_database_or_vault_is_refused(yard: Yard) -> None:
    """Both exchanged with those of somebody else's store."""
    other = f"yard{next(_numbers)}"
    yard.client.use(audience(other))
    body = {"type": "person", "title": OUT[0], "body": OUT[1]}
    yard.client.request("POST", f"{BASE}/tools/knowledge_save_page", body).ok()
    yard.client.use(yard.server.key)
    agents = yard.client.request("GET", f"{BASE}/stores").ok()["agents"]
    (vault,) = [one["vaultId"] for one in agents if one["agent"] == other]
    theirs = yard.store.parent / vault
    (yard.vault / "vault.json").write_bytes((theirs / "vault" / "vault.json").read_bytes())
    for name in ("private", "conversations"):
        shutil.rmtree(yard.vault / name, ignore_errors=True)
        if (theirs / "vault" / name).exists():
            shutil.copytree(theirs / "vault" / name, yard.vault / name)
    for tool, ask in _asks(yard):
        answer = yard.ask(tool, ask)
        assert answer.status == 503 and not found_in(answer.body, OUT), (tool, answer)
    with closing(sqlite3.connect(yard.store / "state.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
