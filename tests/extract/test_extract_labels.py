"""Entity labels: what rules can answer, and what they say they cannot."""

from __future__ import annotations

import pytest

from lorebank.banks.extract import (
    ExtractSettings,
    Fact,
    ItemInput,
    LabelGroup,
    LabelValue,
    MapField,
    extract,
)

TOPIC = LabelGroup(
    "topic",
    type="multi-values",
    tag=True,
    values=(
        LabelValue("billing", "invoices, payments and refunds"),
        LabelValue("travel", "trips, flights, hotels"),
    ),
)
MOOD = LabelGroup(
    "mood",
    values=(
        LabelValue("happy", "joyful, cheerful"),
        LabelValue("sad", "crying, gloomy"),
    ),
)


def labelled(text: str, *groups: LabelGroup, mode: str = "local") -> Fact:
    (fact,) = extract(ItemInput(text), ExtractSettings(mode=mode, entity_labels=groups)).facts
    return fact


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Billing is closed on Friday.", ("topic:billing",)),
        ("The invoice was paid twice.", ("topic:billing",)),
        ("She refunded the flight.", ("topic:billing", "topic:travel")),
        ("We booked two hotels.", ("topic:travel",)),
    ],
)
def test_values_are_found_by_name_and_by_description(text: str, labels: tuple[str, ...]) -> None:
    fact = labelled(text, TOPIC)
    assert (fact.labels, fact.label_tags, fact.labels_pending) == (labels, labels, False)


def test_no_match_leaves_the_group_undecided_and_a_tag_group_pending() -> None:
    fact = labelled("The roses are red.", TOPIC, MOOD)
    assert (fact.labels, fact.labels_undecided, fact.labels_pending) == ((), ("topic", "mood"), True)
    assert not labelled("The roses are red.", MOOD).labels_pending


def test_a_single_value_group_takes_the_clear_winner_and_leaves_a_tie_open() -> None:
    assert labelled("Nora was happy, though it was gloomy.", MOOD).labels == ("mood:happy",)
    tie = labelled("Nora was happy and sad.", MOOD)
    assert (tie.labels, tie.labels_undecided) == ((), ("mood",))


@pytest.mark.parametrize(
    "group",
    [
        LabelGroup("who", type="text", tag=True),
        LabelGroup("parts", type="multi-text", tag=True),
        LabelGroup("place", type="map", tag=True, fields={"city": MapField("text")}),
    ],
)
def test_free_text_and_maps_are_never_filled(group: LabelGroup) -> None:
    fact = labelled("Nora lives in Tromsø.", group)
    assert (fact.labels_undecided, fact.labels_pending) == ((group.key,), True)


def test_labels_without_tag_are_no_tags() -> None:
    fact = labelled("Nora was cheerful.", MOOD)
    assert (fact.labels, fact.label_tags) == (("mood:happy",), ())


@pytest.mark.parametrize("mode", ["local", "verbatim", "chunks"])
def test_every_local_mode_labels(mode: str) -> None:
    assert labelled("The invoice was paid.", TOPIC, mode=mode).label_tags == ("topic:billing",)


def test_values_in_scripts_without_spaces_are_found_inside_the_text() -> None:
    group = LabelGroup("季节", values=(LabelValue("夏天"), LabelValue("冬天")))
    assert labelled("我们去年夏天去了海边", group).labels == ("季节:夏天",)


def test_the_item_lists_every_group_that_some_memory_left_open() -> None:
    item = ItemInput("Ann: The invoice came.\nBen: The roses are red.\nAnn: I was so happy.")
    result = extract(item, ExtractSettings(entity_labels=(TOPIC, MOOD)))
    assert result.label_groups_undecided == ("mood", "topic")
