"""What a record file may say, and what is told about one that says something else."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.access.audience import PRIVATE, Partition
from lorebank.vaults.record.parse import body_of, parse_record
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.record.values import MAX_DIAGNOSTICS, MAX_RECORD_BYTES, Citation, Parsed, Record
from vault_kit.memory_vault import MemoryVault, record_bytes

SESSION = "33333333-3333-4333-8333-333333333333"
TEXT = """---
format: knowledge-record-v1
id: p-1
revision: 3
kind: page   # what it is
type: project
title: "Garden"
recorded_at: 2026-11-01T08:00:00+00:00
updated_at: 2026-11-02T08:00:00.500Z
scope:
  visibility: private
lifecycle: active
aliases: [The garden, 'Back yard']
tags:
- home
dependencies: [p-2]
fields:
  status: active
  started: 2026-03
my-own:
  when: 2026-11-30
  depth: 0x10
---

# State
Green.
"""


def parsed(text: str | bytes, path: str = "notes/x.md", partition: Partition = PRIVATE) -> Parsed:
    return parse_record(path, text.encode() if isinstance(text, str) else text, partition, SHIPPED)


def readable(text: str | bytes, path: str = "notes/x.md", partition: Partition = PRIVATE) -> Record:
    found = parsed(text, path, partition).record
    assert found is not None
    return found


def rules(found: Parsed) -> list[tuple[int, str]]:
    return [(one.line, one.rule) for one in found.findings]


def test_2_1_1_a_record_is_markdown_behind_closed_yaml_frontmatter() -> None:
    found = parsed(TEXT)
    record = found.record
    assert found.findings == () and record is not None
    assert (record.id, record.revision, record.kind, record.type) == ("p-1", 3, "page", "project")
    assert record.meta["fields"] == {"status": "active", "started": "2026-03"}
    assert body_of(TEXT.encode()) == "# State\nGreen."
    assert "green" in record.text_terms.split() and "yard" in record.text_terms.split()
    assert "activ" in record.text_terms
    assert record.tokens > 0


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_2_1_1_line_ends_and_a_byte_order_mark_change_nothing(eol: str, mark: str) -> None:
    record = readable(mark + TEXT.replace("\n", eol))
    assert record == readable(TEXT)


def test_2_1_2_the_common_keys_are_read_and_times_are_put_in_one_form() -> None:
    record = readable(TEXT)
    assert record.recorded_at == "2026-11-01T08:00:00Z"
    assert record.updated_at == "2026-11-02T08:00:00.500000Z"
    assert record.aliases == ("The garden", "Back yard")
    assert (record.tags, record.dependencies, record.lifecycle) == (("home",), ("p-2",), "active")


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("format", "knowledge-record-v2"),
        ("id", ""),
        ("id", "x" * 201),
        ("id", "a\tb"),
        ("id", " a"),
        ("id", 5),
        ("id", ["a"]),
        ("revision", 0),
        ("revision", -1),
        ("revision", "1"),
        ("revision", True),
        ("revision", 1.5),
        ("kind", "candidate"),
        ("kind", {}),
        ("title", ""),
        ("title", "two\nlines"),
        ("title", 1984),
        ("recorded_at", "2026-11-30"),
        ("recorded_at", "2026-11-30T08:00:00"),
        ("updated_at", "2026-11-30T08:00:00+01:00"),
        ("updated_at", "2026-13-30T08:00:00Z"),
        ("lifecycle", "candidate"),
        ("lifecycle", "approved"),
        ("aliases", "one"),
        ("aliases", [1]),
        ("tags", {"a": 1}),
        ("dependencies", [""]),
    ],
)
def test_2_1_5_a_wrong_envelope_withholds_the_record_and_names_the_line(key: str, wrong: Any) -> None:
    text = record_bytes(type="person", **{key: wrong}).decode()
    found = parsed(text)
    line = next(at for at, one in enumerate(text.split("\n"), 1) if one.startswith(f"{key}:"))
    assert found.record is None
    assert [one.rule for one in found.findings] == [f"envelope.{key}"]
    assert line <= found.findings[0].line <= line + 1
    assert f"'{key}'" in found.findings[0].message


@pytest.mark.parametrize(
    "key", ["format", "id", "revision", "kind", "title", "recorded_at", "updated_at", "lifecycle", "scope"]
)
def test_2_1_2_every_common_key_is_needed(key: str) -> None:
    lines = TEXT.split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith(f"{key}:"))
    del lines[start : start + (2 if key == "scope" else 1)]
    found = parsed("\n".join(lines))
    assert found.record is None and len(found.findings) == 1


@pytest.mark.parametrize(
    ("front", "rule", "line"),
    [
        ("Text only\n", "frontmatter.missing", 1),
        ("", "frontmatter.missing", 1),
        ("---\na: 1\n", "frontmatter.open", 1),
        ("---\n---\n", "frontmatter.empty", 2),
        ("---\n# only\n---\n", "frontmatter.empty", 2),
        ("---\n- a\n---\n", "frontmatter.mapping", 2),
        ("---\ntext\n---\n", "frontmatter.mapping", 2),
        ("---\na: 1\nb: [1\nc: 2\n---\n", "yaml.syntax", 4),
        ("---\na: 1\n\nb: 2\na: 3\n---\n", "yaml.duplicate_key", 5),
        ("---\na: 1\nb: {c: 1, c: 2}\n---\n", "yaml.duplicate_key", 3),
        ("---\na: &x 1\nb: 2\nc: *x\n---\n", "yaml.alias", 4),
        ("---\na: 1\nb: !!python/object:os.system x\n---\n", "yaml.tag", 3),
        ("---\na: !own x\n---\n", "yaml.tag", 2),
        ("---\na: 1\nb: !!int x\n---\n", "yaml.tag", 3),
        ("---\na: 1\n? [b]\n: 2\n---\n", "yaml.key", 3),
        ("---\na: 1\n...\n%YAML 1.2\n---\n", "yaml.syntax", 5),
        ("---\na: 1\n...\nb: 2\n---\n", "yaml.documents", 4),
        ('---\na: 1\nb: "\\ud800"\n---\n', "yaml.character", 3),
        ("---\na: 1\nb: \x07\n---\n", "yaml.character", 3),
    ],
)
def test_2_1_5_broken_frontmatter_is_told_by_its_line(front: str, rule: str, line: int) -> None:
    found = parsed(front)
    assert found.record is None
    assert rules(found) == [(line, rule)]


def test_2_1_1_bytes_that_are_no_utf8_are_told_by_their_line() -> None:
    found = parsed(b"---\nformat: x\ntitle: caf\xe9\n---\n")
    assert rules(found) == [(3, "record.encoding")]


def test_an_alias_bomb_costs_nothing() -> None:
    bomb = "a0: &a0 [x, x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert rules(parsed(f"---\n{bomb}---\n")) == [(3, "yaml.alias")]


def test_1_8_71_a_record_has_at_most_5_000_000_bytes_with_its_frontmatter() -> None:
    empty = len(record_bytes("x", type="person"))
    just = record_bytes("x" * (MAX_RECORD_BYTES - empty + 1), type="person")
    assert len(just) == MAX_RECORD_BYTES == 5_000_000
    assert readable(just).valid
    assert rules(parsed(just + b"x")) == [(0, "record.size")]


@pytest.mark.parametrize("flow", [True, False])
def test_1_8_73_frontmatter_nests_20_levels(flow: bool) -> None:
    def nested(levels: int) -> str:
        if flow:
            return f"deep: {'[' * (levels - 1)}{']' * (levels - 1)}\n"
        lines = [f"{'  ' * at}k:" for at in range(levels - 1)]
        return "\n".join(["deep:", *(f"  {line}" for line in lines[:-1])]) + f"\n{'  ' * (levels - 1)}k: 1\n"

    good = TEXT.replace("my-own:", nested(20) + "my-own:")
    bad = TEXT.replace("my-own:", nested(21) + "my-own:")
    assert readable(good).valid
    found = parsed(bad)
    assert found.record is None and [one.rule for one in found.findings] == ["yaml.nesting"]
    assert rules(parsed(f"---\na: {'[' * 100_000}\n---\n")) == [(2, "yaml.nesting")]


def test_1_8_73_the_fast_reader_counts_levels_alike() -> None:
    def value(levels: int) -> Any:
        return "x" if levels == 0 else {"k": value(levels - 1)}

    assert readable(record_bytes(type="person", deep=value(19))).valid
    assert parsed(record_bytes(type="person", deep=value(20))).record is None
    assert parsed(record_bytes(type="person", deep=[[[[value(17)]]]])).record is None


@pytest.mark.statement("1.8.74")
def test_a_file_gives_one_finding_more_than_an_answer_holds() -> None:
    found = parsed(record_bytes(type="person", tags=[""] * 5_000))
    assert len(found.findings) == MAX_DIAGNOSTICS + 1
    assert found.findings[-1].rule == "record.more"


@pytest.mark.parametrize(
    ("scope", "rule"),
    [
        (None, "scope.invalid"),
        ("private", "scope.invalid"),
        ({"visibility": "public"}, "scope.invalid"),
        ({"visibility": "private", "sessionId": SESSION}, "scope.invalid"),
        ({"visibility": "private", "agent": "main"}, "scope.invalid"),
        ({"visibility": "conversation"}, "scope.invalid"),
        ({"visibility": "conversation", "sessionId": SESSION}, "scope.mismatch"),
    ],
)
def test_1_5_50_a_record_of_another_scope_is_withheld(scope: Any, rule: str) -> None:
    found = parsed(record_bytes(type="person", scope=scope))
    assert found.record is None and [one.rule for one in found.findings] == [rule]


def test_1_5_49_the_scope_is_that_of_the_partition() -> None:
    own = Partition(SESSION)
    other = Partition(str(uuid.UUID(int=1)))
    assert readable(record_bytes(partition=own, type="person"), partition=own).valid
    for there in (other, PRIVATE):
        found = parsed(record_bytes(partition=own, type="person"), partition=there)
        assert found.record is None and [one.rule for one in found.findings] == ["scope.mismatch"]
    lettered = "abcdefab-3333-4333-8333-333333333333"
    upper = {"visibility": "conversation", "sessionId": lettered.upper()}
    assert parsed(record_bytes(type="person", scope=upper), partition=Partition(lettered)).record is None


def test_1_5_50_a_withheld_record_is_listed_and_its_file_left_alone() -> None:
    vault = MemoryVault()
    data = record_bytes(type="person", partition=Partition(SESSION))
    vault.put("people/x.md", data)
    view = vault.view()
    assert view.entries["people/x.md"].record is None
    assert [one.rule for one in view.findings] == ["scope.mismatch"]
    assert vault.files["people/x.md"] == data


def test_2_1_3_unknown_frontmatter_is_in_what_is_read() -> None:
    assert readable(TEXT).meta["my-own"] == {"when": "2026-11-30", "depth": 16}


def test_dates_stay_text_and_a_year_may_be_a_number() -> None:
    claim = record_bytes("x", kind="claim", claim_kind="fact", evidence=[{"source": "s"}], valid_from=2026)
    record = readable(claim)
    assert record.meta["valid_from"] == "2026" and record.valid
    assert json.loads(json.dumps(dict(record.meta))) == record.meta


@pytest.mark.parametrize(
    ("path", "type_name"),
    [
        ("people/a.md", "person"),
        ("projects/2026/a.md", "project"),
        ("sources/a.md", "source"),
        ("a.md", None),
    ],
)
def test_2_1_6_a_page_without_a_type_is_classified_by_its_path(path: str, type_name: str | None) -> None:
    data = record_bytes()
    found = parsed(data, path)
    assert found.record is not None and found.record.type == type_name
    assert found.record.valid == (type_name is not None)
    assert "type" not in found.record.meta
    if type_name is None:
        assert [one.rule for one in found.findings] == ["page.type"]


def test_2_1_6_a_written_type_wins_over_the_path() -> None:
    assert readable(record_bytes(type="company"), "people/a.md").type == "company"


@pytest.mark.parametrize("status", ["active", "paused", "completed", "cancelled"])
def test_2_1_6_a_projects_status_is_apart_from_its_lifecycle(status: str) -> None:
    record = readable(record_bytes(type="project", fields={"status": status}, lifecycle="superseded"))
    assert record.valid and record.lifecycle == "superseded"


@pytest.mark.parametrize(
    ("meta", "rule"),
    [
        ({"type": "unicorn"}, "page.type"),
        ({"type": ["person"]}, "page.type"),
        ({"type": "project", "fields": {"status": "done"}}, "fields.value"),
        ({"type": "project", "fields": {"due": "soon"}}, "fields.value"),
        ({"type": "project", "fields": {"owner": 5}}, "fields.value"),
        ({"type": "person", "fields": ["a"]}, "fields.form"),
        ({"type": "person", "fields": {"email": 5}}, "fields.value"),
        ({"type": "person", "entities": "x"}, "record.entities"),
        ({"type": "person", "source_page": 5}, "record.source_page"),
        ({"type": "person", "valid_from": "x"}, "record.valid_from"),
        ({"type": "person", "valid_from": "2026-11", "valid_to": "2026-10-31"}, "record.valid_to"),
    ],
)
def test_2_1_5_wrong_domain_data_is_marked_and_can_be_looked_at(meta: dict[str, Any], rule: str) -> None:
    found = parsed(record_bytes(**meta))
    assert found.record is not None and not found.record.valid
    assert [one.rule for one in found.findings] == [rule]
    assert found.findings[0].line > 1


def test_a_validity_is_compared_as_far_as_both_ends_are_exact() -> None:
    assert readable(record_bytes(type="person", valid_from=2026, valid_to="2026-03")).valid


@pytest.mark.parametrize("kind", ["fact", "preference", "decision", "commitment", "event", "belief"])
def test_2_1_7_the_kinds_of_claims(kind: str) -> None:
    data = record_bytes("Yes.", kind="claim", claim_kind=kind, evidence=[{"source": "s"}])
    assert readable(data).valid


@pytest.mark.parametrize(
    ("body", "meta", "rule"),
    [
        ("x", {"claim_kind": "fact"}, "evidence.missing"),
        ("x", {"claim_kind": "fact", "evidence": []}, "evidence.missing"),
        ("x", {"claim_kind": "fact", "evidence": "s"}, "evidence.form"),
        ("x", {"claim_kind": "fact", "evidence": ["s"]}, "evidence.source"),
        ("x", {"claim_kind": "fact", "evidence": [{"source": "s", "lines": "5-3"}]}, "evidence.lines"),
        ("x", {"claim_kind": "fact", "evidence": [{"source": "s", "lines": 0}]}, "evidence.lines"),
        ("x", {"claim_kind": "fact", "evidence": [{"source": "s", "quote": 1}]}, "evidence.quote"),
        ("x", {"claim_kind": "rumour", "evidence": [{"source": "s"}]}, "claim.kind"),
        ("x", {"evidence": [{"source": "s"}]}, "claim.kind"),
        (" ", {"claim_kind": "fact", "evidence": [{"source": "s"}]}, "claim.text"),
        ("x", {"claim_kind": "fact", "evidence": [{"source": "s"}], "remembered": "yes"}, "claim.remembered"),
    ],
)
def test_2_1_7_a_claim_has_a_kind_a_text_and_evidence(body: str, meta: dict[str, Any], rule: str) -> None:
    found = parsed(record_bytes(body, kind="claim", **meta))
    assert found.record is not None and not found.record.valid
    assert [one.rule for one in found.findings] == [rule]


def test_2_1_9_citations_have_lines_quote_and_attribution_and_no_cap() -> None:
    evidence = [
        {"source": "s", "lines": "3-5", "quote": "a: 'b'", "attribution": "Anna"},
        {"source": "t", "lines": 4},
    ]
    many = evidence + [{"source": f"s{n}"} for n in range(2_000)]
    record = readable(record_bytes("x", kind="claim", claim_kind="fact", evidence=many))
    assert record.evidence[:2] == (Citation("s", (3, 5), "a: 'b'", "Anna"), Citation("t", (4, 4)))
    assert len(record.evidence) == 2_002 and record.valid


@pytest.mark.parametrize(
    ("meta", "rule"),
    [
        (
            {"relation": "loves", "from": "a", "to": "b", "evidence": [{"source": "s"}]},
            "relationship.relation",
        ),
        ({"from": "a", "to": "b", "evidence": [{"source": "s"}]}, "relationship.relation"),
        ({"relation": "knows", "to": "b", "evidence": [{"source": "s"}]}, "relationship.end"),
        ({"relation": "knows", "from": "a", "to": 5, "evidence": [{"source": "s"}]}, "relationship.end"),
        ({"relation": "knows", "from": "a", "to": "b"}, "evidence.missing"),
    ],
)
def test_2_1_8_a_relationship_has_a_relation_two_ends_and_evidence(meta: dict[str, Any], rule: str) -> None:
    found = parsed(record_bytes(kind="relationship", **meta))
    assert found.record is not None and not found.record.valid
    assert [one.rule for one in found.findings] == [rule]


def test_2_1_10_a_remembered_claims_annotations_are_read() -> None:
    record = readable(
        record_bytes(
            "x",
            kind="claim",
            claim_kind="fact",
            remembered=True,
            origin="knowledge_remember",
            entities=["p-1"],
            source_page="p-2",
            subject_hint="Anna",
            evidence=[{"source": "s", "quote": "x"}],
        )
    )
    assert record.valid and record.entities == ("p-1",)
    assert (record.meta["source_page"], record.meta["subject_hint"]) == ("p-2", "Anna")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=200))
def test_no_file_makes_the_reader_fail(raw: bytes, text: str) -> None:
    for data in (raw, b"---\n" + raw + b"\n---\n", f"---\n{text}\n---\n".encode("utf-8", "replace")):
        found = parsed(data)
        assert found.record is not None or found.findings
