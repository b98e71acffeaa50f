"""Where new files go."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import LimitExceeded
from lorebank.vaults.tools.filing import page_path, record_path, roomy, slug

ID = "12345678-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Anna Berg", "anna-berg"),
        ("Müller & Söhne GmbH", "müller-söhne-gmbh"),
        ("Straße", "strasse"),
        ("東京 タワー", "東京-タワー"),
        ("../../etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("a_b\tc", "a-b-c"),
        ("😀", ""),
        ("Ünï", "ünï"),
    ],
)
def test_a_title_becomes_a_readable_name(title: str, name: str) -> None:
    assert slug(title) == name


@given(st.text())
def test_a_name_is_safe_in_every_file_system(title: str) -> None:
    name = slug(title)
    assert len(name.encode()) <= 80
    assert unicodedata.is_normalized("NFC", name)
    assert not set(name) & set('/\\.:*?"<>|\x00 ') and not name.startswith("-")
    path = page_path("people", title, ID, [])
    assert path.startswith("people/") and path.endswith(".md") and path.count("/") == 1


@pytest.mark.parametrize("title", ["", "😀", "!!!"])
def test_a_title_without_letters_is_filed_by_its_id(title: str) -> None:
    assert page_path("people", title, ID, []) == "people/12345678.md"


@pytest.mark.parametrize("title", ["con", "NUL", "Com1"])
def test_names_of_devices_are_avoided(title: str) -> None:
    assert page_path("people", title, ID, []) == f"people/{title.lower()}-12345678.md"


def test_a_taken_name_gets_a_piece_of_the_id_whatever_its_case_or_form() -> None:
    for taken in ("people/café.md", "people/CAFÉ.md", "people/cafe\u0301.md"):
        assert page_path("people", "Café", ID, [taken]) == "people/café-12345678.md"
    both = ["people/café.md", "people/café-12345678.md"]
    assert page_path("people", "Café", ID, both) == f"people/{ID}.md"
    assert page_path("people", "Café", ID, [*both, f"people/{ID}.md"]) == f"people/{ID}-3.md"


def test_a_folder_takes_250_files_and_so_does_each_of_its_numbered_subfolders() -> None:
    taken: list[str] = []
    for number in range(1_000):
        taken.append(record_path("claims", f"c{number}", taken))
    counts: dict[str, int] = {}
    for path in taken:
        folder = path.rpartition("/")[0]
        counts[folder] = counts.get(folder, 0) + 1
    assert counts == {"claims": 250, "claims/0001": 250, "claims/0002": 250, "claims/0003": 250}
    del taken[0]
    assert record_path("claims", "x", taken) == "claims/x.md"


def test_other_folders_do_not_count() -> None:
    taken = [f"claims-old/{number}.md" for number in range(300)]
    assert roomy("claims", taken) == "claims"


def test_a_full_folder_says_so() -> None:
    places = ["claims", *(f"claims/{number:04d}" for number in range(1, 251))]
    taken = [f"{place}/{number}.md" for place in places for number in range(250)]
    with pytest.raises(LimitExceeded, match="claims"):
        roomy("claims", taken)
