"""The made corpus: no wrong link, nothing missed, and a second pass changes nothing."""

from __future__ import annotations

import pytest
from relink_corpus import Corpus, corpus

from lorebank.vaults.relink import run as running
from lorebank.vaults.relink.run import Link, every_page
from lorebank.vaults.relink.values import MAX_LIMIT, Ask, Report
from lorebank.vaults.store.values import View


def decided(view: View) -> tuple[dict[str, tuple[str, str]], int]:
    """What a dry run would link, and how many claims it examined."""
    found: list[Link] = []
    examined, cursor, begun = 0, None, False
    while cursor is not None or not begun:
        begun = True
        ask = Ask(dry_run=True, limit=MAX_LIMIT, cursor=cursor)
        report = Report(ask)
        found += running._examined(view, ask, ask.after(), report)
        examined, cursor = examined + report.examined, report.next_cursor
    return {one.record.id: (str(one.outcome.tier), one.subject) for one in found}, examined


def wanted(made: Corpus) -> dict[str, tuple[str, str]]:
    return {claim: link for claim, link in made.expected.items() if link is not None}


@pytest.mark.statement("4.1.3", "4.1.4", "4.1.5", "4.1.6")
@pytest.mark.parametrize("seed", [4, 5])
def test_of_2000_claims_with_known_answers_none_gets_a_wrong_link(seed: int) -> None:
    made = corpus(2000, seed)
    links, examined = decided(made.vault.view())
    assert examined == 2000
    assert links == wanted(made)


@pytest.mark.statement("4.1.6", "4.1.8", "4.1.10")
def test_4_1_6_a_pass_links_what_it_should_and_a_second_one_changes_nothing() -> None:
    made = corpus(250)
    vault = made.vault
    before = dict(vault.files)
    links = wanted(made)
    reports = list(every_page(vault, clock=vault.clock))
    assert sum(report.counts["linked"] for report in reports) == len(links) == len(vault.receipts)
    changed = {path for path in vault.files if vault.files[path] != before.get(path)}
    assert changed == {f"claims/{claim}.md" for claim in links}
    with vault.reading() as view:
        for claim, (_, page) in links.items():
            entry = view.by_id(claim)
            assert entry is not None and entry.record is not None and entry.record.entities == (page,)
    after = dict(vault.files)
    assert sum(report.counts["linked"] for report in every_page(vault, clock=vault.clock)) == 0
    assert (vault.files, len(vault.receipts)) == (after, len(links))
