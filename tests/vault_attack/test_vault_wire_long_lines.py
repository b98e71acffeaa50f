"""Texts made to be looked at again and again, which takes minutes where work grows with the square.

While a pattern is tried nothing else of the process runs: one agent's text would stop every store and bank.
"""

from __future__ import annotations

import pytest

from lorebank.banks.extract.prose import passages
from lorebank.banks.extract.turns import _ends_in_question
from lorebank.errors import InvalidInput
from lorebank.vaults.record.sections import replace_section, section_of, sections

MANY = 100_000


def test_a_page_may_be_nothing_but_headings() -> None:
    body = "# a\n" * MANY + "## last\n\nx"
    found = sections(body)
    assert len(found) == MANY + 1
    assert [one.end - one.start for one in found[-2:]] == [3, 2]
    assert replace_section(body, ["a", "last"], "y").endswith("## last\n\ny")
    with pytest.raises(InvalidInput, match="100000 sections"):
        section_of(body, "a")


def test_a_long_heading_above_many_is_folded_once() -> None:
    body = "# " + "A " * MANY + "\n" + "## b\n" * 20_000 + "## c\n"
    assert section_of(body, ["a " * MANY, "C"]).path[-1] == "c"


@pytest.mark.parametrize("filling", [" " * MANY, "\t #" * MANY, " #" * MANY + " "])
def test_blanks_in_a_heading_cost_nothing(filling: str) -> None:
    line = f"# a{filling}x"
    assert [one.path for one in sections(line)] == [((line[2:]),)]
    found = passages("word " * 100 + "\n" + line + "\n\n" + "text " * 3)
    assert any(one.text.rstrip().endswith("text text text") for one in found)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# a ##", "a"),
        ("# a #b", "a #b"),
        ("# a#", "a#"),
        ("## ", ""),
        ("#", ""),
        ("# ##", ""),
        ("#\ta \t# \t", "a"),
    ],
)
def test_what_closes_a_heading_is_not_its_text(line: str, title: str) -> None:
    assert [one.path for one in sections(line)] == [(title,)]


@pytest.mark.parametrize("line", ["#a", "    # a", "####### a", "\\# a"])
def test_what_is_no_heading_opens_no_section(line: str) -> None:
    assert sections(line) == []


def test_a_row_of_question_marks_is_looked_at_once() -> None:
    assert not _ends_in_question("?" * MANY + "x")
    assert not _ends_in_question("what?_")
    assert _ends_in_question("what?" + "!" * MANY)
    assert _ends_in_question("何？」\n")
