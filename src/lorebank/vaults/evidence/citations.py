"""Whether what a record cites is there: the source, its bytes, the lines and the quote.

Checked on every read. A verdict is kept while the source's file has the same stamp (statement 1.7.68); texts
are never kept. Nothing of a source whose bytes are not the retained ones is given out.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from lorebank.errors import NotFound, StoreUnavailable, Unavailable
from lorebank.vaults import reasons
from lorebank.vaults.evidence.scan import Passage, Scan, normal
from lorebank.vaults.evidence.verdicts import verdicts_of
from lorebank.vaults.record.values import Citation, Finding
from lorebank.vaults.store.values import Descriptor, View

# Names of rules (findings carry them).
SOURCE: Final = "citation_source"
LINES: Final = "citation_lines"
QUOTE: Final = "citation_quote"
ATTRIBUTION: Final = "citation_attribution"
MISSING: Final = "evidence_missing"
UNSAFE: Final = "evidence_unsafe"
CHANGED: Final = "evidence_changed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rule` is None when all is well; `at` are the lines where the quote stands."""

    rule: str | None = None
    message: str = ""
    at: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """One citation with its verdict.

    `lines` are up to 20 (number, text) of a sound citation, `cut` tells that the cited range is longer.
    `attribution` is the citation's own, or else the source's.
    """

    citation: Citation
    verdict: Verdict
    descriptor: Descriptor | None = None
    attribution: str | None = None
    lines: tuple[tuple[int, str], ...] = ()
    cut: bool = False

    def finding(self, path: str = "", line: int = 0) -> Finding | None:
        """The diagnostic for the citing record at `path`, None when the citation holds."""
        if self.verdict.rule is None:
            return None
        return Finding(path, line, self.verdict.rule, self.verdict.message)


def verify_citation(view: View, citation: Citation, path: str = "") -> Finding | None:
    """What is wrong with a citation in this partition, None when it holds.

    A source of another partition is like one that does not exist (statement 1.5.47). `Unavailable` when the
    source changes while it is read.
    """
    return check_citations(view, [citation], excerpts=False)[0].finding(path)


def check_citations(view: View, citations: Sequence[Citation], *, excerpts: bool) -> list[Checked]:
    """All citations of a record, in order; each source is read at most once, and not at all when the verdicts
    are known and no `excerpts` are wanted."""
    places: dict[str, list[int]] = {}
    for place, citation in enumerate(citations):
        places.setdefault(citation.source, []).append(place)
    found: dict[int, Checked] = {}
    for source, here in places.items():
        checked = _of_source(view, source, [citations[place] for place in here], excerpts)
        found.update(zip(here, checked, strict=True))
    return [found[place] for place in range(len(citations))]


def _of_source(view: View, source: str, citations: list[Citation], excerpts: bool) -> list[Checked]:
    descriptor = view.descriptor(source)
    if descriptor is None:
        verdict = Verdict(SOURCE, f"no retained source with the id {source[:100]} is in this partition")
        return [Checked(citation, verdict) for citation in citations]
    try:
        with view.open_source(descriptor) as file:
            return _Source(view, descriptor, file).check(citations, excerpts)
    except NotFound:
        return _all(citations, descriptor, Verdict(MISSING, "the retained file of the source is missing"))
    except StoreUnavailable as exc:
        if exc.reason != reasons.UNSAFE_FILE:
            raise
        return _all(citations, descriptor, Verdict(UNSAFE, "the retained file of the source is a link"))


def _all(citations: Sequence[Citation], descriptor: Descriptor, verdict: Verdict) -> list[Checked]:
    return [_checked(citation, descriptor, verdict) for citation in citations]


def _checked(
    citation: Citation,
    descriptor: Descriptor,
    verdict: Verdict,
    lines: tuple[tuple[int, str], ...] = (),
    cut: bool = False,
) -> Checked:
    own = citation.attribution
    if verdict.rule is None and own is not None and not own.strip():
        verdict = Verdict(ATTRIBUTION, "the attribution is blank; leave it out or say whose it is")
    return Checked(citation, verdict, descriptor, own or descriptor.attribution, lines, cut)


