"""vault.json: whose vault a folder is, and which publication it was at (seed 000, Storage layout)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.errors import InvalidInput, NotFound, StoreUnavailable
from lorebank.ids import new_uuid
from lorebank.storage.knowledge_ports import Checkpoint, JournalRow
from lorebank.storage.tree.ports import Tree
from lorebank.vaults import reasons

FORMAT: Final = "knowledge-vault-v2"
NAME: Final = "vault.json"
MAX_BYTES: Final = 65_536
"""Of a manifest (seed 000, Limits)."""
_KEYS: Final = frozenset({"format", "vaultId", "generation", "publicationId"})


@dataclass(frozen=True, slots=True)
class Manifest:
    """`generation` counts the vault's publications from 0; `publication_id` names the last one."""

    vault: str
    generation: int
    publication_id: str

    @property
    def checkpoint(self) -> Checkpoint:
        """What the database has to say of it."""
        return Checkpoint(self.vault, self.generation, self.publication_id)


def first(vault: str) -> Manifest:
    """The manifest of a vault that was just made."""
    return Manifest(vault, 0, new_uuid())


def encode(manifest: Manifest) -> bytes:
    """The file's bytes."""
    data = {
        "format": FORMAT,
        "vaultId": manifest.vault,
        "generation": manifest.generation,
        "publicationId": manifest.publication_id,
    }
    return (json.dumps(data, indent=2) + "\n").encode()


def decode(raw: bytes) -> Manifest:
    """The manifest in `raw`; `StoreUnavailable` (manifest_invalid) for anything but the strict object."""
    if len(raw) > MAX_BYTES:
        raise _invalid(f"is larger than {MAX_BYTES} bytes")
    try:
        data = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except (ValueError, RecursionError) as exc:
        raise _invalid("is not one JSON object with each key once") from exc
    if not isinstance(data, dict) or data.keys() != _KEYS:
        raise _invalid("must have exactly format, vaultId, generation and publicationId")
    if data["format"] != FORMAT:
        raise _invalid(f"must have the format '{FORMAT}'")
    generation = data["generation"]
    if type(generation) is not int or not 0 <= generation < 2**63:
        raise _invalid("must have a whole number from 0 as generation")
    return Manifest(_uuid(data, "vaultId"), generation, _uuid(data, "publicationId"))


def read(tree: Tree) -> Manifest:
    """The manifest of the vault below `tree`: missing_manifest, manifest_invalid, unsafe_file."""
    try:
        _, raw = tree.read(NAME, max_bytes=MAX_BYTES)
    except NotFound as exc:
        raise StoreUnavailable(
            reasons.MISSING_MANIFEST, "vault.json of the knowledge store is missing; bring it back"
        ) from exc
    except InvalidInput as exc:
        raise _invalid(f"is larger than {MAX_BYTES} bytes") from exc
    return decode(raw)


def compare(manifest: Manifest, checkpoint: Checkpoint, journal: Sequence[JournalRow]) -> str | None:
    """Why vault and database do not belong together now; None when they do.

    The checkpoint's own publication fits, and that of an open journal row: a kill between vault.json and
    the database leaves exactly this (decision 4 of the publication). Nothing else explains a difference,
    and nothing is replaced by itself (statements 1.4.43-44).
    """
    if manifest.vault != checkpoint.vault:
        return reasons.MANIFEST_MISMATCH
    known = {(checkpoint.generation, checkpoint.publication_id)}
    known.update((row.generation, row.publication_id) for row in journal)
    if (manifest.generation, manifest.publication_id) in known:
        return None
    if manifest.generation < checkpoint.generation:
        return reasons.OLDER_VAULT
    return reasons.CHECKPOINT_CONFLICT


def mismatch(reason: str) -> StoreUnavailable:
    """The refusal that `compare` gives the reason for."""
    said = {
        reasons.MANIFEST_MISMATCH: "vault.json belongs to another knowledge store than its database",
        reasons.OLDER_VAULT: "the vault is older than its database: an old copy was put in its place",
        reasons.CHECKPOINT_CONFLICT: "vault.json names a publication that the database does not know",
    }
    return StoreUnavailable(
        reason, f"{said[reason]}; bring vault and database back from the same backup. Nothing is replaced"
    )


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _uuid(data: dict[str, Any], key: str) -> str:
    value = data[key]
    try:
        good = isinstance(value, str) and str(uuid.UUID(value)) == value
    except ValueError:
        good = False
    if not good:
        raise _invalid(f"must have a UUID in lower case as {key}")
    return str(value)


def _invalid(what: str) -> StoreUnavailable:
    return StoreUnavailable(
        reasons.MANIFEST_INVALID, f"vault.json of the knowledge store {what}; bring it back from a backup"
    )
