"""Rights that go while a read or a save is under way: nothing is returned, and nothing written, after the
change is acknowledged."""

from __future__ import annotations

import itertools
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from access_admin import Admin, statement
from canary import canary, found_in
from held_server import WAIT_S, Held, held_server
from live_server import Answer, Client
from wire_knowledge import BASE, attachment, audience
from wire_walk import Ask

from lorebank import clock
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.store.runtime import Runtime

WORDS = canary("flight")
OWN = canary("ownflight")
AWAY = (401, 403, 503)
_numbers = itertools.count()


class Stage:
    """The application with its gate, an owner, and what he changes."""

    def __init__(self, held: Held, folder: Path) -> None:
        self.held, self.folder = held, folder
        self.root = Client(held.port, held.key)
        self.admin = Admin(self.root)
        self.late = 0
        resolver = held.context.knowledge.resolver
        # The clock by which audiences end runs with a hand on it.
        object.__setattr__(resolver, "now", lambda: clock.now() + self.late)
        self.configure()
        self.report()
        self.use("pooled", OWN)
        self.use("main")

    def configure(self, **changes: Any) -> None:
        path = self.folder / "knowledge.json5"
        made = {"operatorRead": True, "stores": {"pool": {"agents": ["pooled"]}}, **changes}
        path.write_text(json.dumps(made), encoding="utf-8")

    def report(self, *gone: str) -> None:
        agents = [one for one in ("main", "pooled") if one not in gone]
        self.operate("POST", "/host/report", {"agents": agents, "conversations": []})

    def operate(self, method: str, path: str, body: Any = None) -> Any:
        return self.root.request(method, BASE + path, body).ok()

    def use(self, agent: str, words: tuple[str, str] = WORDS, **claims: Any) -> str:
        """A page with a canary in the partition of these claims; its id."""
        body = {"type": "person", "title": f"Mara {' '.join(words)}", "body": " ".join(words)}
        answer = _send(self.held, audience(agent, **claims), "knowledge_save_page", Ask(body=body))
        return str(answer.ok()["id"])

    def fresh(self) -> tuple[str, str]:
        """The agent with a store of its own, and a new page in it."""
        return "main", self.use("main")

    def files(self) -> Mapping[str, str]:
        """The state of every vault's files, and what git points to."""
        found: dict[str, str] = {}
        for store in (self.folder / "knowledge" / "stores").iterdir():
            paths = [*(store / "vault").glob("[!.]*/**/*"), store / "vault" / "vault.json"]
            for path in [*paths, *(store / "vault" / ".git" / "refs").glob("heads/*")]:
                if path.is_file():
                    stat = path.stat()
                    found[str(path)] = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
        return found


def _send(held: Held, credential: str, what: str, ask: Ask, page: str = "") -> Answer:
    client = Client(held.port, credential)
    try:
        if what.startswith("/"):
            return client.request("GET", BASE + what)
        files = list(ask.files) if ask.files else None
        return client.request("POST", f"{BASE}/tools/{what}", ask.body, files=files, fields=ask.fields)
    finally:
        client.close()


@dataclass(frozen=True)
class Case:
    """An agent's call that is going to lose its right: its credential, and the page that it may read."""

    credential: str
    agent: str
    page: str


def _talk(agent: str, **more: Any) -> dict[str, Any]:
    n = next(_numbers)
    key = f"agent:{agent}:group:{n}"
    return {"visibility": "conversation", "session_key": key, "session_id": f"s{n}", **more}


Made = tuple[Case, Callable[[], None], Callable[[], None]]
"""A case, the change, and what makes it good again."""


def _granted(stage: Stage, access: str, change: Callable[[str, str], None]) -> Made:
    agent, page = stage.fresh()
    claims = _talk(agent)
    key = claims["session_key"]
    stage.operate("PUT", f"/agents/{agent}/grants", {"sessionKey": key, "access": access})
    return Case(audience(agent, **claims), agent, page), lambda: change(agent, key), lambda: None