class _Source:
    """One open source of a view."""

    def __init__(self, view: View, descriptor: Descriptor, file: BinaryIO) -> None:
        self._view, self._descriptor, self._file = view, descriptor, file
        self._stamp = _stamp_of(file)
        self._kept = None if self._stamp is None else verdicts_of(view)

    def check(self, citations: list[Citation], excerpts: bool) -> list[Checked]:
        whole = self._known(None)
        if whole is not None and whole.rule is not None:
            return _all(citations, self._descriptor, whole)
        known = {citation: self._known(citation) for citation in citations}
        wanted = {
            citation: Passage(
                citation.lines, None if citation.quote is None else normal(citation.quote), keep=excerpts
            )
            for citation, verdict in known.items()
            if verdict is None or (excerpts and verdict.rule is None and citation.lines is not None)
        }
        if not wanted and whole is not None:
            return [self._read_back(one, known[one] or Verdict(), None) for one in citations]
        with Scan(list(wanted.values()), whole=whole is None) as scan:
            scan.run(self._file)
            if _stamp_of(self._file) != self._stamp:
                raise Unavailable("a retained source changed while it was read; ask again")
            if whole is None and (broken := self._broken(scan)) is not None:
                return _all(citations, self._descriptor, broken)
            settled = {one: known[one] or _verdict(one, wanted[one], scan.lines) for one in known}
            self._note([(one, verdict) for one, verdict in settled.items() if known[one] is None])
            shown = wanted if excerpts else {}
            return [self._read_back(one, settled[one], shown.get(one)) for one in citations]

    def _broken(self, scan: Scan) -> Verdict | None:
        """What is wrong with the source as a whole; noted either way."""
        verdict = Verdict()
        if scan.size != self._descriptor.size or scan.sha256 != self._descriptor.sha256:
            verdict = Verdict(CHANGED, "the retained file is not what was retained (its SHA-256 differs)")
        self._note([(None, verdict)])
        return None if verdict.rule is None else verdict

    def _read_back(self, citation: Citation, verdict: Verdict, passage: Passage | None) -> Checked:
        if verdict.rule is not None or passage is None or citation.lines is None:
            lines = () if verdict.rule or verdict.at is None else _quoted(citation, verdict.at)
            return _checked(citation, self._descriptor, verdict, lines)
        first = citation.lines[0]
        texts = bytes(passage.excerpt).decode("utf-8", "replace").split("\n")
        numbered = tuple((first + place, text) for place, text in enumerate(texts))
        return _checked(citation, self._descriptor, verdict, numbered, passage.cut)

    def _known(self, citation: Citation | None) -> Verdict | None:
        row = None if self._kept is None else self._kept.verdict(self._key(citation))
        return None if row is None or row[0] != self._stamp else _decoded(row[1])

    def _note(self, verdicts: Sequence[tuple[Citation | None, Verdict]]) -> None:
        if self._kept is not None and self._stamp is not None and verdicts:
            rows = {self._key(one): json.dumps([v.rule, v.message, v.at]) for one, v in verdicts}
            self._kept.set_verdicts(self._stamp, rows)

    def _key(self, citation: Citation | None) -> str:
        source = self._descriptor
        parts: list[Any] = [self._view.partition.folder, source.id, source.path, source.sha256, source.size]
        if citation is not None:
            parts += [citation.lines, citation.quote]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _verdict(citation: Citation, passage: Passage, lines: int) -> Verdict:
    if citation.lines is not None:
        first, last = citation.lines
        if not 1 <= first <= last:
            return Verdict(LINES, f"lines {first}-{last} are no range; the first line is 1")
        if last > lines:
            return Verdict(LINES, f"lines {first}-{last} are cited, and the source has {lines}")
    if passage.quote is None:
        return Verdict()
    if not passage.quote:
        return Verdict(QUOTE, "the quote is empty; leave it out or quote the source")
    if passage.found is None:
        where = "the source" if citation.lines is None else "the cited lines"
        return Verdict(QUOTE, f"the quote does not stand in {where}, word for word")
    return Verdict(at=passage.found)


def _quoted(citation: Citation, at: tuple[int, int]) -> tuple[tuple[int, str], ...]:
    """The quote itself as lines: it was found exactly so."""
    texts = normal(citation.quote or "").decode("utf-8", "replace").split("\n")[:20]
    return tuple((at[0] + place, text) for place, text in enumerate(texts))


def _decoded(value: str) -> Verdict | None:
    try:
        rule, message, at = json.loads(value)
        return Verdict(rule, message, None if at is None else (at[0], at[1]))
    except (ValueError, TypeError, IndexError):
        return None


def stamp_in(view: View, descriptor: Descriptor) -> str | None:
    """The state of a retained file now; None when it cannot be told, or there is no such file."""
    try:
        with view.open_source(descriptor) as file:
            return _stamp_of(file)
    except NotFound:
        return None
    except StoreUnavailable as exc:
        if exc.reason != reasons.UNSAFE_FILE:
            raise
        return None


def _stamp_of(file: BinaryIO) -> str | None:
    """The state of an open file; None for one that is no file of a disk."""
    try:
        state = os.fstat(file.fileno())
    except (io.UnsupportedOperation, OSError):
        return None
    return f"{state.st_ino}:{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}"
