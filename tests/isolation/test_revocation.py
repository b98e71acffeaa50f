"""Rights that are taken away while requests are in flight: nothing is served after the acknowledgement.

Two forms. In the first, threads hammer a real server and each request that begins after the admin has
his acknowledgement must be refused. In the second an answer is made before the change and held back
until it is acknowledged: it must not be sent any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from access_admin import Admin
from access_world import World
from changes import CHANGES, Change
from held_server import WAIT_S, Held, held_server
from live_server import Answer, Client, Gone, bank_path, until
from planted import HIDDEN, VISIBLE, Planted, plant, shown

BANK = "archive"
_REFUSED = (401, 403)
_AWAY = (401, 403, 503)
"""What an answer that was made before may turn into: 503 says that the rules changed meanwhile."""
READS = ("recall_memories", "list_memories", "list_documents", "get_graph", "list_banks", "download_file")


def read(client: Client, what: str, planted: Planted) -> Answer:
    """One request that shows something of the bank."""
    match what:
        case "recall_memories":
            body = {"query": "Who keeps the keys of the heron cottage and the boathouse?"}
            return client.request("POST", bank_path(BANK, "/memories/recall"), body)
        case "list_memories":
            return client.request("GET", bank_path(BANK, "/memories/list"))
        case "list_documents":
            return client.request("GET", bank_path(BANK, "/documents"), query={"tags_match": "any"})
        case "get_graph":
            return client.request("GET", bank_path(BANK, "/graph"))
        case "list_banks":
            return client.request("GET", "/v1/default/banks")
        case _:
            return client.request("GET", f"/v1/default/files/download/{planted.open.file_key}")


def content(what: str, answer: Answer) -> bool:
    """Whether the answer shows what a reader of the whole bank may see, and a filtered one may not."""
    if what == "list_banks":
        return answer.status == 200 and BANK.encode() in answer.body
    if what == "list_documents":
        return answer.status == 200 and b"shut-doc" in answer.body
    return bool(shown(answer.body, HIDDEN))


# first form: a real server under load


@dataclass(frozen=True)
class Seen:
    """One request of a hammering thread. `began` is read before its first byte leaves."""

    began: float
    what: str
    answer: Answer


BROKEN = Answer(0, b"", {})
"""A download whose rest was withheld."""


@dataclass
class Hammer:
    """Threads that read all the time with one credential."""

    clients: list[Client]
    planted: Planted
    seen: list[Seen] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, number: int) -> None:
        while not self.stop.is_set():
            for what in READS:
                began = time.monotonic()
                try:
                    answer = read(self.clients[number], what, self.planted)
                except Gone:
                    answer = BROKEN
                self.seen.append(Seen(began, what, answer))
            self.rounds[number] += 1

    def wait_for_a_round(self) -> None:
        """Until each thread has begun and ended a whole round from now on."""
        wanted = [done + 2 for done in self.rounds]
        until(lambda: all(a >= b for a, b in zip(self.rounds, wanted, strict=True)), "a round of requests")


@pytest.fixture(scope="module")
def planted(world: World) -> Planted:
    return plant(world.root, BANK)


@pytest.mark.parametrize("name", CHANGES)
def test_no_request_after_the_acknowledgement_is_served(world: World, planted: Planted, name: str) -> None:
    change, who = CHANGES[name], f"hammer-{list(CHANGES).index(name)}"
    credential = change.prepare(world.admin, who, BANK)
    hammer = Hammer([world.server.client(credential) for _ in range(3)], planted, rounds=[0, 0, 0])
    threads = [threading.Thread(target=hammer.run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        hammer.wait_for_a_round()
        change.make(world.admin, who, BANK)
        acknowledged = time.monotonic()
        hammer.wait_for_a_round()
    finally:
        hammer.stop.set()
        for thread in threads:
            thread.join(WAIT_S)
    earlier = {one.what for one in hammer.seen if content(one.what, one.answer)}
    assert earlier == set(READS), "everything was served before the change"
    later = [one for one in hammer.seen if one.began > acknowledged]
    assert {one.what for one in later} == set(READS)
    wrong = [(one.what, one.answer.status) for one in later if not _right(change, one)]
    assert not wrong, wrong
    broken = {one.what for one in hammer.seen if one.answer is BROKEN}
    # Whose right goes between the head of his answer and its body gets no body: the connection ends.
    assert all(
        one.began <= acknowledged
        for one in hammer.seen
        if one.answer is BROKEN and one.what != "download_file"
    ), broken
    torn = [one for one in hammer.seen if one.answer.status not in (0, 200, 404, *_AWAY)]
    assert not torn, torn


def _right(change: Change, one: Seen) -> bool:
    """Whether this is what one gets after the change."""
    if change.narrows:
        fine = one.answer.status == 200 or one.what == "download_file"
        return fine and (one.what == "list_banks" or not content(one.what, one.answer))
    if one.what == "list_banks":
        return not content(one.what, one.answer)
    return one.answer.status in _REFUSED and not shown(one.answer.body, (*HIDDEN, *VISIBLE))


# second form: answers that are made, and then held back


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with held_server(tmp_path_factory.mktemp("held")) as running:
        yield running


@pytest.fixture(scope="module")
def root(held: Held) -> Iterator[Client]:
    client = Client(held.port, held.key)
    yield client
    client.close()


@pytest.fixture(scope="module")
def kept(root: Client) -> Planted:
    return plant(root, BANK)


@dataclass
class Flight:
    """One request that is under way in a thread of its own."""

    client: Client
    what: str
    planted: Planted
    answer: Answer | None = None
    broken: bool = False

    def run(self) -> None:
        try:
            self.answer = read(self.client, self.what, self.planted)
        except Gone:
            self.broken = True


def _fly(held: Held, planted: Planted, credential: str, what: str, meanwhile: Any) -> Flight:
    """Let a request get as far as a made answer, do `meanwhile`, and only then let the answer go."""
    client = Client(held.port, credential)
    flight = Flight(client, what, planted)
    held.gate.close_for(what)
    thread = threading.Thread(target=flight.run)
    thread.start()
    try:
        assert held.gate.made.wait(WAIT_S), "no answer was made"
        meanwhile()
    finally:
        held.gate.open()
        thread.join(WAIT_S)
        client.close()
    return flight


@pytest.mark.parametrize("what", READS)
def test_an_answer_that_was_held_back_is_sent_when_nothing_changed(
    held: Held, root: Client, kept: Planted, what: str
) -> None:
    flight = _fly(held, kept, held.key, what, lambda: root.get("/version"))
    assert flight.answer is not None and content(what, flight.answer)


@pytest.mark.parametrize("what", READS)
@pytest.mark.parametrize("name", CHANGES)
def test_an_answer_made_before_the_change_is_not_sent_after_it(
    held: Held, root: Client, kept: Planted, name: str, what: str
) -> None:
    change, admin = CHANGES[name], Admin(root)
    who = f"flight-{list(CHANGES).index(name)}-{READS.index(what)}"
    credential = change.prepare(admin, who, BANK)
    flight = _fly(held, kept, credential, what, lambda: change.make(admin, who, BANK))
    if what == "download_file":
        # Its head and first part were out: the rest never comes, and the client is told by the break.
        assert flight.broken and flight.answer is None
        return
    assert flight.answer is not None
    if change.narrows and what == "list_banks":
        return
    assert not content(what, flight.answer), flight.answer
    assert flight.answer.status in _AWAY or what == "list_banks", flight.answer


def test_an_unrelated_change_disturbs_nobody(held: Held, root: Client, kept: Planted) -> None:
    admin = Admin(root)
    credential = CHANGES["key deleted"].prepare(admin, "bystander", BANK)
    # A list of banks was decided bank by bank, so any change at all sends its reader to ask again.
    for number, what in enumerate(set(READS) - {"list_banks"}):
        flight = _fly(held, kept, credential, what, lambda n=number: admin.user(f"newcomer-{n}"))
        assert flight.answer is not None and content(what, flight.answer), what


def test_an_export_made_before_a_filter_does_not_show_what_it_hides(
    held: Held, root: Client, kept: Planted
) -> None:
    """The caller's own archive from before is as closed to him as the bank is."""
    admin = Admin(root)
    change = CHANGES["policy gets a filter"]
    client = Client(held.port, change.prepare(admin, "exporter", BANK))
    started = client.request("POST", bank_path(BANK, "/transfer/export")).ok()
    path = bank_path(BANK, f"/operations/{started['operation_id']}")
    done = until(lambda: _ended(root, path), "an export")
    change.make(admin, "exporter", BANK)
    answer = client.request("GET", done["result_metadata"]["download_url"])
    assert not shown(answer.body, HIDDEN)
    client.close()


def _ended(root: Client, path: str) -> Any:
    found = root.get(path)
    return found if found["status"] in ("completed", "failed") else None
