"""Ways around the front door: other names, targets, copies, retries, resolved entities, reused ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from access_admin import statement
from access_world import World, ask_of
from live_server import Client, File, bank_path
from planted import HIDDEN, OPEN, VISIBLE, Planted, plant, shown, state_of
from test_single_rights import RAW
from wire_walk import path_of, send

from lorebank.http.routes.all import BINDINGS
from lorebank.service.table import OPERATIONS

BANK, OWN = "manor", "cabin"


@pytest.fixture(scope="module")
def planted(world: World) -> Iterator[Planted]:
    yield plant(world.root, BANK)
    world.root.request("DELETE", bank_path(BANK))


@pytest.fixture(scope="module")
def neighbour(world: World, planted: Planted) -> Iterator[Client]:
    """Somebody who may do everything with a bank of his own, and nothing with the planted one."""
    client = world.server.client(world.admin.user("neighbour", statement("bank:*", banks=(OWN, "alcove"))))
    client.retain(OWN, {"content": "Jonas keeps a lamp.", "document_id": "open-doc"})
    yield client
    for bank in (OWN, "alcove"):
        world.root.request("DELETE", bank_path(bank))


def test_another_name_of_a_bank_is_no_other_bank(world: World, neighbour: Client) -> None:
    """Rights are decided on the bank, not on the name by which it is asked for."""
    world.root.request("POST", bank_path(BANK, "/aliases"), {"alias": "alcove"}).ok()
    answer = neighbour.request("GET", bank_path("alcove", "/memories/list"))
    assert answer.status == 403 and not shown(answer.body, (*VISIBLE, *HIDDEN))
    assert neighbour.request("DELETE", bank_path("alcove")).status == 403
    assert world.root.request("GET", bank_path(BANK, "/profile")).status == 200
    world.root.request("DELETE", bank_path(BANK, "/aliases/alcove")).ok()


def test_a_name_cannot_be_taken_by_who_may_not_use_it(world: World, neighbour: Client) -> None:
    """Otherwise whoever stores under a name would store in the bank of the first who claimed it."""
    answer = neighbour.request("POST", bank_path(OWN, "/aliases"), {"alias": "manor-of-others"})
    assert answer.status == 403, answer
    taken = neighbour.request("POST", bank_path(OWN, "/aliases"), {"alias": BANK})
    assert taken.status == 403 and taken.body == answer.body, "nor is told which names are in use"


def test_settings_of_a_bank_do_not_imply_making_one(world: World) -> None:
    key = world.admin.user("tuner", statement("bank:config:update", banks=("workshop",)))
    client = world.server.client(key)
    for method, rest, body in (("PATCH", "/config", {"updates": {}}), ("POST", "/import", {"version": "1"})):
        answer = client.request(method, bank_path("workshop", rest), body)
        assert (answer.status, answer.body) == (403, b'{"detail":"bank:create denied"}')
    assert world.root.request("GET", bank_path("workshop", "/profile")).status == 404


def test_no_target_outside_of_ones_rights_is_written(
    world: World, planted: Planted, neighbour: Client
) -> None:
    before = state_of(world.root, BANK, ("open-doc", "shut-doc"))
    archive = neighbour.exported(OWN)
    asked: list[tuple[str, dict[str, str], bool]] = [
        ("/clone", {"target_bank_id": BANK}, False),
        ("/clone", {"target_bank_id": "nobodys-bank"}, False),
        ("/transfer/import", {"mode": "merge", "target_bank_id": BANK}, True),
        ("/transfer/import", {"mode": "restore", "target_bank_id": BANK}, True),
        ("/transfer/import", {"mode": "restore", "target_bank_id": "nobodys-bank"}, True),
    ]
    bodies = set()
    for rest, query, with_file in asked:
        files = [File("file", "a.zip", archive, "application/zip")] if with_file else None
        answer = neighbour.request("POST", bank_path(OWN, rest), query=query, files=files)
        assert answer.status == 403, (rest, query, answer)
        bodies.add(answer.body)
    assert bodies == {b'{"detail":"bank:import denied"}'}
    assert state_of(world.root, BANK, ("open-doc", "shut-doc")) == before
    assert world.root.request("GET", bank_path("nobodys-bank", "/profile")).status == 404


def test_an_archive_of_another_bank_is_restored_only_by_who_may(
    world: World, planted: Planted, neighbour: Client
) -> None:
    """Without a target the archive itself names one."""
    files = [File("file", "a.zip", planted.open.archive, "application/zip")]
    answer = neighbour.request("POST", bank_path(OWN, "/transfer/import"), files=files)
    assert answer.status == 403, answer


def test_the_id_of_anothers_operation_tells_nothing(
    world: World, planted: Planted, neighbour: Client
) -> None:
    writer = world.server.client(world.admin.user("scribbler", statement("bank:retain", banks=(BANK,))))
    item = {"content": "Nothing.", "document_id": "scribble"}
    body = {"items": [item], "async": True, "operation_id": planted.open.operation_id}
    answer = writer.request("POST", bank_path(BANK, "/memories"), body)
    assert answer.status in (400, 409, 422), answer
    assert not shown(answer.body, (*VISIBLE, *HIDDEN)) and b"export" not in answer.body


def test_names_that_are_known_to_a_bank_are_not_told_to_who_only_writes(
    world: World, planted: Planted
) -> None:
    """A dry run finds what is in the text, not what the bank knows beside it."""
    writer = world.server.client(world.admin.user("drafter", statement("bank:retain", banks=(BANK,))))
    for text in ("Jonas saw the Boathouse and the Cottage.", f"Jonas knows Boathouse {HIDDEN[0]}."):
        answer = writer.request("POST", bank_path(BANK, "/memories/dry-run-extract"), {"content": text})
        words = [word for word in (*VISIBLE, *HIDDEN) if word not in text]
        assert answer.status == 200 and not shown(answer.body, words), answer
        given = {"content": text, "document_id": "draft", "entities": [{"text": "Boathouse"}]}
        stored = writer.retain(BANK, given)
        assert not shown(repr(stored).encode(), words)


def test_hidden_names_do_not_come_back_with_what_one_stores(world: World, planted: Planted) -> None:
    """Entities of new text are matched with those of the bank; a hidden one's name stays hidden."""
    mine = statement("bank:*", banks=(BANK,), recall_tag_groups=OPEN, retain_tags=["open"])
    client = world.server.client(world.admin.user("namer", mine))
    nearly = f"Boathouse {HIDDEN[0][:-1]}"
    items: list[dict[str, Any]] = [
        {"content": "Jonas saw the Boathouse.", "entities": [{"text": "Boathouse"}]},
        {"content": f"Jonas saw {nearly}.", "entities": [{"text": nearly}]},
        {"content": "Jonas wrote to Mara Holm.", "entities": [{"text": "Mara"}]},
    ]
    for number, item in enumerate(items):
        client.retain(BANK, {**item, "document_id": f"named-{number}"})
    for rest in ("/memories/list", "/entities", "/entities/graph", "/graph", "/tags"):
        answer = client.request("GET", bank_path(BANK, rest), query={"limit": 500})
        assert not shown(answer.body, HIDDEN), rest
    body = {"query": "Who saw the Boathouse?", "include": {"entities": {}, "chunks": {}}, "trace": True}
    assert not shown(client.request("POST", bank_path(BANK, "/memories/recall"), body).body, HIDDEN)


