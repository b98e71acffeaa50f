"""Why a memory was found, in words."""

from __future__ import annotations

import io
from typing import Any

from lorebank.cli.output import Printer
from lorebank.cli.why import about, arm_rows, final_line, reasons_by_id, show_results, show_why

REASON: dict[str, Any] = {
    "id": "m1",
    "arms": {"semantic": {"rank": 2, "score": 0.7}, "keyword": {"rank": 1, "score": 4.25}},
    "parts": {"semantic": 0.41, "keyword": 0.22},
    "multipliers": {"recency": 1.02},
    "fused": 0.643,
    "reranker": None,
    "final": 0.643,
}
ANSWER: dict[str, Any] = {
    "results": [
        {
            "id": "m1",
            "text": "Mara moves\x1b[2J to Oslo",
            "type": "world",
            "mentioned_at": "2026-03-01T00:00:00+00:00",
            "document_id": "d\x07",
            "tags": ["home"],
            "scores": {"final": 0.643},
        }
    ],
    "trace": {"results": [REASON]},
    "chunks": {"c1": {"text": "the piece", "truncated": True}},
    "entities": {"Mara": {"canonical_name": "Mara"}},
    "source_facts": None,
    "degraded": {"semantic": "the model is loading"},
}


def printed(show: Any, answer: dict[str, Any]) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    show(Printer(as_json=False, out=out, err=err), answer)
    return out.getvalue(), err.getvalue()


def test_the_sum_behind_the_final_score_is_told() -> None:
    assert final_line(REASON) == "(0.410 semantic + 0.220 keyword) × 1.020 recency = 0.643 → final 0.643"
    assert final_line(REASON | {"multipliers": {}, "reranker": 0.9}) == (
        "0.410 semantic + 0.220 keyword = 0.643, reranker 0.900 → final 0.643"
    )


def test_a_sum_of_nothing_or_with_a_malus_is_told_too() -> None:
    assert final_line({"parts": {}, "multipliers": {"recency": 1.01}, "final": 0.0}) == (
        "0.000 × 1.010 recency → final 0.000"
    )
    assert final_line({"parts": {"semantic": 0.3, "asking": -0.03}, "fused": 0.27}) == (
        "0.300 semantic - 0.030 asking = 0.270"
    )


def test_arms_are_listed_by_rank() -> None:
    assert arm_rows(REASON) == [("keyword", 1, 4.25), ("semantic", 2, 0.7)]
    assert arm_rows({}) == []


def test_results_are_shown_with_where_they_come_from_and_no_control_character() -> None:
    out, err = printed(show_results, ANSWER)
    assert "1. Mara moves\\x1b[2J to Oslo" in out
    assert "world · 2026-03-01 · score 0.643 · tags home · in d\\x07" in " ".join(out.split())
    assert "chunk c1 (cut):" in out and "entities: Mara" in out
    assert "\x1b" not in out + err
    assert err == "Not everything could be searched: semantic: the model is loading\n"


def test_why_shows_arms_ranks_and_the_sum() -> None:
    out, _ = printed(show_why, ANSWER)
    assert "keyword" in out and "4.250" in out and "→ final 0.643" in " ".join(out.split())
    assert max(len(line) for line in out.splitlines()) <= 80


def test_nothing_found_says_so() -> None:
    assert printed(show_why, {"results": [], "trace": None})[0].strip() == "Nothing found."
    assert reasons_by_id(None) == {} and about({"id": "x"}) == ""
