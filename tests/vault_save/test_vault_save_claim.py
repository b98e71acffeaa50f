"""`knowledge_save_claim` and `knowledge_save_relationship`."""

from __future__ import annotations

from typing import Any

import pytest

from lorebank.access.audience import Partition
from lorebank.errors import Conflict, InvalidInput, NotFound, RevisionConflict
from lorebank.vaults.record.parse import body_of
from lorebank.vaults.record.values import Citation, Record
from lorebank.vaults.tools import save_claim, save_relationship
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.save_claim import SaveClaim
from lorebank.vaults.tools.save_relationship import SaveRelationship
from vault_kit.memory_vault import MemoryVault, record_bytes

TEXT = "Anna joined Acme in 2024.\nShe leads the kitchen.\nBen left.\n"


class World:
    """Anna, Acme, a source about them, and the tools."""

    def __init__(self, partition: Partition | None = None) -> None:
        self.vault = MemoryVault() if partition is None else MemoryVault(partition)
        self.anna = self.vault.page("Anna")
        self.acme = self.vault.page("Acme", "company")
        self.source = self.vault.source(TEXT, attribution="The diary")
        self.cited = (CitationInput(self.source, "1-2", "She leads"),)

    def claim(self, **more: Any) -> dict[str, Any]:
        given = {} if "id" in more else {"text": "Anna leads the kitchen.", "evidence": self.cited}
        return save_claim.run(self.vault, SaveClaim(**(given | more)), self.vault.clock)

    def relate(self, **more: Any) -> dict[str, Any]:
        ends = {"relation": "works_at", "source": self.anna, "target": self.acme, "evidence": self.cited}
        given: dict[str, Any] = {} if "id" in more else ends
        return save_relationship.run(self.vault, SaveRelationship(**(given | more)), self.vault.clock)

    def shown(self, record_id: str) -> Record:
        entry = self.vault.view().by_id(record_id)
        assert entry is not None and entry.record is not None
        return entry.record

    def body(self, answer: dict[str, Any]) -> str:
        return body_of(self.vault.files[answer["path"]])


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.statement("2.1.7", "2.1.9")
def test_a_claim_is_saved_with_its_citations(world: World) -> None:
    more = (CitationInput(world.source, 3, attribution="Ben himself"), CitationInput(world.source))
    answer = world.claim(evidence=(*world.cited, *more), entities=[world.anna], claim_kind="belief")
    record = world.shown(answer["id"])
    assert record.valid and record.entities == (world.anna,)
    assert record.evidence == (
        Citation(world.source, (1, 2), "She leads"),
        Citation(world.source, (3, 3), None, "Ben himself"),
        Citation(world.source),
    )
    assert "remembered" not in record.meta and answer["findings"] == []
    assert world.body(answer) == "Anna leads the kitchen."


@pytest.mark.parametrize(
    "wrong",
    [
        {"lines": "4-5"},
        {"quote": "She leads the garden"},
        {"quote": "Ben left", "lines": "1-2"},
        {"source": "no-such-source"},
        {"lines": "x"},
    ],
)
def test_a_citation_that_does_not_hold_is_refused(world: World, wrong: dict[str, Any]) -> None:
    before = dict(world.vault.files)
    with pytest.raises(InvalidInput, match=r"evidence\.1"):
        world.claim(evidence=(*world.cited, CitationInput(**({"source": world.source} | wrong))))
    assert world.vault.files == before


def test_2_1_7_a_claim_without_evidence_is_refused(world: World) -> None:
    for evidence in (None, ()):
        with pytest.raises(InvalidInput, match="evidence"):
            world.claim(evidence=evidence)
    claim = world.claim()
    with pytest.raises(InvalidInput, match="evidence"):
        world.claim(id=claim["id"], evidence=())


