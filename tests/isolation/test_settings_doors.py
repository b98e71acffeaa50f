"""Settings of a bank are changed only by who may change them, by whichever route."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from access_admin import statement
from access_world import World
from live_server import Client, File, bank_path

BANK = "annex"
PROFILE: dict[str, Any] = {"name": "Annex", "mission": "Keep the lamps.", "disposition_empathy": 4}
SETTINGS: dict[str, Any] = {"retain_chunk_size": 900}
DOORS: tuple[tuple[str, str, Any], ...] = (
    ("PUT", "", SETTINGS),
    ("PATCH", "", SETTINGS),
    ("PATCH", "/config", {"updates": SETTINGS}),
    ("DELETE", "/config", None),
    ("POST", "/import", {"version": "1", "bank": SETTINGS}),
)


@pytest.fixture
def annex(world: World) -> Iterator[Client]:
    """Root, and a bank with a setting of its own."""
    world.root.request("PUT", bank_path(BANK), {"name": "Old", "retain_chunk_size": 800}).ok()
    yield world.root
    world.root.request("DELETE", bank_path(BANK))


def state_of(root: Client) -> list[Any]:
    return [root.request("GET", bank_path(BANK, rest)).ok() for rest in ("/profile", "/config")]


def test_a_deny_of_changing_settings_holds_at_every_door(world: World, annex: Client) -> None:
    deny = statement("bank:config:update", banks=(BANK,), effect="deny")
    client = world.server.client(world.admin.user("stayer", statement("bank:*", banks=(BANK,)), deny))
    before = state_of(annex)
    for method, rest, body in DOORS:
        answer = client.request(method, bank_path(BANK, rest), body)
        assert answer.status == 403, (method, rest, answer)
        assert answer.json() == {"detail": "bank:config:update denied"}
        assert state_of(annex) == before, (method, rest)


def test_who_makes_banks_changes_none_that_is_there(world: World, annex: Client) -> None:
    key = world.admin.user("founder", statement("bank:create"))
    client = world.server.client(key)
    before = state_of(annex)
    for body in (PROFILE, SETTINGS, {**PROFILE, **SETTINGS}):
        answer = client.request("PUT", bank_path(BANK), body)
        assert answer.status == 403 and answer.json() == {"detail": "bank:update denied"}, answer
    assert state_of(annex) == before
    client.request("PUT", bank_path(BANK), {}).ok()
    client.request("PUT", bank_path(BANK), {"name": "Old", "retain_chunk_size": 800}).ok()
    assert state_of(annex) == before, "who asks for what is there already is told that it is"


def test_who_makes_a_bank_sets_it_up(world: World) -> None:
    client = world.server.client(world.admin.user("builder", statement("bank:create")))
    client.request("PUT", bank_path("outhouse"), {**PROFILE, **SETTINGS}).ok()
    made = world.root.request("GET", bank_path("outhouse", "/config")).ok()
    assert made["overrides"]["retain_chunk_size"] == 900
    world.root.request("DELETE", bank_path("outhouse")).ok()


def test_a_profile_is_changed_by_who_may_and_its_settings_not(world: World, annex: Client) -> None:
    client = world.server.client(world.admin.user("painter", statement("bank:update", banks=(BANK,))))
    assert client.request("PATCH", bank_path(BANK), PROFILE).ok()["name"] == "Annex"
    before = state_of(annex)
    assert client.request("PATCH", bank_path(BANK), {**PROFILE, **SETTINGS}).status == 403
    assert state_of(annex) == before


def test_an_archive_overwrites_no_settings_that_one_may_not_change(world: World, annex: Client) -> None:
    """The bank is there, with settings and without memories: an archive may be restored into it."""
    annex.request("PUT", bank_path("elsewhere"), {"name": "New", "retain_chunk_size": 700}).ok()
    archive = annex.exported("elsewhere")
    denied = statement("bank:config:update", "bank:update", banks=(BANK,), effect="deny")
    clerk = world.server.client(world.admin.user("clerk", statement("bank:*", banks=(BANK,)), denied))
    query = {"mode": "restore", "target_bank_id": BANK}
    where, before = bank_path(BANK, "/transfer/import"), state_of(annex)
    files = [File("file", "a.zip", archive, "application/zip")]
    clerk.request("POST", where, query=query, files=files).ok()
    annex.settled()
    assert state_of(annex) == before
    annex.request("POST", where, query=query, files=files).ok()
    annex.settled()
    assert state_of(annex) != before, "or nothing was tried"
    annex.request("DELETE", bank_path("elsewhere")).ok()