def _revoked(stage: Stage) -> Made:
    def change(agent: str, key: str) -> None:
        stage.operate("POST", f"/agents/{agent}/grants/revoke", {"sessionKey": key})

    return _granted(stage, "read-and-save", change)


def _narrowed(stage: Stage) -> Made:
    def change(agent: str, key: str) -> None:
        stage.operate("PUT", f"/agents/{agent}/grants", {"sessionKey": key, "access": "read"})

    return _granted(stage, "read-and-save", change)


def _narrowed_below(stage: Stage) -> Made:
    """A more specific grant comes between."""
    agent, page = stage.fresh()
    claims = _talk(agent)
    wide = claims["session_key"]
    claims["session_key"] += ":thread:4"
    stage.operate("PUT", f"/agents/{agent}/grants", {"sessionKey": wide, "access": "read-and-save"})

    def change() -> None:
        body = {"sessionKey": claims["session_key"], "access": "read"}
        stage.operate("PUT", f"/agents/{agent}/grants", body)

    return Case(audience(agent, **claims), agent, page), change, lambda: None


def _given(stage: Stage) -> Made:
    """Its partition is another one from now on."""
    agent, _ = stage.fresh()
    claims = _talk(agent)
    page = stage.use(agent, OWN, **claims)

    def change() -> None:
        body = {"sessionKey": claims["session_key"], "access": "read-and-save"}
        stage.operate("PUT", f"/agents/{agent}/grants", body)

    return Case(audience(agent, **claims), agent, page), change, lambda: None


def _moved(stage: Stage) -> Made:
    agent, page = stage.fresh()

    def change() -> None:
        stage.operate("POST", f"/agents/{agent}/use-shared", {"name": "pool"})

    def back() -> None:
        stage.operate("POST", f"/agents/{agent}/use-own")

    return Case(audience(agent), agent, page), change, back


def _moved_by_an_editor(stage: Stage) -> Made:
    """The same by hand, in the configuration."""
    agent, page = stage.fresh()

    def change() -> None:
        stage.configure(stores={"pool": {"agents": ["pooled", agent]}})
        # What an editor saves holds at the next look; this is one.
        stage.operate("GET", "/stores")

    return Case(audience(agent), agent, page), change, stage.configure


def _doubled(stage: Stage) -> Made:
    agent, page = stage.fresh()

    def change() -> None:
        stage.configure(stores={"pool": {"agents": ["pooled", agent]}, "second": {"agents": [agent]}})
        stage.operate("GET", "/stores")

    return Case(audience(agent), agent, page), change, stage.configure


def _removed(stage: Stage) -> Made:
    agent, page = stage.fresh()
    return Case(audience(agent), agent, page), lambda: stage.report(agent), stage.report


def _ended(stage: Stage) -> Made:
    agent, page = stage.fresh()
    run = f"run-{next(_numbers)}"

    def change() -> None:
        stage.operate("POST", "/host/invocations/end", {"invocation": run})

    return Case(audience(agent, invocation=run), agent, page), change, lambda: None


def _expired(stage: Stage) -> Made:
    agent, page = stage.fresh()

    def change() -> None:
        stage.late = 3600 * 1_000_000

    def back() -> None:
        stage.late = 0

    return Case(audience(agent), agent, page), change, back


def _broken(stage: Stage) -> Made:
    agent, page = stage.fresh()

    def change() -> None:
        (stage.folder / "knowledge.json5").write_text("{stores:", encoding="utf-8")
        stage.operate("GET", "/stores")

    return Case(audience(agent), agent, page), change, stage.configure


def _read_only(stage: Stage) -> Made:
    agent, page = stage.fresh()

    def change() -> None:
        stage.configure(writesEnabled=False)
        stage.operate("GET", "/stores")

    return Case(audience(agent), agent, page), change, stage.configure


CHANGES: Mapping[str, Callable[[Stage], Made]] = {
    "grant revoked": _revoked,
    "grant narrowed": _narrowed,
    "narrower grant given below": _narrowed_below,
    "grant given": _given,
    "agent uses another store": _moved,
    "another store by hand": _moved_by_an_editor,
    "agent in two stores by hand": _doubled,
    "agent removed by its host": _removed,
    "invocation ended": _ended,
    "audience expired": _expired,
    "configuration broken": _broken,
}


