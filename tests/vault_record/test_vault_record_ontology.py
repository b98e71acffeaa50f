"""The shipped ontology, and what an owner may add to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorebank.access.audience import PRIVATE, Partition
from lorebank.vaults.record.extension import MAX_ONTOLOGY_BYTES, load_extension
from lorebank.vaults.record.parse import parse_record
from lorebank.vaults.record.shipped import SHIPPED
from vault_kit.memory_vault import MemoryVault, record_bytes

GOOD = b"""# ours
types:
  recipe:
    label: Recipe
    description: Something to cook.
    folder: recipes
    aliases: [dish]
    fields:
      servings: number
      course: {kind: text, values: [starter, main, dessert], required: true}
  diary_page:
    folder: diary
    entity: false
relations:
  cooks:
    from: [person]
    to: [recipe]
prefixes:
  - {path: people/cooks/, type: person}
  - path: kitchen
    type: recipe
"""


def test_2_1_6_the_shipped_types_and_their_folders() -> None:
    folders = {name: one.folder for name, one in SHIPPED.types.items()}
    assert folders == {
        "person": "people",
        "company": "companies",
        "project": "projects",
        "place": "places",
        "event": "events",
        "concept": "concepts",
        "source": "sources",
    }
    assert SHIPPED.types["project"].fields["status"].values == ("active", "paused", "completed", "cancelled")
    assert [name for name in folders if not SHIPPED.is_entity(name)] == ["source"]
    assert set(SHIPPED.claim_kinds) == {"fact", "preference", "decision", "commitment", "event", "belief"}


def test_2_1_8_every_shipped_relation_joins_known_types_and_is_described() -> None:
    for relation in SHIPPED.relations.values():
        assert set(relation.sources) | set(relation.targets) <= set(SHIPPED.types)
        assert relation.label and relation.description
    names = [name for one in SHIPPED.relations.values() for name in (one.name, *one.aliases)]
    names_of_types = [name for one in SHIPPED.types.values() for name in (one.name, *one.aliases)]
    assert len(names) == len(set(names)) and len(names_of_types) == len(set(names_of_types))


def test_an_extension_adds_types_relations_fields_and_prefixes() -> None:
    ontology, findings = load_extension(GOOD)
    assert findings == ()
    recipe = ontology.types["recipe"]
    assert (recipe.folder, recipe.entity, recipe.shipped, recipe.aliases) == (
        "recipes",
        True,
        False,
        ("dish",),
    )
    assert recipe.fields["servings"].kind == "number" and recipe.fields["course"].required
    assert not ontology.is_entity("diary_page")
    assert ontology.relations["cooks"].targets == ("recipe",)
    assert ontology.prefixes[:2] == (("people/cooks/", "person"), ("kitchen/", "recipe"))
    assert ontology.prefixes[-len(SHIPPED.prefixes) :] == SHIPPED.prefixes
    assert {name: ontology.types[name] for name in SHIPPED.types} == dict(SHIPPED.types)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("types:\n  person:\n    label: X\n", 2, "shipped"),
        ("types:\n  contact: {}\n", 2, "shipped"),
        ("types:\n  recipe:\n    aliases: [people]\n", 3, "shipped"),
        ("types:\n  recipe:\n    folder: people\n", 3, "folder"),
        ("types:\n  recipe:\n    folder: claims\n", 3, "folder"),
        ("types:\n  recipe:\n    folder: ../x\n", 3, "folder"),
        ("types:\n  recipe:\n    folder: /etc\n", 3, "folder"),
        ("types:\n  Recipe: {}\n", 2, "small letters"),
        ("types:\n  recipe:\n    colour: red\n", 3, "unknown"),
        ("types:\n  recipe:\n    entity: maybe\n", 3, "entity"),
        ("types:\n  recipe:\n    fields:\n      x: {kind: money}\n", 4, "kind"),
        ("types:\n  recipe:\n    fields:\n      x: {must: true}\n", 4, "unknown"),
        ("types: [a]\n", 1, "types"),
        ("relations:\n  knows: {}\n", 2, "shipped"),
        ("relations:\n  eats:\n    to: [unicorn]\n", 3, "unicorn"),
        ("prefixes:\n  - {path: people/, type: company}\n", 2, "shipped"),
        ("prefixes:\n  - {path: x/, type: unicorn}\n", 2, "type"),
        ("prefixes:\n  - {path: ../x, type: person}\n", 2, "path"),
        ("claim_kinds: {}\n", 1, "unknown"),
        ("types:\n  a: [\n", 3, "YAML"),
        ("- a\n", 1, "key"),
    ],
)
def test_a_wrong_entry_is_left_out_and_told_by_line(text: str, line: int, word: str) -> None:
    ontology, findings = load_extension(text.encode())
    assert [one.line for one in findings] == [line]
    assert word in findings[0].message and findings[0].path == "ontology.yaml"
    assert ontology.types.keys() == SHIPPED.types.keys()
    assert ontology.relations == SHIPPED.relations
    assert ontology.prefixes == SHIPPED.prefixes


def test_right_entries_hold_beside_wrong_ones() -> None:
    ontology, findings = load_extension(b"types:\n  person: {}\n  recipe: {}\n")
    assert "recipe" in ontology.types and len(findings) == 1


@pytest.mark.parametrize("text", [b"", b"# nothing yet\n", b"types:\n", b"\xef\xbb\xbftypes:\r\n"])
def test_an_empty_extension_adds_nothing(text: bytes) -> None:
    ontology, findings = load_extension(text)
    assert findings == () and ontology.types.keys() == SHIPPED.types.keys()


def test_1_8_72_an_ontology_has_at_most_64_kib() -> None:
    just = GOOD + b"#" * (MAX_ONTOLOGY_BYTES - len(GOOD))
    assert len(just) == 65_536 and "recipe" in load_extension(just)[0].types
    ontology, findings = load_extension(just + b"#")
    assert ontology is SHIPPED and [one.rule for one in findings] == ["ontology.size"]


def test_1_5_48_the_private_ontology_has_no_effect_on_conversations() -> None:
    talk = Partition("33333333-3333-4333-8333-333333333333")
    for partition, valid in ((None, True), (talk.session, False)):
        vault = MemoryVault(Partition(partition))
        vault.files["ontology.yaml"] = GOOD
        fields = {"course": "main"}
        vault.put("recipes/soup.md", record_bytes(partition=vault.partition, type="recipe", fields=fields))
        record = vault.view().entries["recipes/soup.md"].record
        assert record is not None and record.valid is valid
        assert ("recipe" in vault.view().ontology.types) is valid


def test_the_page_for_people_names_everything_that_is_shipped() -> None:
    text = (Path(__file__).parents[2] / "docs" / "knowledge-records.md").read_text("utf-8")
    for type_name, one in SHIPPED.types.items():
        assert f"| `{type_name}` | `{one.folder}/` |" in text
        assert all(field in text for field in one.fields)
    for relation in SHIPPED.relations:
        assert f"`{relation}`" in text
    assert all(kind in text for kind in SHIPPED.claim_kinds)


def test_the_page_for_people_shows_a_record_and_an_extension_that_hold() -> None:
    text = (Path(__file__).parents[2] / "docs" / "knowledge-records.md").read_text("utf-8")
    shown = text.split("```markdown\n")[1].split("```")[0]
    parsed = parse_record("people/anna.md", shown.encode(), PRIVATE, SHIPPED)
    assert parsed.record is not None and parsed.record.valid and parsed.findings == ()
    extension = text.split("```yaml\n")[2].split("```")[0]
    assert load_extension(extension.encode())[1] == ()
