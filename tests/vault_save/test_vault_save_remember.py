"""`knowledge_remember`: a claim and the words that it rests on, in one publication."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from lorebank.access.audience import Partition
from lorebank.errors import Conflict, Forbidden, InvalidInput, WritesDisabled
from lorebank.vaults.evidence.citations import verify_citation
from lorebank.vaults.record.parse import body_of
from lorebank.vaults.record.values import Record
from lorebank.vaults.tools.remember import Remember, run
from vault_kit.memory_vault import MemoryVault

SESSION = Partition("33333333-3333-4333-8333-333333333333")


def remember(vault: MemoryVault, text: str = "Anna likes green tea.", **more: Any) -> dict[str, Any]:
    return run(vault, Remember(text, **more), vault.clock)


def claim(vault: MemoryVault, answer: dict[str, Any]) -> Record:
    entry = vault.view().by_id(answer["id"])
    assert entry is not None and entry.record is not None
    return entry.record


def test_2_1_10_a_remembered_claim_keeps_its_excerpt_as_evidence() -> None:
    vault = MemoryVault()
    said = "Anna: I only drink green tea.\nBen: Noted!"
    answer = remember(
        vault, excerpt=said, attribution="Anna", claim_kind="preference", source_page=vault.page("Notes")
    )
    record = claim(vault, answer)
    assert record.valid and record.meta["remembered"] is True and record.meta["claim_kind"] == "preference"
    assert record.meta["origin"] == "knowledge_remember"
    view = vault.view()
    retained = view.descriptor(answer["source"])
    assert retained is not None and retained.origin == "knowledge_remember" and retained.attribution == "Anna"
    assert vault.files[retained.path] == said.encode()
    assert retained.sha256 == hashlib.sha256(said.encode()).hexdigest()
    (citation,) = record.evidence
    assert (citation.source, citation.lines, citation.quote) == (retained.id, (1, 2), said)
    assert verify_citation(view, citation) is None
    assert body_of(vault.files[answer["path"]]) == "Anna likes green tea."
    assert view.findings == ()


def test_the_answer_says_what_was_saved() -> None:
    vault = MemoryVault()
    answer = remember(vault, request_id="r-1")
    assert answer["path"] == f"claims/{answer['id']}.md"
    told = {key: value for key, value in answer.items() if key not in ("id", "path", "source")}
    assert told == {
        "revision": 1,
        "requestId": "r-1",
        "replayed": False,
        "findings": [],
        "subject": None,
    }


def test_an_equal_retry_replays_and_another_request_is_a_conflict() -> None:
    vault = MemoryVault()
    first = remember(vault, request_id="r-1", subject="Anna")
    files = dict(vault.files)
    again = remember(vault, request_id="r-1", subject="Anna")
    assert again == first | {"replayed": True} and vault.files == files
    with pytest.raises(Conflict):
        remember(vault, "Something else.", request_id="r-1")


def test_without_a_request_id_every_call_is_its_own() -> None:
    vault = MemoryVault()
    assert remember(vault)["id"] != remember(vault)["id"]


def test_the_same_words_are_retained_once() -> None:
    vault = MemoryVault()
    first, second = remember(vault), remember(vault)
    assert first["source"] == second["source"]
    assert len([path for path in vault.files if path.startswith("artifacts/")]) == 2
    other = remember(vault, attribution="Ben")
    assert other["source"] != first["source"]
    assert len([path for path in vault.files if path.endswith("/content")]) == 1
    assert vault.view().findings == ()


@pytest.mark.statement("3.3")
@pytest.mark.parametrize("name", ["Anna Berg", "  anna   BERG ", "Annie", "id"])
def test_2_1_10_a_subject_that_names_one_entity_page_is_linked(name: str) -> None:
    vault = MemoryVault()
    anna = vault.page("Anna Berg", aliases=["Annie"])
    vault.page("Ben")
    answer = remember(vault, subject=anna if name == "id" else name, subject_hint="the tea drinker")
    assert answer["subject"]["state"] == "linked" and answer["subject"]["page"] == anna
    record = claim(vault, answer)
    assert record.entities == (anna,) and record.meta["subject_hint"] == "the tea drinker"


@pytest.mark.parametrize(
    ("pages", "state"),
    [
        ([], "no_page"),
        ([("Anna", "source", {})], "no_page"),
        ([("Anna", "person", {"lifecycle": "withdrawn"})], "no_page"),
        ([("Anna", "person", {}), ("Anna Smith", "person", {"aliases": ["ANNA"]})], "ambiguous"),
    ],
)
def test_2_1_10_any_other_subject_is_kept_as_a_hint_and_told(
    pages: list[tuple[str, str, dict[str, Any]]], state: str
) -> None:
    vault = MemoryVault()
    for title, type_name, more in pages:
        vault.page(title, type_name, **more)
    answer = remember(vault, subject="Anna")
    assert answer["subject"] == {"given": "Anna", "state": state, "keptAs": "subject_hint"}
    record = claim(vault, answer)
    assert record.entities == () and record.meta["subject_hint"] == "Anna"


@pytest.mark.statement("1.5.46", "1.5.47")
def test_a_page_of_another_partition_is_no_subject() -> None:
    private, talk = MemoryVault(), MemoryVault(SESSION)
    anna = private.page("Anna")
    assert remember(talk, subject=anna)["subject"]["state"] == "no_page"
    with pytest.raises(InvalidInput, match="sourcePage"):
        remember(talk, source_page=anna)


def test_1_5_49_what_is_saved_has_the_scope_of_the_partition() -> None:
    for vault in (MemoryVault(), MemoryVault(SESSION)):
        assert claim(vault, remember(vault)).meta["scope"] == vault.partition.scope


def test_dates_are_kept_as_exact_as_they_are() -> None:
    vault = MemoryVault()
    record = claim(vault, remember(vault, valid_from=2026, valid_to="2026-11-30"))
    assert (record.meta["valid_from"], record.meta["valid_to"]) == ("2026", "2026-11-30") and record.valid


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"text": " \n"}, "text must not be empty"),
        ({"text": "x" * 20_001}, "20,000"),
        ({"text": "a\x00b"}, "control"),
        ({"excerpt": ""}, "excerpt"),
        ({"excerpt": "x" * 100_001}, "100,000"),
        ({"claim_kind": "rumour"}, "claimKind"),
        ({"title": "a" * 501}, "title"),
        ({"valid_from": "soon"}, "validFrom"),
        ({"valid_from": "2027", "valid_to": "2026"}, "before"),
        ({"source_page": "nothing"}, "sourcePage"),
        ({"subject": " "}, "subject"),
        ({"request_id": ""}, "requestId"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_is_written(more: dict[str, Any], word: str) -> None:
    vault = MemoryVault()
    with pytest.raises(InvalidInput, match=word):
        remember(vault, **({"text": "x"} | more))
    assert vault.files == {} and vault.receipts == {}


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidInput, match="surrogate"):
        remember(MemoryVault(), "a\ud800b")


def test_who_may_not_save_is_refused() -> None:
    with pytest.raises(WritesDisabled):
        remember(MemoryVault(writes_enabled=False))
    with pytest.raises(Forbidden):
        remember(MemoryVault(may_save=False))


def test_history_names_the_writing_agent() -> None:
    vault = MemoryVault(agent="research")
    answer = remember(vault)
    (row,) = vault.history(answer["id"], before=None, limit=5)
    assert (row.agent, row.revision, row.request_id) == ("research", 1, answer["requestId"])


def test_a_title_is_made_of_the_first_line() -> None:
    vault = MemoryVault()
    long = "# The " + "very " * 40 + "long line\nsecond"
    title = claim(vault, remember(vault, long)).title
    assert title.startswith("The very") and title.endswith("…") and len(title) <= 81