# what happens to the files meanwhile


def _exchanged(stage: Stage) -> Made:
    """The partition's folder is another folder of the same name, with what looks like the same records."""
    agent, page = stage.fresh()
    (folder,) = [
        one
        for one in (stage.folder / "knowledge" / "stores").glob("*/vault/private")
        if any(page in path.read_text("utf-8") for path in one.glob("people/*.md"))
    ]
    aside = folder.with_name(".aside")

    def change() -> None:
        folder.rename(aside)
        shutil.copytree(aside, folder)

    def back() -> None:
        shutil.rmtree(folder)
        aside.rename(folder)

    return Case(audience(agent), agent, page), change, back


def _manifest_gone(stage: Stage) -> Made:
    case, _, _ = _exchanged(stage)
    (manifest,) = [
        one
        for one in (stage.folder / "knowledge" / "stores").glob("*/vault/vault.json")
        if any(case.page in path.read_text("utf-8") for path in one.parent.glob("private/people/*.md"))
    ]
    text = manifest.read_bytes()
    return case, manifest.unlink, lambda: manifest.write_bytes(text) and None


# where a call is held


@contextmanager
def _answer_made(stage: Stage, what: str) -> Iterator[None]:
    """Between the making and the sending of an answer, or of an error."""
    stage.held.gate.close_for(what)
    yield


@contextmanager
def _let_in(stage: Stage, what: str) -> Iterator[None]:
    """After the caller was let in, before anything is looked at."""
    stage.held.gate.close_for(what, early=True)
    yield


@contextmanager
def _seen(stage: Stage, what: str) -> Iterator[None]:
    """With the files looked at, before they are used."""
    gate, before = stage.held.gate, (Runtime.view, Runtime.refreshed)
    gate.close_for("nothing")
    mine = threading.Lock()

    def held(look: Callable[..., Any]) -> Callable[..., Any]:
        def looks(runtime: Runtime, *args: Any, **named: Any) -> Any:
            view = look(runtime, *args, **named)
            if gate.operation and mine.acquire(blocking=False):
                gate.hold()
            return view

        return looks

    patched: Any = Runtime
    patched.view, patched.refreshed = held(before[0]), held(before[1])
    try:
        yield
    finally:
        patched.view, patched.refreshed = before


@contextmanager
def _at(stage: Stage, point: Point) -> Iterator[None]:
    gate = stage.held.gate
    gate.close_for("nothing")

    def hook(reached: Point) -> None:
        if reached is point and gate.operation:
            gate.hold()

    with installed(hook):
        yield


def _planned(stage: Stage, what: str) -> AbstractContextManager[None]:
    """With all that shall be written decided."""
    return _at(stage, Point.PLANNED)


def _fly(
    stage: Stage,
    case: Case,
    what: str,
    ask: Ask,
    hold: Callable[[Stage, str], AbstractContextManager[None]],
    meanwhile: Callable[[], None],
) -> Answer:
    """Send it, hold it, do something meanwhile, let it go."""
    answers: list[Answer] = []
    operation = "browse_knowledge_record" if what.startswith("/") else what
    with hold(stage, operation):
        thread = threading.Thread(
            target=lambda: answers.append(_send(stage.held, case.credential, what, ask))
        )
        thread.start()
        try:
            assert stage.held.gate.made.wait(WAIT_S), "it never got there"
            meanwhile()
        finally:
            stage.held.gate.open()
            thread.join(WAIT_S)
    return answers[0]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("flight")
    (folder / "knowledge.json5").write_text("{operatorRead: true}", encoding="utf-8")
    with held_server(folder, working=False) as held:
        made = Stage(held, folder)
        yield made
        made.root.close()


