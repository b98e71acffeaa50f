"""Citations against retained sources: lines, quotes, hashes, verdicts that are kept, memory that is not."""

from __future__ import annotations

import gc
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.audience import Partition
from lorebank.errors import Unavailable
from lorebank.vaults.evidence import scan as scanning
from lorebank.vaults.evidence.citations import check_citations, verify_citation
from lorebank.vaults.evidence.scan import Passage, Scan, normal
from lorebank.vaults.evidence.verdicts import KeptVerdicts
from lorebank.vaults.record.values import Citation
from made_vault import MadeVault, MadeView

SESSION = Partition("33333333-3333-4333-8333-333333333333")
TEXT = b"first line\nAnn said: \xc3\xa9t\xc3\xa9 is near.\r\nthird line\rfourth line\n"


@pytest.fixture(name="vault")
def made(tmp_path: Path) -> MadeVault:
    return MadeVault(tmp_path)


def rule(view: MadeView, citation: Citation) -> str | None:
    found = verify_citation(view, citation)
    return None if found is None else found.rule


@pytest.mark.parametrize(
    ("lines", "quote", "wrong"),
    [
        (None, None, None),
        ((1, 1), None, None),
        ((4, 4), "fourth line", None),
        ((1, 4), None, None),
        ((1, 5), None, "citation_lines"),
        ((5, 5), None, "citation_lines"),
        ((3, 2), None, "citation_lines"),
        ((0, 1), None, "citation_lines"),
        ((2, 2), "\u00e9t\u00e9 is near", None),
        ((2, 2), "e\u0301te\u0301 is near", "citation_quote"),
        ((2, 2), "Ann  said", "citation_quote"),
        ((2, 2), "ann said", "citation_quote"),
        ((1, 1), "Ann said", "citation_quote"),
        ((3, 4), "Ann said", "citation_quote"),
        ((2, 3), "near.\nthird", None),
        ((2, 3), "near.\r\nthird", None),
        ((2, 2), "near.\nthird", "citation_quote"),
        ((3, 4), "third line\nfourth line\n", None),
        (None, "third line\r\nfourth line", None),
        (None, "fifth line", "citation_quote"),
        (None, "", "citation_quote"),
    ],
)
@pytest.mark.statement("2.1.9")
def test_lines_and_quotes(
    vault: MadeVault, lines: tuple[int, int] | None, quote: str | None, wrong: str | None
) -> None:
    source = vault.retain(TEXT)
    assert rule(vault.view(), Citation(source.id, lines, quote)) == wrong


def test_a_byte_order_mark_is_no_text_and_an_empty_source_has_no_line(vault: MadeVault) -> None:
    marked, empty = vault.retain(b"\xef\xbb\xbfHello"), vault.retain(b"")
    view = vault.view()
    assert rule(view, Citation(marked.id, (1, 1), "Hello")) is None
    assert check_citations(view, [Citation(marked.id, (1, 1))], excerpts=True)[0].lines == ((1, "Hello"),)
    assert rule(view, Citation(empty.id)) is None
    assert rule(view, Citation(empty.id, (1, 1))) == "citation_lines"


def test_a_blank_attribution_is_told_and_a_missing_one_is_the_sources(vault: MadeVault) -> None:
    source = vault.retain(TEXT, attribution="a letter")
    view = vault.view()
    assert rule(view, Citation(source.id, attribution="  ")) == "citation_attribution"
    plain, own = check_citations(
        view, [Citation(source.id), Citation(source.id, attribution="Ann")], excerpts=False
    )
    assert (plain.attribution, own.attribution) == ("a letter", "Ann")


def test_1_5_47_a_source_of_another_partition_is_like_none(tmp_path: Path, vault: MadeVault) -> None:
    other = MadeVault(tmp_path, SESSION).retain(TEXT)
    view = vault.view()
    there = verify_citation(view, Citation(other.id, (1, 1), "first"))
    nowhere = verify_citation(view, Citation("never-was", (1, 1), "first"))
    assert there is not None and nowhere is not None
    assert there.rule == nowhere.rule == "citation_source"
    assert there.message.replace(other.id, "never-was") == nowhere.message


