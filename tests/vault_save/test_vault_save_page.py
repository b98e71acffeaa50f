"""`knowledge_save_page`: pages that agents make and change, beside people who edit them."""

from __future__ import annotations

from typing import Any

import pytest

from lorebank.access.audience import Partition
from lorebank.errors import InvalidInput, NotFound, RevisionConflict
from lorebank.vaults.record.parse import body_of
from lorebank.vaults.record.values import Record
from lorebank.vaults.tools.save_page import SavePage, SectionChange, run
from vault_kit.memory_vault import MemoryVault, record_bytes


def save(vault: MemoryVault, **more: Any) -> dict[str, Any]:
    return run(vault, SavePage(**more), vault.clock)


def new(vault: MemoryVault, title: str = "Anna Berg", **more: Any) -> dict[str, Any]:
    return save(vault, **({"title": title, "type": "person"} | more))


def shown(vault: MemoryVault, record_id: str) -> Record:
    entry = vault.view().by_id(record_id)
    assert entry is not None and entry.record is not None
    return entry.record


def test_2_1_6_a_new_page_goes_into_the_folder_of_its_type() -> None:
    vault = MemoryVault()
    answer = new(
        vault,
        type="Project",
        title="Müllers Garten!",
        fields={"status": "active", "started": 2026},
        aliases=["Garten", "Garten"],
        tags=["home"],
        body="# State\nGood.",
    )
    assert answer["path"] == "projects/müllers-garten.md" and answer["revision"] == 1
    record = shown(vault, answer["id"])
    assert record.valid and record.type == "project"
    assert record.meta["fields"] == {"status": "active", "started": "2026"}
    assert (record.aliases, record.tags) == (("Garten",), ("home",))
    assert body_of(vault.files[answer["path"]]) == "# State\nGood."


def test_the_same_name_twice_gives_two_files_and_a_note() -> None:
    vault = MemoryVault()
    first, second = new(vault), new(vault, title="ANNA BERG")
    assert first["findings"] == []
    assert second["path"] == f"people/anna-berg-{second['id'][:8]}.md"
    assert [one["rule"] for one in second["findings"]] == ["page.same_name"]
    assert first["id"] in second["findings"][0]["message"]


def test_2_1_3_a_new_title_does_not_move_the_file() -> None:
    vault = MemoryVault()
    first = new(vault)
    answer = save(vault, id=first["id"], expected_revision=1, title="Anna Sommer", aliases=["Anna Berg"])
    assert answer["path"] == first["path"] and answer["revision"] == 2
    assert shown(vault, first["id"]).title == "Anna Sommer"


def test_2_1_3_unknown_frontmatter_and_comments_survive_byte_for_byte() -> None:
    vault = MemoryVault()
    data = record_bytes("# State\n\nOld.\n\n# Log\n\n- x", id="p", type="person", title="Anna").decode()
    data = data.replace("lifecycle: active\n", "lifecycle: active\n# mine\nshoe-size:   '43'  # EU\n")
    vault.put("people/anna.md", data.encode())
    save(
        vault, id="p", expected_revision=1, fields={"email": "a@b.c"}, section=SectionChange("State", "New.")
    )
    expected = data.replace("revision: 1", "revision: 2").replace("Old.", "New.")
    after = vault.files["people/anna.md"].decode()
    stamp = shown(vault, "p").updated_at
    expected = expected.replace("updated_at: 2026-11-01T08:00:00Z", f"updated_at: {stamp}")
    assert after == expected.replace("\n---\n\n#", "\nfields:\n  email: a@b.c\n---\n\n#")


def test_fields_are_set_and_taken_out_one_by_one() -> None:
    vault = MemoryVault()
    page = new(vault, fields={"email": "a@b.c", "role": "baker"})
    save(vault, id=page["id"], expected_revision=1, fields={"role": None, "phone": "1"})
    assert shown(vault, page["id"]).meta["fields"] == {"email": "a@b.c", "phone": "1"}
    save(vault, id=page["id"], expected_revision=2, fields={"email": None, "phone": None}, tags=[])
    assert "fields" not in shown(vault, page["id"]).meta


def test_a_page_of_another_revision_shows_both_sides() -> None:
    vault = MemoryVault()
    page = new(vault, body="One.")
    save(vault, id=page["id"], expected_revision=1, body="Two.")
    before = dict(vault.files)
    with pytest.raises(RevisionConflict) as raised:
        save(vault, id=page["id"], expected_revision=1, body="Mine.", title="My Anna")
    sides: Any = raised.value.sides
    assert sides["current"]["revision"] == 2 and "Two." in sides["current"]["content"]
    assert sides["yours"] == {"expectedRevision": 1, "changes": {"title": "My Anna", "body": "Mine."}}
    assert vault.files == before


@pytest.mark.statement("1.7.65")
def test_an_edit_from_outside_counts_as_a_revision() -> None:
    vault = MemoryVault()
    page = new(vault, body="One.")
    vault.view()
    edited = vault.files[page["path"]].replace(b"One.", b"By hand.")
    vault.put(page["path"], edited)
    with pytest.raises(RevisionConflict) as raised:
        save(vault, id=page["id"], expected_revision=1, body="Mine.")
    sides: Any = raised.value.sides
    assert sides["current"]["revision"] == 2 and "By hand." in sides["current"]["content"]
    assert save(vault, id=page["id"], expected_revision=2, tags=["x"])["revision"] == 3
    assert b"By hand." in vault.files[page["path"]]