READS: Mapping[str, Callable[[str], Ask]] = {
    "knowledge_search": lambda page: Ask(body={"query": "Mara"}),
    "knowledge_get": lambda page: Ask(body={"id": page}),
    "knowledge_context": lambda page: Ask(body={}),
    "knowledge_history": lambda page: Ask(body={"id": page, "revision": 1}),
    "knowledge_recall": lambda page: Ask(body={"query": "Mara"}),
}
SAVES: Mapping[str, Callable[[str], Ask]] = {
    "knowledge_remember": lambda page: Ask(body={"text": "Late news.", "subject": page, "requestId": page}),
    "knowledge_save_page": lambda page: Ask(
        body={"id": page, "expectedRevision": 1, "body": "Late.", "requestId": page}
    ),
    "knowledge_attach_file": lambda page: attachment(b"late bytes\n", request_id=page),
}
_FEW = ("grant revoked", "agent uses another store", "agent removed by its host")
READ_HOLDS = {"let in": _let_in, "files seen": _seen, "answer made": _answer_made}
SAVE_HOLDS = {"let in": _let_in, "files seen": _seen, "planned": _planned}


def _elsewhere(stage: Stage) -> None:
    """Something that concerns nobody here."""
    stage.use("pooled", OWN)


@pytest.mark.parametrize("what", READS)
@pytest.mark.parametrize("hold", READ_HOLDS)
def test_what_is_held_comes_when_nothing_changed(stage: Stage, hold: str, what: str) -> None:
    agent, page = stage.fresh()
    case = Case(audience(agent), agent, page)
    answer = _fly(stage, case, what, READS[what](page), READ_HOLDS[hold], lambda: _elsewhere(stage))
    assert answer.status == 200 and found_in(answer.body, WORDS)


@pytest.mark.statement("1.1.7", "1.1.13", "1.3.31", "1.3.32", "1.4.42", "1.6.58", "1.6.60", "1.7.67")
@pytest.mark.parametrize(
    ("change", "hold", "what"),
    [
        (change, hold, what)
        for change, hold, what in itertools.product(CHANGES, READ_HOLDS, READS)
        if what == "knowledge_get" or (hold == "answer made" and change in _FEW)
    ],
)
def test_1_6_60_a_read_shows_nothing_after_the_change(
    stage: Stage, change: str, hold: str, what: str
) -> None:
    case, make, back = CHANGES[change](stage)
    try:
        answer = _fly(stage, case, what, READS[what](case.page), READ_HOLDS[hold], make)
        assert answer.status in AWAY, answer
        assert not found_in(answer.body, (*WORDS, *OWN)), answer
        assert case.page.encode() not in answer.body
    finally:
        back()


@pytest.mark.statement("1.3.32", "1.6.60", "1.7.67")
@pytest.mark.parametrize(
    ("change", "hold", "what"),
    [
        (change, hold, what)
        for change, hold, what in itertools.product((*CHANGES, "writes turned off"), SAVE_HOLDS, SAVES)
        if what == "knowledge_remember" or (hold == "planned" and change in _FEW)
    ],
)
def test_1_3_32_a_save_writes_nothing_after_the_change(
    stage: Stage, change: str, hold: str, what: str
) -> None:
    case, make, back = (_read_only if change == "writes turned off" else CHANGES[change])(stage)
    before: list[Mapping[str, str]] = []

    def meanwhile() -> None:
        make()
        before.append(stage.files())

    try:
        answer = _fly(stage, case, what, SAVES[what](case.page), SAVE_HOLDS[hold], meanwhile)
        assert answer.status == 409 if change == "writes turned off" else answer.status in AWAY, answer
        assert not found_in(answer.body, (*WORDS, *OWN)), answer
        assert stage.files() == before[0], "nothing was written after the acknowledgement"
    finally:
        back()
    # A request that was never accepted is no request: its id is free.
    again = _send(stage.held, audience(case.agent), what, SAVES[what](case.page))
    assert (again.status < 300 and not again.json().get("replayed")) or change == "grant given", again