@pytest.mark.statement("1.8.77")
def test_changed_bytes_are_found_even_with_the_same_size(vault: MadeVault) -> None:
    source = vault.retain(TEXT)
    for content in (TEXT.replace(b"fourth", b"FOURTH"), TEXT + b"more", b""):
        vault.write(source.path, content)
        checked = check_citations(vault.view(), [Citation(source.id, (1, 1), "first")], excerpts=True)[0]
        assert checked.verdict.rule == "evidence_changed"
        assert checked.lines == ()


def test_a_missing_file_is_told(vault: MadeVault) -> None:
    source = vault.retain(TEXT)
    (vault.root / source.path).unlink()
    assert rule(vault.view(), Citation(source.id)) == "evidence_missing"


def test_1_7_68_verdicts_hold_while_the_stamp_does(vault: MadeVault, monkeypatch: pytest.MonkeyPatch) -> None:
    source = vault.retain(TEXT)
    citations = [Citation(source.id, (2, 2), "Ann"), Citation(source.id, (9, 9))]
    runs: list[bool] = []
    real = Scan.run

    def counted(self: Scan, file: BinaryIO) -> None:
        runs.append(self._whole)
        real(self, file)

    monkeypatch.setattr(Scan, "run", counted)
    first = [one.finding() for one in check_citations(vault.view(), citations, excerpts=False)]
    again = [one.finding() for one in check_citations(vault.view(), citations, excerpts=False)]
    assert first == again and runs == [True]
    # A further citation of a source that is known to be sound needs no second hash.
    check_citations(vault.view(), [Citation(source.id, (3, 3), "third")], excerpts=False)
    assert runs == [True, False]
    state = (vault.root / source.path).stat()
    vault.write(source.path, TEXT.replace(b"Ann", b"Bob"))
    os.utime(vault.root / source.path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert [one.verdict.rule for one in check_citations(vault.view(), citations, excerpts=False)] == [
        "evidence_changed"
    ] * 2
    assert runs == [True, False, True]


def test_1_7_68_verdicts_are_kept_below_too_and_bounded(vault: MadeVault) -> None:
    below = KeptVerdicts()
    vault.verdicts = KeptVerdicts(below, most=2)
    source = vault.retain(TEXT)
    citations = [Citation(source.id, (line, line)) for line in (1, 2, 3)]
    check_citations(vault.view(), citations, excerpts=False)
    assert (len(vault.verdicts), len(below)) == (2, 4)
    vault.verdicts = KeptVerdicts(below)
    view = vault.view()
    checked = check_citations(view, citations, excerpts=False)
    assert [one.verdict.rule for one in checked] == [None] * 3
    assert all("line" not in row[1].replace("citation_lines", "") for row in below._rows.values())


def test_1_7_68_buffers_go_even_when_a_citation_fails(vault: MadeVault) -> None:
    secret = b"a text that must not stay in memory " * 4_000
    good, bad = vault.retain(secret), vault.retain(secret + b"!")
    vault.write(bad.path, secret + b"?")

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError("the disk failed")
            return super().read(1_000)

    view = vault.view()
    quotes = [Citation(good.id, (1, 1), "a text"), Citation(bad.id, (1, 1), "a text")]
    assert [rule(view, one) for one in quotes] == [None, "evidence_changed"]

    @contextmanager
    def failing(descriptor: object) -> Iterator[BinaryIO]:
        yield Failing(secret)

    view.open_source = failing  # type: ignore[method-assign,assignment]
    passages: list[Passage] = []
    with pytest.raises(OSError, match="disk") as caught:
        check_citations(view, [Citation(good.id, (1, 1), "zzz")], excerpts=True)
    frame = caught.value.__traceback__
    while frame is not None:
        wanted: Any = frame.tb_frame.f_locals.get("wanted")
        passages += wanted.values() if isinstance(wanted, dict) else []
        frame = frame.tb_next
    assert passages and all(one.excerpt == b"" for one in passages)
    del caught, frame
    gc.collect()


def test_1_8_77_memory_does_not_grow_with_the_source(
    vault: MadeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "BLOCK", 4_096)
    line = b"0123456789" * 5_000
    source = vault.retain(b"\n".join([line] * 5) + b"\nthe end")
    largest = 0
    real = Passage.look

    def measured(self: Passage, block: Any, firsts: Any) -> None:
        nonlocal largest
        real(self, block, firsts)
        largest = max(largest, len(block.text) + len(self.excerpt))

    monkeypatch.setattr(Passage, "look", measured)
    cited = [Citation(source.id, (1, 6), "the end"), Citation(source.id, (2, 2), "90123")]
    checked = check_citations(vault.view(), cited, excerpts=True)
    assert [one.verdict.at for one in checked] == [(6, 6), (2, 2)]
    assert largest < 4_096 * 2 + scanning.MAX_EXCERPT_BYTES
    assert checked[0].cut


def test_up_to_twenty_lines_are_read_back(vault: MadeVault) -> None:
    source = vault.retain("\n".join(f"line {place}" for place in range(1, 60)).encode())
    view = vault.view()
    for _ in range(2):  # the second time from a known verdict
        long, short, quoted = check_citations(
            view,
            [
                Citation(source.id, (5, 40)),
                Citation(source.id, (7, 8)),
                Citation(source.id, None, "line 9\nline"),
            ],
            excerpts=True,
        )
        assert [number for number, _ in long.lines] == list(range(5, 25)) and long.cut
        assert short.lines == ((7, "line 7"), (8, "line 8")) and not short.cut
        assert quoted.lines == ((9, "line 9"), (10, "line"))


def test_a_source_that_changes_while_it_is_read_is_told(
    vault: MadeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = vault.retain(TEXT)
    real = Scan.run

    def disturbed(self: Scan, file: BinaryIO) -> None:
        real(self, file)
        vault.write(source.path, TEXT + b"more")

    monkeypatch.setattr(Scan, "run", disturbed)
    with pytest.raises(Unavailable, match="changed"):
        verify_citation(vault.view(), Citation(source.id))


@given(
    lines=st.lists(st.text(st.sampled_from("aä\u4e2d b"), max_size=6), max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    block=st.integers(1, 9),
    first=st.integers(1, 12),
    more=st.integers(0, 6),
    quote=st.text(st.sampled_from("aä\u4e2d b\n"), min_size=1, max_size=5),
)
def test_a_scan_in_small_blocks_says_what_the_whole_text_says(
    lines: list[str], end: str, last: bool, block: int, first: int, more: int, quote: str
) -> None:
    text = end.join(lines) + (end if last else "")
    whole = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    whole = whole[:-1] if whole[-1] == "" else whole
    wanted, upto = normal(quote), first + more
    passage, everywhere = Passage((first, upto), wanted or None), Passage(None, wanted or None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "BLOCK", block)
        scan = Scan([passage, everywhere], whole=True)
        scan.run(io.BytesIO(text.encode()))
    inside = "\n".join(whole[first - 1 : upto])
    assert scan.lines == len(whole)
    if upto <= len(whole):
        assert bytes(passage.excerpt).decode() == inside
    if wanted:
        assert (passage.found is not None) == (wanted.decode() in inside)
        assert (everywhere.found is not None) == (
            wanted.decode() in text.replace("\r\n", "\n").replace("\r", "\n")
        )
        if passage.found is not None:
            begin = first + inside[: inside.index(wanted.decode())].count("\n")
            assert passage.found == (begin, begin + wanted.decode().count("\n"))