def test_a_person_who_saves_in_the_last_moment_is_not_overwritten() -> None:
    vault = MemoryVault()
    page = new(vault, body="One.")
    vault.view()

    def meanwhile() -> None:
        vault.files[page["path"]] = vault.files[page["path"]].replace(b"One.", b"By hand.")

    vault.before_publish = meanwhile
    with pytest.raises(RevisionConflict):
        save(vault, id=page["id"], expected_revision=1, body="Mine.")
    assert b"By hand." in vault.files[page["path"]]


def test_a_changed_section_needs_to_be_the_only_one_with_its_heading() -> None:
    vault = MemoryVault()
    page = new(vault, body="# A\n\n## X\n\n1\n\n# B\n\n## X\n\n2")
    with pytest.raises(InvalidInput, match="B > X"):
        save(vault, id=page["id"], expected_revision=1, section=SectionChange("X", "3"))
    save(vault, id=page["id"], expected_revision=1, section=SectionChange(("B", "X"), "3"))
    assert body_of(vault.files[page["path"]]) == "# A\n\n## X\n\n1\n\n# B\n\n## X\n\n3"


def test_a_page_is_merged_into_another_one_with_a_reason() -> None:
    vault = MemoryVault()
    one, two = new(vault), new(vault, "Anna B.")
    merged = {"lifecycle": "merged", "reason": "the same person"}
    save(vault, id=one["id"], expected_revision=1, replaced_by=two["id"], **merged)
    record = shown(vault, one["id"])
    assert (record.lifecycle, record.meta["replaced_by"]) == ("merged", two["id"])
    with pytest.raises(InvalidInput, match="leads back"):
        save(vault, id=two["id"], expected_revision=1, replaced_by=one["id"], **merged)
    save(vault, id=one["id"], expected_revision=2, lifecycle="active")
    assert "replaced_by" not in shown(vault, one["id"]).meta


def test_what_was_wrong_before_is_answered_and_does_not_stand_in_the_way() -> None:
    vault = MemoryVault()
    vault.put("people/x.md", record_bytes(id="p", type="person", title="X", dependencies=["lost"]))
    answer = save(vault, id="p", expected_revision=1, tags=["a"])
    assert [one["rule"] for one in answer["findings"]] == ["reference.dependency"]
    with pytest.raises(InvalidInput, match="no record"):
        save(vault, id="p", expected_revision=2, type="project", fields={"owner": "nobody"})


def test_1_5_47_a_page_of_another_partition_cannot_be_changed() -> None:
    private = MemoryVault()
    talk = MemoryVault(Partition("33333333-3333-4333-8333-333333333333"))
    page = new(private)
    messages = []
    for record_id in (page["id"], "no-such-id"):
        with pytest.raises(NotFound) as raised:
            save(talk, id=record_id, expected_revision=1, body="x")
        messages.append(raised.value.message)
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"title": None}, "title and type"),
        ({"type": None}, "title and type"),
        ({"type": "unicorn"}, "type must be one of person"),
        ({"title": "  "}, "title"),
        ({"fields": {"shoe": "43"}}, "fields.shoe is no field of person"),
        ({"type": "project", "fields": {"status": "done"}}, "active, paused"),
        ({"type": "project", "fields": {"owner": "nobody"}}, "no record"),
        ({"dependencies": ["nobody"]}, "no record"),
        ({"aliases": ["a\nb" * 300]}, "aliases.0"),
        ({"tags": ["x"] * 201}, "200"),
        ({"body": "x" * 1_000_001}, "1,000,000"),
        ({"body": "\x07"}, "control"),
        ({"expected_revision": 1}, "expectedRevision"),
        ({"section": SectionChange("A", "b")}, "section"),
        ({"lifecycle": "withdrawn", "reason": "x"}, "active"),
        ({"body": "x", "section": SectionChange("A", "b")}, "not both"),
    ],
)
def test_a_wrong_new_page_is_refused_by_name(more: dict[str, Any], word: str) -> None:
    vault = MemoryVault()
    with pytest.raises(InvalidInput, match=word):
        new(vault, **({"title": "A", "type": "person"} | more))
    assert vault.files == {}


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({}, "nothing to change"),
        ({"body": "x", "expected_revision": None}, "expectedRevision is needed"),
        ({"reason": "x"}, "lifecycle"),
        ({"lifecycle": "merged", "reason": "x"}, "replacedBy is needed"),
        ({"lifecycle": "withdrawn"}, "reason is needed"),
        ({"lifecycle": "merged", "reason": "x", "replaced_by": "nobody"}, "no record"),
        ({"lifecycle": "candidate"}, "lifecycle must be one of"),
    ],
)
def test_a_wrong_change_is_refused_by_name(more: dict[str, Any], word: str) -> None:
    vault = MemoryVault()
    page = new(vault)
    before = dict(vault.files)
    with pytest.raises(InvalidInput, match=word):
        save(vault, **({"id": page["id"], "expected_revision": 1} | more))
    assert vault.files == before


def test_a_claim_is_not_changed_as_a_page() -> None:
    vault = MemoryVault()
    claim = vault.claim("x", vault.source("x"))
    with pytest.raises(InvalidInput, match="claim"):
        save(vault, id=claim, expected_revision=1, body="x")