@pytest.mark.statement("1.4.42", "1.8.76")
@pytest.mark.parametrize("what", ["knowledge_get", "knowledge_search"])
@pytest.mark.parametrize("hold", READ_HOLDS)
@pytest.mark.parametrize("change", [_exchanged, _manifest_gone], ids=["folder exchanged", "manifest gone"])
def test_1_4_42_files_exchanged_during_a_query_are_noticed_after_it(
    stage: Stage, change: Callable[[Stage], Made], hold: str, what: str
) -> None:
    case, make, back = change(stage)
    try:
        answer = _fly(stage, case, what, READS[what](case.page), READ_HOLDS[hold], make)
        assert answer.status == 503 and not found_in(answer.body, WORDS), answer
        assert answer.json()["reason"]
    finally:
        back()
    later = _send(stage.held, audience(case.agent), what, READS[what](case.page))
    assert later.status == 200 and found_in(later.body, WORDS), later


@pytest.mark.statement("1.3.32", "1.6.60")
@pytest.mark.parametrize("change", [one for one in CHANGES if one != "grant given"])
def test_the_sides_of_a_conflict_are_not_shown_after_the_change(stage: Stage, change: str) -> None:
    """The error holds the record's text, and is made before the change."""
    case, make, back = CHANGES[change](stage)
    ask = Ask(body={"id": case.page, "expectedRevision": 7, "body": "x"})
    shown = _send(stage.held, audience(case.agent), "knowledge_save_page", ask)
    assert shown.status == 409 and found_in(shown.body, WORDS)
    try:
        answer = _fly(stage, case, "knowledge_save_page", ask, _answer_made, make)
        assert answer.status in AWAY and not found_in(answer.body, WORDS), answer
    finally:
        back()


@pytest.mark.statement("1.3.32", "1.6.60")
@pytest.mark.parametrize("point", [Point.ACCEPTED, Point.FILES_WRITTEN, Point.PUBLISHED])
def test_what_is_in_the_files_stays_and_its_answer_does_not_come(stage: Stage, point: Point) -> None:
    """Before the first file is written the authority is looked at once more, and nothing comes of it; from
    there on a save is whole."""
    case, make, _ = _revoked(stage)
    ask = SAVES["knowledge_remember"](case.page)
    answer = _fly(stage, case, "knowledge_remember", ask, lambda s, _: _at(s, point), make)
    assert answer.status == 403, answer
    receipt = _send(stage.held, audience(case.agent), "knowledge_remember", ask)
    assert receipt.ok()["replayed"] is (point is not Point.ACCEPTED)


@pytest.mark.statement("1.6.52", "1.6.60", "1.7.67")
@pytest.mark.parametrize("hold", READ_HOLDS)
@pytest.mark.parametrize(
    "change", ["operatorRead off", "policy detached", "user disabled", "shared gateway", "agent moved"]
)
def test_1_6_52_an_operator_sees_nothing_after_the_change(stage: Stage, change: str, hold: str) -> None:
    agent, page = stage.fresh()
    name = f"looker{next(_numbers)}"
    key = stage.admin.user(name, statement("knowledge:read", banks=(f"agent:{agent}",)))
    path = f"/agents/{agent}/records/{page}"
    assert found_in(_send(stage.held, key, path, Ask()).body, WORDS)

    def settings(**changes: Any) -> None:
        stage.configure(**changes)
        stage.operate("GET", "/stores")

    makes: Mapping[str, Callable[[], Any]] = {
        "operatorRead off": lambda: settings(operatorRead=False),
        "policy detached": lambda: stage.admin.detach(f"of-{name}", "user", name),
        "user disabled": lambda: stage.admin.set_active(name, False),
        "shared gateway": lambda: settings(sharedGateway=True),
        "agent moved": lambda: stage.operate("POST", f"/agents/{agent}/use-shared", {"name": "pool"}),
    }
    try:
        case = Case(key, agent, page)
        answer = _fly(stage, case, path, Ask(), READ_HOLDS[hold], makes[change])
        assert answer.status in AWAY and not found_in(answer.body, WORDS), answer
    finally:
        if change == "agent moved":
            stage.operate("POST", f"/agents/{agent}/use-own")
        stage.configure()
