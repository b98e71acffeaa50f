"""Changing one section of a page's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import InvalidInput
from lorebank.vaults.record.sections import replace_section, section_of, sections

PAGE = """Intro

# State

Good.

## Detail

Fine.

```python
# State
```

# Log ##

- one

# Plans

## Detail

Later."""


def test_a_section_reaches_to_the_next_heading_that_is_not_below_it() -> None:
    assert [one.path for one in sections(PAGE)] == [
        ("State",),
        ("State", "Detail"),
        ("Log",),
        ("Plans",),
        ("Plans", "Detail"),
    ]
    changed = replace_section(PAGE, "State", "Better.")
    assert changed == "Intro\n\n# State\n\nBetter.\n\n# Log ##\n\n- one\n\n# Plans\n\n## Detail\n\nLater."


def test_headings_above_make_a_heading_exact() -> None:
    changed = replace_section(PAGE, ["Plans", "detail"], "Sooner.\n")
    assert changed == PAGE.replace("Later.", "Sooner.")
    assert replace_section(PAGE, ("State", "Detail"), "x") == PAGE.replace(
        "Fine.\n\n```python\n# State\n```\n", "x\n"
    )


def test_the_last_section_keeps_the_end_of_the_text() -> None:
    assert replace_section("# A\nold\n", "A", "new") == "# A\n\nnew\n"
    assert replace_section("# A\nold", "A", "new") == "# A\n\nnew"
    assert replace_section("# A\nold\n# B", "A", "") == "# A\n\n# B"


@pytest.mark.parametrize("heading", ["Missing", "Detail", "", [], ["Log", "Detail"]])
def test_a_missing_or_ambiguous_heading_names_those_that_exist(heading: str | list[str]) -> None:
    with pytest.raises(InvalidInput) as raised:
        section_of(PAGE, heading)
    if heading not in ("", []):
        assert "Detail" in raised.value.message


def test_a_text_that_would_end_its_section_is_refused() -> None:
    with pytest.raises(InvalidInput, match="would end the section"):
        replace_section(PAGE, "Log", "a\n\n# New")
    with pytest.raises(InvalidInput, match="code fence"):
        replace_section(PAGE, "Log", "```\nnever closed")
    assert "## Below" in replace_section(PAGE, "Log", "a\n\n## Below\n\n```\n# no heading\n```")


@given(st.lists(st.sampled_from(["# A", "# B", "## C", "text", "```", "~~~", "    # no", "", "#no", "###"])))
def test_everything_outside_the_section_stays(lines: list[str]) -> None:
    body = "\n".join(lines)
    every = sections(body)
    for one in every:
        same = [other for other in every if other.path[-len(one.path) :] == one.path]
        if len(same) > 1 or not all(one.path):
            continue
        after = replace_section(body, one.path, "NEW").split("\n")
        assert after[: one.start] == lines[: one.start]
        rest = lines[one.end :]
        assert after[len(after) - len(rest) :] == rest
        assert section_of("\n".join(after), one.path).path == one.path
