"""What a recall found, for people: the texts, and how each came to its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank.cli.output import Column, Printer, one_line, when

NOTHING = "Nothing found."


def show_results(printer: Printer, answer: Mapping[str, Any]) -> None:
    """The results as numbered paragraphs, each with a line about where it comes from."""
    results = answer.get("results") or []
    if not results:
        printer.say(NOTHING)
    for number, result in enumerate(results, 1):
        printer.say(f"{number}. {result.get('text', '')}")
        printer.say(about(result), indent=3)
    _show_parts(printer, answer)
    _show_degraded(printer, answer)


def show_why(printer: Printer, answer: Mapping[str, Any]) -> None:
    """The results, each with a table of the arms that found it and how its score came about."""
    results = answer.get("results") or []
    if not results:
        printer.say(NOTHING)
    reasons = reasons_by_id(answer.get("trace"))
    for number, result in enumerate(results, 1):
        printer.say(f"{number}. {result.get('text', '')}")
        show_reason(printer, result, reasons.get(str(result.get("id")), {}))
    _show_degraded(printer, answer)


def about(result: Mapping[str, Any]) -> str:
    """Type, time, final score, tags and document of a result: short enough for 80 columns."""
    scores = result.get("scores") or {}
    happened = result.get("occurred_start") or result.get("mentioned_at")
    told = [
        one_line(result.get("type")),
        when(happened)[:10],
        f"score {scores['final']:.3f}" if isinstance(scores.get("final"), int | float) else "",
        f"tags {one_line(result['tags'])}" if result.get("tags") else "",
        f"in {one_line(result['document_id'])}" if result.get("document_id") else "",
    ]
    return " · ".join(part for part in told if part)


def reasons_by_id(trace: Any) -> dict[str, dict[str, Any]]:
    """What the trace tells about each result, by memory id."""
    if not isinstance(trace, Mapping):
        return {}
    told = trace.get("results")
    rows = told if isinstance(told, list) else []
    return {str(row.get("id")): dict(row) for row in rows if isinstance(row, Mapping)}


def show_reason(
    printer: Printer, result: Mapping[str, Any], reason: Mapping[str, Any], indent: int = 3
) -> None:
    """Where one result comes from, its arms as a table, and how its final score came about."""
    printer.say(about(result), indent=indent)
    if not reason:
        printer.say("(the server told nothing more about it)", indent=indent)
        return
    columns = (Column("found by"), Column("rank", right=True), Column("score", right=True))
    printer.table(columns, arm_rows(reason), "(no arm found it, but its neighbours)", indent=indent)
    printer.say(final_line(reason), indent=indent)


def arm_rows(reason: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """(arm, rank, score) of every arm that found the result, best rank first."""
    arms = reason.get("arms") or {}
    rows = [(str(name), int(found["rank"]), float(found["score"])) for name, found in arms.items()]
    return sorted(rows, key=lambda row: (row[1], row[0]))


def final_line(reason: Mapping[str, Any]) -> str:
    """How the final score came about, for example `0.410 semantic = 0.410 → final 0.410`."""
    parts = "".join(f"{_signed(value)} {_name(name)}" for name, value in (reason.get("parts") or {}).items())
    parts = parts.removeprefix(" + ").strip() or "0.000"
    factors = [(name, f"{value:.3f}") for name, value in (reason.get("multipliers") or {}).items()]
    times = "".join(f" × {value} {_name(name)}" for name, value in factors if value != "1.000")
    several = " + " in parts or " - " in parts
    told = [f"({parts}){times}" if times and several else parts + times]
    if isinstance(reason.get("fused"), int | float):
        told.append(f"= {reason['fused']:.3f}")
    if isinstance(reason.get("reranker"), int | float):
        told.append(f", reranker {reason['reranker']:.3f}")
    if isinstance(reason.get("final"), int | float):
        told.append(f"→ final {reason['final']:.3f}")
    return " ".join(part for part in told if part).replace(" ,", ",")


def _signed(value: float) -> str:
    return f" + {value:.3f}" if value >= 0 else f" - {-value:.3f}"


def _name(name: str) -> str:
    return name.replace("_", " ")


def _show_parts(printer: Printer, answer: Mapping[str, Any]) -> None:
    for chunk_id, chunk in (answer.get("chunks") or {}).items():
        printer.say(f"\nchunk {one_line(chunk_id)}{' (cut)' if chunk.get('truncated') else ''}:")
        printer.say(str(chunk.get("text") or chunk.get("chunk_text") or ""))
    entities = answer.get("entities") or {}
    if entities:
        named = [one_line(entity.get("canonical_name", name)) for name, entity in entities.items()]
        printer.say("\nentities: " + ", ".join(named))
    for fact_id, fact in (answer.get("source_facts") or {}).items():
        printer.say(f"\nsource {one_line(fact_id)}: {fact.get('text', '')}")


def _show_degraded(printer: Printer, answer: Mapping[str, Any]) -> None:
    for arm, reason in (answer.get("degraded") or {}).items():
        printer.note(f"Not everything could be searched: {arm}: {reason}")
