"""The tools that write over a store with all its real parts: files, database, git."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lorebank import clock
from lorebank.errors import Forbidden, RevisionConflict, WritesDisabled
from lorebank.vaults.store.values import VaultHandle
from lorebank.vaults.tools import remember, save_claim, save_page, save_relationship
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.remember import Remember
from lorebank.vaults.tools.save_claim import SaveClaim
from lorebank.vaults.tools.save_page import SavePage, SectionChange
from lorebank.vaults.tools.save_relationship import SaveRelationship
from vault_store.store_world import group, world


def page(handle: VaultHandle, **more: Any) -> dict[str, Any]:
    return save_page.run(handle, SavePage(**more), clock.now)


def keep(handle: VaultHandle, text: str, **more: Any) -> dict[str, Any]:
    return remember.run(handle, Remember(text, **more), clock.now)


@pytest.mark.statement("2.1.1", "2.1.7", "2.1.8", "2.1.10")
def test_all_four_tools_write_records_that_are_read_back_valid(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        anna = page(handle, title="Anna", type="person", body="# State\n\nNew here.")
        acme = page(handle, title="Acme", type="company")
        first = keep(handle, "Anna works at Acme.", subject="anna", request_id="r-1")
        cited = (CitationInput(first["source"], quote="works at Acme"),)
        claim = save_claim.run(handle, SaveClaim(text="Acme employs Anna.", evidence=cited), clock.now)
        ends = SaveRelationship(relation="works_at", source=anna["id"], target=acme["id"], evidence=cited)
        relation = save_relationship.run(handle, ends, clock.now)
        retired = SaveClaim(
            id=claim["id"], lifecycle="superseded", replaced_by=first["id"], reason="the same"
        )
        save_claim.run(handle, retired, clock.now)
        assert keep(handle, "Anna works at Acme.", subject="anna", request_id="r-1") == first | {
            "replayed": True
        }
        with handle.reading() as view:
            shown = [view.by_id(one["id"]) for one in (anna, acme, first, claim, relation)]
            assert all(one is not None and one.record is not None and one.record.valid for one in shown)
            assert list(view.findings) == []
            assert len(view.descriptors) == 1
        rows = handle.history(claim["id"], before=None, limit=10)
        assert [row.revision for row in rows] == [2, 1]


def test_a_person_and_an_agent_edit_the_same_page(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        made = page(handle, title="Anna", type="person", body="# State\n\nNew.\n\n# Log\n\n- one")
        path = stores.private() / made["path"]
        path.write_text(path.read_text().replace("- one", "- one\n- by hand"))
        section = SectionChange("State", "Settled.")
        with pytest.raises(RevisionConflict) as raised:
            page(handle, id=made["id"], expected_revision=1, section=section)
        sides: Any = raised.value.sides
        assert "by hand" in sides["current"]["content"]
        after = page(handle, id=made["id"], expected_revision=sides["current"]["revision"], section=section)
        text = path.read_text()
        assert "Settled." in text and "- by hand" in text and f"revision: {after['revision']}" in text


def test_a_conversation_saves_into_its_own_partition(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        anna = page(stores.open(), title="Anna", type="person")
        talk = stores.open(group())
        kept = keep(talk, "Anna sings.", subject=anna["id"])
        assert kept["subject"]["state"] == "no_page"
        folder = next(path for path in stores.store().glob("vault/conversations/*"))
        assert "visibility: conversation" in (folder / kept["path"]).read_text()
        with stores.open().reading() as view:
            assert view.by_id(kept["id"]) is None


@pytest.mark.statement("1.3.23")
def test_who_may_only_read_cannot_save(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        page(stores.open(), title="Anna", type="person")
        with pytest.raises(Forbidden):
            keep(stores.recall(), "Anna sings.")
        stores.configure("{ writesEnabled: false }")
        with pytest.raises((WritesDisabled, Forbidden)):
            keep(stores.open(), "Anna sings.")
