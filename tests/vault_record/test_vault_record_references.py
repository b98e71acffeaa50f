"""What can be told only with all records of a partition at hand."""

from __future__ import annotations

from typing import Any

import pytest

from lorebank.access.audience import PRIVATE, Partition
from lorebank.vaults.record.descriptors import is_descriptor_path, parse_descriptor
from lorebank.vaults.record.parse import parse_record
from lorebank.vaults.record.references import check_references
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.record.stored import dump_findings, dump_record, load_findings, load_record
from lorebank.vaults.record.values import Finding, Record
from vault_kit.memory_vault import MemoryVault, record_bytes

SESSION = Partition("33333333-3333-4333-8333-333333333333")


def record(path: str, body: str = "x", **meta: Any) -> Record:
    found = parse_record(path, record_bytes(body, **meta), PRIVATE, SHIPPED).record
    assert found is not None
    return found


def page(id: str, type: str = "person", **meta: Any) -> Record:
    return record(f"pages/{id}.md", id=id, type=type, **meta)


def claim(id: str = "c", **meta: Any) -> Record:
    meta = {"claim_kind": "fact", "evidence": [{"source": "s"}]} | meta
    return record(f"claims/{id}.md", id=id, kind="claim", **meta)


def relationship(**meta: Any) -> Record:
    meta = {"relation": "works_at", "from": "anna", "to": "acme", "evidence": [{"source": "s"}]} | meta
    return record("relationships/r.md", id="r", kind="relationship", **meta)


WORLD = (page("anna"), page("acme", "company"), page("book", "source"), claim("other"))


@pytest.mark.parametrize(
    ("one", "rule"),
    [
        (claim(entities=["nobody"]), "reference.entity"),
        (claim(entities=["anna", "book"]), "reference.entity"),
        (claim(entities=["other"]), "reference.entity"),
        (claim(source_page="nothing"), "reference.source_page"),
        (claim(source_page="other"), "reference.source_page"),
        (claim(dependencies=["nothing"]), "reference.dependency"),
        (claim(replaced_by="nothing"), "reference.replaced_by"),
        (claim(replaced_by="c"), "reference.replaced_by"),
        (claim(evidence=[{"source": "s"}, {"source": "lost"}]), "reference.evidence"),
        (page("p", "project", fields={"owner": "nobody"}), "reference.field"),
        (page("p", "project", fields={"owner": "other"}), "reference.field"),
        (relationship(to="nothing"), "reference.end"),
        (relationship(to="other"), "reference.end"),
        (relationship(to="anna"), "reference.end_type"),
        (relationship(**{"from": "acme"}), "reference.end_type"),
        (relationship(evidence=[{"source": "lost"}]), "reference.evidence"),
    ],
)
@pytest.mark.statement("2.1.5", "2.1.8")
def test_a_reference_to_nothing_or_to_the_wrong_thing_is_told_by_line(one: Record, rule: str) -> None:
    found = check_references([*WORLD, one], SHIPPED, {"s"})
    assert list(found) == [one.path]
    assert [finding.rule for finding in found[one.path]] == [rule]
    assert found[one.path][0].line > 1


def test_right_references_give_no_finding() -> None:
    fine = (
        claim(
            "f", entities=["anna", "acme"], source_page="book", dependencies=["other"], replaced_by="other"
        ),
        page("p", "project", fields={"owner": "anna"}),
        relationship(),
        relationship(relation="related_to", to="book"),
    )
    for one in fine:
        assert check_references([*WORLD, one], SHIPPED, {"s"}) == {}


def test_the_line_is_that_of_the_entry() -> None:
    data = record_bytes("x", kind="claim", claim_kind="fact", entities=["a", "b"], evidence=[{"source": "s"}])
    text = data.decode()
    one = parse_record("claims/c.md", data, PRIVATE, SHIPPED).record
    assert one is not None
    line = text.split("\n").index("  - b") + 1
    assert one.lines["entities.1"] == line
    slow = parse_record("c.md", text.replace("fact", "'fact'").encode(), PRIVATE, SHIPPED).record
    assert slow is not None and slow.lines == one.lines


def test_2_1_4_duplicate_ids_stay_listed_and_name_nothing() -> None:
    vault = MemoryVault()
    anna = vault.page("Anna")
    source = vault.source("Anna sings.")
    about = vault.claim("Anna sings.", source, entities=[anna])
    copy = vault.files["people/anna.md"]
    vault.put("people/anna-copy.md", copy)
    view = vault.view()
    listed = [entry.path for entry in view.entries.values() if entry.record and entry.record.id == anna]
    assert listed == ["people/anna-copy.md", "people/anna.md"]
    assert view.by_id(anna) is None
    duplicates = [one for one in view.findings if one.rule == "id.duplicate"]
    assert {one.path for one in duplicates} == set(listed)
    assert "people/anna.md" in duplicates[0].message
    claim_entry = view.by_id(about)
    assert claim_entry is not None and claim_entry.record is not None and not claim_entry.record.valid
    vault.remove("people/anna-copy.md")
    assert vault.view().by_id(anna) is not None and vault.view().findings == ()


def test_1_5_47_a_reference_into_another_partition_is_like_one_to_nothing() -> None:
    private, talk = MemoryVault(), MemoryVault(SESSION)
    anna = private.page("Anna")
    source = talk.source("Anna sings.")
    for target in (anna, "no-such-id"):
        talk.files = {path: data for path, data in talk.files.items() if not path.endswith(".md")}
        talk.claim("Anna sings.", source, id="c", entities=[target])
        messages = {(one.rule, one.line, one.message) for one in talk.view().findings}
        said = f"no record of this partition has the id '{target}'; mend the id, or take it out"
        assert messages == {("reference.entity", 15, said)}


def test_records_and_findings_are_stored_and_read_back_equal() -> None:
    every = [*WORLD, relationship(), claim("z", evidence=[{"source": "s", "lines": "3-5", "quote": "é\n"}])]
    for one in every:
        assert load_record(dump_record(one)) == one
    assert load_record(dump_record(None)) is None
    findings = (Finding("a.md", 3, "rule", "Was ist’s?"),)
    assert load_findings(dump_findings(findings)) == findings


def test_2_1_9_a_descriptor_stands_beside_its_source_and_says_what_it_is() -> None:
    vault = MemoryVault()
    source = vault.source("Text.", attribution="Anna", filename="a.txt", media_type="text/plain")
    path = next(one for one in vault.files if is_descriptor_path(one))
    found = parse_descriptor(path, vault.files[path], PRIVATE)
    assert not isinstance(found, Finding)
    assert (found.id, found.attribution, found.filename, found.size) == (source, "Anna", "a.txt", 5)
    moved = parse_descriptor(
        path.replace(source, "22222222-2222-4222-8222-222222222222"), vault.files[path], PRIVATE
    )
    assert isinstance(moved, Finding) and moved.rule == "descriptor.place"
    foreign = parse_descriptor(path, vault.files[path], SESSION)
    assert isinstance(foreign, Finding) and foreign.rule == "descriptor.form"
    assert isinstance(parse_descriptor(path, b"{}", PRIVATE), Finding)
