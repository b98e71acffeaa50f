"""vault.json as a strict object, and what it must have in common with the database."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import StoreUnavailable
from lorebank.storage.knowledge_ports import Checkpoint, JournalRow
from lorebank.vaults import reasons
from lorebank.vaults.store.manifest import MAX_BYTES, Manifest, compare, decode, encode

VAULT = "11111111-1111-4111-8111-111111111111"
PUBLICATION = "22222222-2222-4222-8222-222222222222"
OTHER = "33333333-3333-4333-8333-333333333333"
GOOD = {"format": "knowledge-vault-v2", "vaultId": VAULT, "generation": 0, "publicationId": PUBLICATION}


def refused(raw: bytes) -> None:
    with pytest.raises(StoreUnavailable) as said:
        decode(raw)
    assert said.value.reason == reasons.MANIFEST_INVALID


def test_1_4_41_the_object_of_the_seed_is_read() -> None:
    assert decode(json.dumps(GOOD).encode()) == Manifest(VAULT, 0, PUBLICATION)


@given(st.integers(0, 2**63 - 1), st.uuids(version=4), st.uuids(version=4))
def test_1_4_41_what_is_written_is_read_back(generation: int, vault: Any, publication: Any) -> None:
    made = Manifest(str(vault), generation, str(publication))
    assert decode(encode(made)) == made


@pytest.mark.parametrize("key", GOOD)
def test_1_4_41_a_missing_key_is_refused(key: str) -> None:
    refused(json.dumps({name: value for name, value in GOOD.items() if name != key}).encode())


@pytest.mark.parametrize("extra", ["extra", "Format", "vaultid", ""])
def test_1_4_41_an_extra_key_is_refused(extra: str) -> None:
    refused(json.dumps({**GOOD, extra: 1}).encode())


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "knowledge-vault-v1"},
        {"format": None},
        {"vaultId": VAULT.replace("1", "A").upper()},
        {"vaultId": "no uuid"},
        {"vaultId": 1},
        {"vaultId": None},
        {"generation": -1},
        {"generation": True},
        {"generation": 0.0},
        {"generation": "0"},
        {"generation": None},
        {"generation": 2**63},
        {"publicationId": "{" + PUBLICATION + "}"},
        {"publicationId": PUBLICATION.replace("-", "")},
        {"publicationId": []},
    ],
)
def test_1_4_41_a_wrong_value_is_refused(wrong: dict[str, Any]) -> None:
    refused(json.dumps({**GOOD, **wrong}).encode())


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"1",
        b"{",
        b"\xff\xfe",
        b"[" * 20_000,
        json.dumps(GOOD).encode() + b" x",
        json.dumps(GOOD).replace('"generation": 0', '"generation": 0, "generation": 1').encode(),
        json.dumps(GOOD).replace("0,", "NaN,", 1).encode(),
        b"\xef\xbb\xbf" + json.dumps(GOOD).encode(),
    ],
)
def test_1_4_41_what_is_no_such_object_is_refused(raw: bytes) -> None:
    refused(raw)


@pytest.mark.statement("1.8.72")
def test_a_manifest_has_at_most_64_kib() -> None:
    raw = json.dumps(GOOD).encode()
    assert decode(raw + b" " * (MAX_BYTES - len(raw))).vault == VAULT
    refused(raw + b" " * (MAX_BYTES + 1 - len(raw)))


def row(generation: int, publication: str) -> JournalRow:
    return JournalRow(
        request_id="r",
        digest="d",
        folder="private",
        agent=None,
        change="save",
        files=b"",
        records="[]",
        answer="{}",
        message="",
        generation=generation,
        publication_id=publication,
        state="accepted",
        accepted_at=0,
        published_at=None,
        commit=None,
    )


@pytest.mark.statement("1.4.43", "1.4.44")
@pytest.mark.parametrize(
    "manifest, journal, reason",
    [
        (Manifest(VAULT, 5, PUBLICATION), [], None),
        (Manifest(VAULT, 6, OTHER), [row(6, OTHER)], None),
        (Manifest(VAULT, 5, PUBLICATION), [row(6, OTHER)], None),
        (Manifest(OTHER, 5, PUBLICATION), [], reasons.MANIFEST_MISMATCH),
        (Manifest(VAULT, 4, PUBLICATION), [], reasons.OLDER_VAULT),
        (Manifest(VAULT, 4, OTHER), [row(6, OTHER)], reasons.OLDER_VAULT),
        (Manifest(VAULT, 5, OTHER), [], reasons.CHECKPOINT_CONFLICT),
        (Manifest(VAULT, 6, PUBLICATION), [], reasons.CHECKPOINT_CONFLICT),
        (Manifest(VAULT, 7, OTHER), [row(6, OTHER)], reasons.CHECKPOINT_CONFLICT),
    ],
)
def test_only_the_checkpoint_or_an_open_publication_explains_a_manifest(
    manifest: Manifest, journal: list[JournalRow], reason: str | None
) -> None:
    assert compare(manifest, Checkpoint(VAULT, 5, PUBLICATION), journal) == reason
