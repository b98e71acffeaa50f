"""The readable text of an HTML page: what a person would see, in lines."""

from __future__ import annotations

from html.parser import HTMLParser

_SKIPPED = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_BLOCKS = """
    address article aside blockquote br caption dd details div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section summary table tbody tfoot thead
    tr ul
"""
_BREAKING = frozenset(_BLOCKS.split())
_CELLS = frozenset({"td", "th"})


def html_to_text(page: str) -> str:
    """The text of `page` without markup, scripts and styles; the title, where there is one, comes first.

    Broken markup never raises: browsers read it too.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._skipping: list[str] = []
        self._in_title = False
        self._in_pre = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if (tag == "body" or tag in _BREAKING) and self._skipping == ["head"]:
            self._skipping.clear()  # an unclosed head must not swallow the page
        if tag in _SKIPPED:
            self._skipping.append(tag)
        self._in_title = tag == "title"
        self._in_pre = self._in_pre or tag == "pre"
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipping:
            del self._skipping[self._skipping.index(tag) :]
        self._in_title = False
        self._in_pre = self._in_pre and tag != "pre"
        self._break("p" if tag == "title" else tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._break(tag)  # `<svg/>` opens nothing that could be skipped

    def handle_data(self, data: str) -> None:
        if self._in_title or not self._skipping:
            self._parts.append(data if self._in_pre else data.replace("\n", " "))

    def text(self) -> str:
        """Lines without surplus white space, and no empty ones."""
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return "\n".join(line for line in lines if line)

    def _break(self, tag: str) -> None:
        if tag in _BREAKING:
            self._parts.append("\n")
        elif tag in _CELLS:
            self._parts.append(" ")