@pytest.mark.parametrize("action", sorted(RAW))
def test_an_account_sees_no_more_than_its_filtered_owner(world: World, planted: Planted, action: str) -> None:
    """The owner's filter stands beside recall only; the account's scope leaves recall out."""
    admin, name = world.admin, action.replace(":", "-")
    admin.user(
        f"owner-{name}",
        statement("bank:recall", banks=(BANK,), recall_tag_groups=OPEN),
        statement("bank:*", banks=(BANK,)),
    )
    admin.policy(f"scope-{name}", statement(action))
    client = world.server.client(admin.account(f"robot-{name}", f"owner-{name}", f"scope-{name}"))
    for binding in BINDINGS:
        if OPERATIONS[binding.operation].action == action:
            for names in (planted.open, planted.hidden):
                ask = ask_of(binding.operation, names)
                status, told = send(client, binding, path_of(binding, names), ask)
                assert status < 500 and status not in (401, 403), (binding.operation, told[:300])
                assert not shown(told, HIDDEN), binding.operation


def test_a_denied_recall_does_not_lift_the_filter(world: World, planted: Planted) -> None:
    """Whoever loses recall must not see more of the rest than before."""
    key = world.admin.user(
        "dismissed",
        statement("bank:recall", banks=(BANK,), recall_tag_groups=OPEN),
        statement("bank:export", banks=(BANK,)),
        statement("bank:recall", banks=(BANK,), effect="deny"),
    )
    client = world.server.client(key)
    url = f"/v1/default/files/download/{planted.open.file_key}"
    assert not shown(client.request("GET", url).body, HIDDEN)


def test_a_new_user_of_an_old_name_inherits_nothing(world: World, planted: Planted) -> None:
    admin = world.admin
    old = admin.user("namesake", statement("bank:recall", banks=(BANK,)))
    admin.group("namesakes", statement("bank:recall", banks=(BANK,)))
    admin.add_member("namesakes", "namesake")
    robot = admin.account("namesake-robot", "namesake")
    admin.send("DELETE", "/users/namesake")
    fresh = admin.user("namesake")
    for key, status in ((old, 401), (robot, 401), (fresh, 403)):
        answer = world.server.client(key).request("GET", bank_path(BANK, "/memories/list"))
        assert answer.status == status, answer
