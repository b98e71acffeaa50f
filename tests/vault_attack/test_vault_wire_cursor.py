"""Cursors that somebody made who has read how they are made."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lorebank.errors import InvalidInput
from lorebank.vaults.find import cursor


def forged(body: Any) -> str:
    raw = json.dumps(body).encode("ascii")
    return base64.urlsafe_b64encode(cursor._sum(raw) + raw).decode("ascii").rstrip("=")


def test_a_cursor_leads_on() -> None:
    assert cursor.decode(forged([5, "q", "o"]), "q", "o") == 5
    assert cursor.decode(cursor.encode(7, "q", "o"), "q", "o") == 7


@pytest.mark.parametrize("place", [-1, True, None, "5", "x", [], {}, 1.5, float("nan"), float("inf")])
def test_a_place_that_is_none_is_refused(place: Any) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        cursor.decode(forged([place, "q", "o"]), "q", "o")


@pytest.mark.parametrize("body", [None, 1, True, [], {}, [1, "q"], [1, "q", "o", 2], "abc", {"a": 1}])
def test_what_is_no_cursor_is_refused(body: Any) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        cursor.decode(forged(body), "q", "o")
