"""Records and findings as the catalogue keeps them: JSON, so that an unchanged file is not parsed again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import orjson

from lorebank.vaults.record.values import Citation, Finding, Lifecycle, Record, RecordKind


def dump_record(record: Record | None) -> str | None:
    """The text for `load_record`; None for a withheld file."""
    if record is None:
        return None
    evidence = [(one.source, one.lines, one.quote, one.attribution) for one in record.evidence]
    row = (
        record.path,
        record.id,
        record.revision,
        record.kind,
        record.title,
        record.recorded_at,
        record.updated_at,
        record.lifecycle,
        record.aliases,
        record.tags,
        record.dependencies,
        record.type,
        record.entities,
        evidence,
        dict(record.meta),
        record.text_terms,
        record.tokens,
        record.valid,
        dict(record.lines),
    )
    return orjson.dumps(row).decode()


def load_record(text: str | bytes | None) -> Record | None:
    """A record that `dump_record` wrote, equal to the one it was given."""
    if text is None:
        return None
    row: list[Any] = orjson.loads(text)
    return Record(
        path=row[0],
        id=row[1],
        revision=row[2],
        kind=cast(RecordKind, row[3]),
        title=row[4],
        recorded_at=row[5],
        updated_at=row[6],
        lifecycle=cast(Lifecycle, row[7]),
        aliases=tuple(row[8]),
        tags=tuple(row[9]),
        dependencies=tuple(row[10]),
        type=row[11],
        entities=tuple(row[12]),
        evidence=tuple(_citation(one) for one in row[13]),
        meta=row[14],
        text_terms=row[15],
        tokens=row[16],
        valid=row[17],
        lines=row[18],
    )


def dump_findings(findings: Iterable[Finding]) -> str:
    """The text for `load_findings`."""
    return orjson.dumps([(one.path, one.line, one.rule, one.message) for one in findings]).decode()


def load_findings(text: str | bytes) -> tuple[Finding, ...]:
    """Findings that `dump_findings` wrote."""
    return tuple(Finding(*row) for row in orjson.loads(text))


def _citation(row: list[Any]) -> Citation:
    return Citation(row[0], None if row[1] is None else (row[1][0], row[1][1]), row[2], row[3])
