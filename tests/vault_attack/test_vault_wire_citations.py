"""A thousand citations of one source, which hold everybody else of the store up while they are checked."""

from __future__ import annotations

import pytest

from lorebank.errors import InvalidInput
from lorebank.vaults.evidence.scan import MAX_EXCERPT_BYTES, MAX_LINES, Passage, Scan
from lorebank.vaults.store.values import Descriptor
from lorebank.vaults.tools.cited import Cited
from lorebank.vaults.tools.inputs import CitationInput
from vault_kit.memory_vault import MemoryVault, MemoryView

LINES = 2_000


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were opened, one entry each time."""
    seen: list[str] = []
    plain = MemoryView.open_source

    def open_source(view: MemoryView, descriptor: Descriptor) -> object:
        seen.append(descriptor.id)
        return plain(view, descriptor)

    monkeypatch.setattr(MemoryView, "open_source", open_source)
    return seen


def test_many_citations_read_their_source_a_few_times(opened: list[str]) -> None:
    vault = MemoryVault()
    source = vault.source("".join(f"line {place}\n" for place in range(LINES)))
    cited = [CitationInput(source, f"{place + 1}-{LINES}", f"line {LINES - 1}") for place in range(LINES)]
    assert len(Cited(cited).meta(vault.view())) == LINES
    assert 1 <= len(opened) <= 6


@pytest.mark.parametrize("wrong", [0, 15, 16, 79, 1_999])
def test_the_first_wrong_one_is_named(wrong: int) -> None:
    vault = MemoryVault()
    source = vault.source("a\nb\n")
    cited = [CitationInput(source, 1, "a")] * LINES
    cited[wrong] = CitationInput(source, 2, "a")
    with pytest.raises(InvalidInput, match=rf"evidence\.{wrong}: the quote"):
        Cited(cited).meta(vault.view())


@pytest.mark.parametrize("size", [1, 7, 300_000])
def test_what_is_read_back_is_the_same_whatever_is_skipped(size: int) -> None:
    text = b"".join(b"%d %s\n" % (place, b"x" * size) for place in range(30))
    vault = MemoryVault()
    source = vault.source(text)
    descriptor = vault.view().descriptor(source)
    assert descriptor is not None
    rest = Passage((31, 40), None)
    passages = [Passage((3, 29), None), Passage((3, 29), b"20 x"), Passage(None, b"25 x"), rest]
    with vault.view().open_source(descriptor) as file, Scan(passages, whole=True) as scan:
        scan.run(file)
        assert scan.lines == 30
        wanted = b"\n".join(text.split(b"\n")[2 : 2 + MAX_LINES])[:MAX_EXCERPT_BYTES]
        assert bytes(passages[0].excerpt) == bytes(passages[1].excerpt) == wanted
        assert passages[0].cut and not passages[3].excerpt
        assert (passages[1].found, passages[2].found) == ((21, 21), (26, 26))
