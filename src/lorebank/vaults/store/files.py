"""Which files of a partition the catalogue knows, and reading one of them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from lorebank.access.audience import Partition
from lorebank.errors import InvalidInput, NotFound
from lorebank.storage.tree.ports import Tree
from lorebank.vaults.evidence.descriptors import MAX_DESCRIPTOR_BYTES
from lorebank.vaults.record.descriptors import parse_descriptor
from lorebank.vaults.record.extension import MAX_ONTOLOGY_BYTES, ONTOLOGY_FILE
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.parse import parse_record
from lorebank.vaults.record.values import MAX_RECORD_BYTES, Finding, Parsed
from lorebank.vaults.store.rows import Known, RowKind, is_settled, stamp_of
from lorebank.vaults.store.values import Stamp

ARTIFACTS: Final = "artifacts/"
_LIMITS: Final[dict[RowKind, int]] = {
    "record": MAX_RECORD_BYTES,
    "descriptor": MAX_DESCRIPTOR_BYTES,
    "ontology": MAX_ONTOLOGY_BYTES,
}
_NOW_NS: Callable[[], int] = time.time_ns


@dataclass(frozen=True, slots=True)
class Fresh:
    """A file as it was just read. `raw` is None when it is too large: then nothing is known but that."""

    path: str
    kind: RowKind
    stamp: Stamp
    sha256: str
    raw: bytes | None
    settled: bool


def kind_of(path: str, partition: Partition) -> RowKind | None:
    """What a file is by its path in the partition; None for what the catalogue passes over.

    The contents of retained sources are verified when they are used. `ontology.yaml` counts in the private
    partition only (statement 1.5.48).
    """
    if path.startswith(ARTIFACTS):
        return "descriptor" if path.endswith(".json") else None
    if path.endswith(".md"):
        return "record"
    return "ontology" if path == ONTOLOGY_FILE and partition.session is None else None


def read_file(tree: Tree, partition: Partition, path: str, kind: RowKind) -> Fresh | None:
    """Read a file of the partition; None when it is gone. What cannot be read safely raises."""
    full = f"{partition.folder}/{path}"
    begun = _NOW_NS()
    try:
        state, raw = tree.read(full, max_bytes=_LIMITS[kind])
    except NotFound:
        return None
    except InvalidInput:
        found = tree.state(full)
        if found is None:
            return None
        return Fresh(path, kind, stamp_of(found), "", None, is_settled(stamp_of(found), begun))
    stamp = stamp_of(state)
    return Fresh(path, kind, stamp, hashlib.sha256(raw).hexdigest(), raw, is_settled(stamp, begun))


def parsed(fresh: Fresh, partition: Partition, ontology: Ontology) -> Known:
    """What the file says, on its own; key and revision are not decided yet."""
    known = Known(0, fresh.path, fresh.kind, fresh.stamp, fresh.sha256, 1, settled=fresh.settled)
    return described(known, fresh.raw, partition, ontology)


def described(known: Known, raw: bytes | None, partition: Partition, ontology: Ontology) -> Known:
    """`known` with what its bytes say. What is wrong with an ontology is told with the ontology."""
    found, data = Parsed(None, ()), ""
    if raw is None and known.kind != "ontology":
        found = _refused(known.path, f"is larger than {_LIMITS[known.kind]} bytes and is passed over")
    elif raw is not None and known.kind == "record":
        found = parse_record(known.path, raw, partition, ontology)
    elif raw is not None and known.kind == "descriptor":
        descriptor = parse_descriptor(known.path, raw, partition)
        if isinstance(descriptor, Finding):
            found = Parsed(None, (descriptor,))
        else:
            data = raw.decode("utf-8")
    return replace(known, record=found.record, findings=found.findings, data=data)


def _refused(path: str, what: str) -> Parsed:
    return Parsed(None, (Finding(path, 0, "size", f"{path} {what}; make it smaller."),))