def test_another_text_needs_the_revision_and_other_changes_do_not(world: World) -> None:
    claim = world.claim()
    with pytest.raises(InvalidInput, match="expectedRevision is needed"):
        world.claim(id=claim["id"], text="Anna rests.")
    assert world.claim(id=claim["id"], entities=[world.anna])["revision"] == 2
    with pytest.raises(RevisionConflict) as raised:
        world.claim(id=claim["id"], text="Anna rests.", expected_revision=1)
    sides: Any = raised.value.sides
    assert sides["current"]["revision"] == 2 and world.anna in sides["current"]["content"]
    assert sides["yours"]["changes"] == {"text": "Anna rests."}
    answer = world.claim(id=claim["id"], text="Anna rests.", expected_revision=2)
    assert world.body(answer) == "Anna rests." and world.shown(claim["id"]).title == "Anna rests."


@pytest.mark.parametrize("lifecycle", ["superseded", "withdrawn", "merged"])
def test_a_claim_is_taken_out_of_use_with_a_reason(world: World, lifecycle: str) -> None:
    old, new = world.claim(), world.claim(text="Anna rests.")
    answer = world.claim(id=old["id"], lifecycle=lifecycle, replaced_by=new["id"], reason="said anew")
    record = world.shown(old["id"])
    assert record.lifecycle == lifecycle and record.valid and answer["revision"] == 2
    assert (record.meta["replaced_by"], record.meta["reason"]) == (new["id"], "said anew")
    assert world.body(answer) == "Anna leads the kitchen."


def test_a_claim_may_be_withdrawn_without_another_in_its_place(world: World) -> None:
    claim = world.claim()
    world.claim(id=claim["id"], lifecycle="withdrawn", reason="a joke")
    assert "replaced_by" not in world.shown(claim["id"]).meta
    world.claim(id=claim["id"], lifecycle="active")
    assert "reason" not in world.shown(claim["id"]).meta


def test_what_replaces_must_exist_be_a_claim_and_not_lead_back(world: World) -> None:
    one, two, three = world.claim(), world.claim(), world.claim()

    def replace(record_id: str, by: str) -> None:
        world.claim(id=record_id, lifecycle="superseded", replaced_by=by, reason="newer")

    for by, word in ((one["id"], "itself"), ("nobody", "no record"), (world.anna, "must name a claim")):
        with pytest.raises(InvalidInput, match=word):
            replace(one["id"], by)
    replace(one["id"], two["id"])
    replace(two["id"], three["id"])
    with pytest.raises(InvalidInput, match="leads back"):
        replace(three["id"], one["id"])


