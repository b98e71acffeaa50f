"""A run of relink over a partition: candidates, order, pages, dry runs, what is published and what is not."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lorebank.access.audience import Partition
from lorebank.errors import Forbidden, InvalidInput, LorebankError, NotFound, Unavailable, WritesDisabled
from lorebank.vaults.record.edit import edit_record
from lorebank.vaults.record.parse import meta_of
from lorebank.vaults.relink.run import every_page, link_request, relink, unlinked
from lorebank.vaults.relink.values import Ask, Report
from vault_kit.memory_vault import MemoryVault


def vault_with(*texts: str, **more: Any) -> tuple[MemoryVault, str, list[str]]:
    """A vault with the page Mara Olsen and one remembered claim a text; the page's id, the claims' ids."""
    vault = MemoryVault()
    page = vault.page("Mara Olsen")
    excerpt = vault.source("What was said.", origin="knowledge_remember")
    return vault, page, [vault.claim(text, excerpt, **more) for text in texts]


def run(vault: MemoryVault, **asked: Any) -> Report:
    return relink(vault, Ask(**asked), clock=vault.clock)


def meta(vault: MemoryVault, claim: str) -> dict[str, Any]:
    return dict(meta_of(vault.files[f"claims/{claim}.md"]))


@pytest.mark.statement("4.1.9")
def test_4_1_9_a_link_is_an_entities_annotation_that_is_published_like_a_save() -> None:
    vault, page, [claim] = vault_with("Mara Olsen prefers tea.")
    report = run(vault)
    assert (report.counts["linked"], report.tiers["mention"]) == (1, 1)
    assert meta(vault, claim)["entities"] == [page]
    [row] = vault.history(claim, before=None, limit=10)
    assert (row.change, row.revision, row.agent) == ("relink", 2, "main")


@pytest.mark.statement("4.1.8", "4.1.9")
def test_4_1_8_only_the_annotation_the_revision_and_the_time_change() -> None:
    vault, page, [claim] = vault_with("Mara Olsen prefers tea.", zodiac="kept")
    path = f"claims/{claim}.md"
    vault.files[path] = vault.files[path].replace(b"zodiac:", b"# a person's note\nzodiac:  ")
    before, names = vault.files[path], set(vault.files)
    run(vault)
    after = vault.files[path]
    said = meta(vault, claim)
    assert after == edit_record(before, {key: said[key] for key in ("revision", "updated_at", "entities")})
    changed = set(after.decode().splitlines()) ^ set(before.decode().splitlines())
    assert {line.split(":")[0].strip() for line in changed} == {
        "revision",
        "updated_at",
        "entities",
        f"- {page}",
    }
    assert set(vault.files) == names


@pytest.mark.statement("4.1.1")
@pytest.mark.parametrize(
    "more",
    [
        {"lifecycle": "withdrawn"},
        {"lifecycle": "superseded"},
        {"claim_kind": "no such kind"},
        {"entities": "page"},
        {"evidence": "attached"},
    ],
    ids=str,
)
def test_4_1_1_a_claim_qualifies_only_when_all_conditions_hold(more: dict[str, Any]) -> None:
    vault, _page, _ = vault_with()
    excerpt = vault.source("What was said.", origin="knowledge_remember")
    if more.get("entities"):
        more = {"entities": [vault.page("Somebody Else")]}
    if more.get("evidence"):
        excerpt, more = vault.source("A file.", origin="knowledge_attach_file"), {}
    vault.claim("Mara Olsen prefers tea.", excerpt, **more)
    files = dict(vault.files)
    report = run(vault)
    assert (report.examined, files == vault.files) == (0, True)


def test_one_remembered_excerpt_among_others_is_enough() -> None:
    vault, page, _ = vault_with()
    cited = [{"source": vault.source(origin, origin=origin)} for origin in ("import", "knowledge_remember")]
    claim = vault.claim("Mara Olsen prefers tea.", "", evidence=cited)
    run(vault)
    assert meta(vault, claim)["entities"] == [page]


@pytest.mark.statement("4.1.2", "4.1.13", "4.1.14")
def test_4_1_2_claims_come_in_the_order_of_their_ids_page_by_page() -> None:
    vault, _, claims = vault_with(*["Somebody prefers tea."] * 23)
    seen: list[list[str]] = []
    for _ in range(2):
        found: list[str] = []
        cursor = None
        while True:
            report = run(vault, dry_run=True, limit=5, cursor=cursor)
            found += [one["claim"] for one in report.examples.get("no_subject", [])]
            cursor = report.next_cursor
            if cursor is None:
                break
        seen.append(found)
    assert seen == [sorted(claims), sorted(claims)]


@pytest.mark.statement("4.1.13")
@pytest.mark.parametrize("limit", [0, 501, -1])
def test_4_1_13_a_limit_outside_of_1_to_500_is_refused(limit: int) -> None:
    vault, _, _ = vault_with()
    with pytest.raises(InvalidInput, match="limit must be between 1 and 500"):
        run(vault, limit=limit)


@pytest.mark.statement("4.1.13")
def test_4_1_13_the_limit_bounds_claims_examined_not_links() -> None:
    vault, _, _ = vault_with("Mara Olsen prefers tea.", "Somebody prefers tea.", "Mara Olsen is ill.")
    report = run(vault, limit=2)
    assert report.examined == 2
    assert run(vault, limit=2, cursor=report.next_cursor).examined == 1


def test_4_1_12_a_dry_run_publishes_nothing_and_shows_ten_examples_an_outcome() -> None:
    vault, page, _ = vault_with(
        *["Mara Olsen prefers tea."] * 12, *["Mara Olsen met Rolf."] * 11, "Nobody is ill."
    )
    files = dict(vault.files)
    answer = run(vault, dry_run=True).answer()
    assert files == vault.files and not vault.rows
    assert (answer["linked"], answer["ambiguous"], answer["no_subject"]) == (12, 11, 1)
    assert [len(answer["examples"][word]) for word in ("linked", "ambiguous", "no_subject")] == [10, 10, 1]
    example = answer["examples"]["linked"][0]
    assert (example["tier"], example["subject"], example["subjectTitle"]) == ("mention", page, "Mara Olsen")
    assert json.loads(json.dumps(answer)) == answer


@pytest.mark.statement("4.1.14")
def test_4_1_14_a_cursor_belongs_to_its_dry_run() -> None:
    vault, _, _ = vault_with("One.", "Two.", "Three.")
    cursor = run(vault, dry_run=True, limit=1).next_cursor
    for other in ({"dry_run": False}, {"dry_run": True, "include": "all"}):
        with pytest.raises(InvalidInput, match="belongs to a call with another"):
            run(vault, cursor=cursor, **other)
    assert run(vault, dry_run=True, limit=2, cursor=cursor).next_cursor is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "AAAA", "W10", "x" * 5000, base64.b64encode(b'[1,true,"unlinked",7]')]
)
def test_4_1_14_a_cursor_that_is_none_is_refused(cursor: str | bytes) -> None:
    vault, _, _ = vault_with("One.")
    with pytest.raises(InvalidInput, match="cursor"):
        run(vault, dry_run=True, cursor=cursor if isinstance(cursor, str) else cursor.decode())


@pytest.mark.statement("4.1.15")
def test_4_1_15_all_lists_what_has_no_page_whatever_tool_saved_it() -> None:
    vault, page, [named, nobody] = vault_with("Mara Olsen prefers tea.", "Somebody is ill.")
    file = vault.source("A file.")
    saved = vault.claim("Rolf is ill.", file)
    vault.claim("Has a page.", file, source_page=page)
    vault.claim("Has an entity.", file, entities=[page])
    vault.claim("Is gone.", file, lifecycle="withdrawn")
    answer = run(vault, dry_run=True, include="all").answer()
    assert {one["claim"]: one["outcome"] for one in answer["claims"]} == {
        named: "linked",
        nobody: "no_subject",
        saved: "review",
    }
    assert answer["review"] == 1
    with pytest.raises(InvalidInput, match="include"):
        run(vault, include="all")
    with vault.reading() as view:
        assert unlinked(view) == 3


@pytest.mark.statement("4.1.10")
def test_4_1_10_the_request_id_follows_from_claim_revision_and_subject() -> None:
    vault, page, [claim] = vault_with("Mara Olsen prefers tea.")
    run(vault)
    assert list(vault.receipts) == [link_request(claim, 1, page)]
    others = {
        link_request(*one) for one in [(claim, 1, page), (claim, 2, page), (claim, 1, "x"), ("x", 1, page)]
    }
    assert len(others) == 4


@pytest.mark.statement("4.1.10")
def test_4_1_10_a_replay_makes_one_link_and_one_receipt() -> None:
    """The publication was acknowledged and its file came back from before: nothing is linked twice."""
    vault, _, [claim] = vault_with("Mara Olsen prefers tea.")
    before = dict(vault.files)
    run(vault)
    assert run(vault).examined == 0
    vault.files = before
    vault._revisions.clear()
    run(vault)
    assert len(vault.receipts) == 1 and len(vault.history(claim, before=None, limit=9)) == 1


@pytest.mark.statement("4.1.11")
def test_4_1_11_a_link_that_cannot_be_published_fails_alone_and_is_tried_again() -> None:
    vault, page, claims = vault_with(*["Mara Olsen prefers tea."] * 3)
    second = sorted(claims)[1]
    path = f"claims/{second}.md"

    def meanwhile() -> None:
        if b"edited" not in vault.files[path] and len(vault.receipts) == 1:
            vault.files[path] = vault.files[path].replace(b"prefers tea", b"edited tea")

    vault.before_publish = meanwhile
    report = run(vault)
    assert (report.counts["linked"], report.counts["failed"]) == (2, 1)
    assert [one["claim"] for one in report.examples["failed"]] == [second]
    assert "entities" not in meta(vault, second)
    again = run(vault)
    assert (again.counts["linked"], again.counts["failed"]) == (1, 0)
    assert all(meta(vault, claim)["entities"] == [page] for claim in claims)


def test_a_page_that_is_retired_meanwhile_gets_no_link() -> None:
    vault, _page, [claim] = vault_with("Mara Olsen prefers tea.")
    path = "people/mara-olsen.md"

    def meanwhile() -> None:
        vault.files[path] = vault.files[path].replace(b"lifecycle: active", b"lifecycle: superseded")

    vault.before_publish = meanwhile
    assert run(vault).counts["failed"] == 1
    assert "entities" not in meta(vault, claim)


def test_a_claim_that_cannot_be_edited_line_by_line_counts_as_failed() -> None:
    vault, _, [claim] = vault_with("Mara Olsen prefers tea.")
    data = vault.files[f"claims/{claim}.md"].split(b"---\n")
    flow = json.dumps(meta(vault, claim)).encode()
    vault.files[f"claims/{claim}.md"] = b"---\n" + flow + b"\n---\n" + data[2]
    assert run(vault).counts["failed"] == 1


@pytest.mark.parametrize(
    "error", [Unavailable("the disk is full"), NotFound("gone"), WritesDisabled("off"), Forbidden("no")]
)
def test_what_says_that_the_caller_may_not_ends_the_run(error: LorebankError) -> None:
    vault, _, _ = vault_with(*["Mara Olsen prefers tea."] * 2)

    def meanwhile() -> None:
        raise error

    vault.before_publish = meanwhile
    if isinstance(error, (WritesDisabled, Forbidden)):
        with pytest.raises(type(error)):
            run(vault)
    else:
        assert run(vault).counts["failed"] == 2


@pytest.mark.statement("4.1.17")
def test_4_1_17_a_page_of_another_partition_neither_links_nor_is_in_the_way() -> None:
    vault, page, [claim] = vault_with("Mara Olsen prefers tea.")
    other = MemoryVault(Partition("33333333-3333-4333-8333-333333333333"))
    other.page("Mara Olsen")
    excerpt = other.source("What was said.", origin="knowledge_remember")
    there = other.claim("mara olsen likes it.", excerpt, source_page=page)
    run(vault)
    assert meta(vault, claim)["entities"] == [page]
    assert relink(other, Ask(dry_run=True)).examined == 0, "a page elsewhere is a missing one"
    assert "entities" not in meta(other, there)


def test_a_page_whose_id_is_there_twice_is_linked_to_by_nobody() -> None:
    vault, page, [_claim] = vault_with("Mara Olsen prefers tea.")
    vault.page("Mara Copy", id=page)
    assert run(vault).counts["ambiguous"] == 1


def test_pages_of_500_end_where_the_pass_is_told_to() -> None:
    vault, _, _ = vault_with(*["Mara Olsen prefers tea."] * 4)
    answers = iter([True, True, False])
    reports = list(every_page(vault, go_on=lambda: next(answers, False)))
    assert [report.counts["linked"] for report in reports] == [1]