def test_links_are_checked_and_can_be_taken_out(world: World) -> None:
    book = world.vault.page("Book", "source")
    for wrong in (["nobody"], [book]):
        with pytest.raises(InvalidInput):
            world.claim(entities=wrong)
    claim = world.claim(entities=[world.anna, world.anna], source_page=book, subject_hint="cook", tags=["a"])
    assert world.shown(claim["id"]).entities == (world.anna,)
    world.claim(id=claim["id"], entities=[], source_page="", subject_hint="", tags=[], attribution="Ben")
    meta = world.shown(claim["id"]).meta
    assert not {"entities", "source_page", "subject_hint", "tags"} & meta.keys()
    assert meta["attribution"] == "Ben"


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"text": None}, "needs text and evidence"),
        ({"expected_revision": 1}, "expectedRevision"),
        ({"lifecycle": "withdrawn", "reason": "x"}, "active"),
        ({"claim_kind": "rumour"}, "claimKind"),
        ({"valid_to": "x"}, "validTo"),
    ],
)
def test_a_wrong_new_claim_is_refused_by_name(world: World, more: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        world.claim(**more)


def test_an_unknown_claim_and_one_that_stands_twice_cannot_be_changed(world: World) -> None:
    with pytest.raises(NotFound):
        world.claim(id="nobody", tags=["a"])
    claim = world.claim()
    world.vault.files["claims/copy.md"] = world.vault.files[claim["path"]]
    with pytest.raises(Conflict, match="2 files"):
        world.claim(id=claim["id"], tags=["a"])
    with pytest.raises(InvalidInput, match="nothing to change"):
        world.claim(id=world.claim(text="Other.")["id"])


def test_a_retry_of_a_change_replays(world: World) -> None:
    claim = world.claim()
    first = world.claim(id=claim["id"], tags=["a"], request_id="r")
    assert world.claim(id=claim["id"], tags=["a"], request_id="r") == first | {"replayed": True}
    assert world.shown(claim["id"]).revision == 2


@pytest.mark.parametrize("name", ["works_at", "works at", "Employed_by"])
def test_2_1_8_a_relationship_is_saved_between_two_pages(world: World, name: str) -> None:
    answer = world.relate(relation=name, fields={"role": "cook", "since": 2024}, text="Since the spring.")
    record = world.shown(answer["id"])
    assert record.valid and record.title == "Anna works at Acme"
    assert answer["path"] == f"relationships/{answer['id']}.md"
    ends = {key: record.meta[key] for key in ("relation", "from", "to", "fields")}
    fields = {"role": "cook", "since": "2024"}
    assert ends == {"relation": "works_at", "from": world.anna, "to": world.acme, "fields": fields}


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"relation": "loves"}, "relation must be one of works_at"),
        ({"target": None}, "needs relation, from, to and evidence"),
        ({"evidence": None}, "needs relation, from, to and evidence"),
        ({"evidence": ()}, "evidence"),
        ({"target": "nobody"}, "no record"),
        ({"relation": "knows"}, "'to' must be a page of the type person"),
        ({"fields": {"salary": 1}}, "fields.salary is no field of works_at"),
        ({"expected_revision": 2}, "expectedRevision"),
        ({"lifecycle": "merged", "reason": "x"}, "active"),
    ],
)
def test_2_1_8_a_wrong_relationship_is_refused_by_name(world: World, more: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        world.relate(**more)


def test_a_relationship_is_changed_against_its_revision(world: World) -> None:
    one, two = world.relate(), world.relate(fields={"role": "cook"})
    other = world.vault.page("Other", "company")
    with pytest.raises(InvalidInput, match="expectedRevision is needed"):
        world.relate(id=one["id"], target=other)
    assert world.relate(id=one["id"], target=other, expected_revision=1)["revision"] == 2
    world.relate(id=two["id"], fields={"role": None}, valid_to="2025")
    assert "fields" not in world.shown(two["id"]).meta
    world.relate(id=two["id"], lifecycle="superseded", replaced_by=one["id"], reason="moved on")
    assert world.shown(two["id"]).lifecycle == "superseded"
    with pytest.raises(RevisionConflict):
        world.relate(id=one["id"], relation="member_of", expected_revision=1)
    with pytest.raises(InvalidInput, match="nothing to change"):
        world.relate(id=one["id"])


def test_relations_of_the_private_ontology_hold_in_the_private_partition_only() -> None:
    for partition, allowed in ((None, True), (Partition("33333333-3333-4333-8333-333333333333"), False)):
        world = World(partition)
        world.vault.files["ontology.yaml"] = b"relations:\n  feeds: {from: [person], to: [company]}\n"
        if allowed:
            assert world.shown(world.relate(relation="feeds")["id"]).valid
        else:
            with pytest.raises(InvalidInput, match="relation must be one of"):
                world.relate(relation="feeds")


def test_1_5_50_a_save_never_relabels_a_record_of_another_scope(world: World) -> None:
    foreign = record_bytes(
        "x",
        Partition("33333333-3333-4333-8333-333333333333"),
        id="f",
        kind="claim",
        claim_kind="fact",
        evidence=[{"source": world.source}],
    )
    world.vault.files["claims/f.md"] = foreign
    with pytest.raises(NotFound):
        world.claim(id="f", tags=["a"])
    assert world.vault.files["claims/f.md"] == foreign
