"""Conversations in all their written forms become dated memories with a speaker."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from lorebank.banks.extract import ExtractSettings, Fact, ItemInput, extract

AT = datetime(2023, 5, 10, 13, 56, tzinfo=UTC)
LOCAL = ExtractSettings()


def facts(content: str, settings: ExtractSettings = LOCAL, at: datetime | None = AT) -> list[Fact]:
    return list(extract(ItemInput(content, timestamp=at), settings).facts)


def texts(content: str, settings: ExtractSettings = LOCAL) -> list[str]:
    return [fact.text for fact in facts(content, settings)]


def test_a_plain_sentence_stays_one_memory_unchanged() -> None:
    assert texts("Alice prefers tea.") == ["Alice prefers tea."]


def test_lines_with_speakers_make_one_memory_a_turn() -> None:
    content = "Ann: I moved to Berlin.\nI live near the river now.\nBen: My dog is called Rex."
    assert texts(content) == [
        "Ann: I moved to Berlin.\nI live near the river now.",
        "Ben: My dog is called Rex.",
    ]
    assert [fact.speaker for fact in facts(content)] == ["Ann", "Ben"]
    assert [fact.position for fact in facts(content)] == [0, 1]


@pytest.mark.parametrize(
    "content",
    [
        "[10:32] Ann: I bought a violin.",
        "(2023-05-10 10:32) Ann: I bought a violin.",
        "10:32 Ann: I bought a violin.",
        "Ann (2023-05-10 10:32): I bought a violin.",
        "[2023-05-10T10:32:00Z] Ann: I bought a violin.",
        "[10:32 AM] Ann: I bought a violin.",
        "**Ann** [10:32]: I bought a violin.",
    ],
)
def test_the_time_beside_a_name_is_the_turns_own(content: str) -> None:
    (fact,) = facts(content)
    assert fact.text == "Ann: I bought a violin."
    assert fact.mentioned_at == datetime(2023, 5, 10, 10, 32, tzinfo=UTC)


def test_relative_dates_are_read_against_the_turns_own_time() -> None:
    content = (
        "(2023-03-01 10:00) Ann: I sold the car yesterday.\n"
        "(2023-03-09 10:00) Ann: The shed burnt down yesterday."
    )
    assert [f.occurred_start for f in facts(content)] == [
        datetime(2023, 2, 28, tzinfo=UTC),
        datetime(2023, 3, 8, tzinfo=UTC),
    ]


def test_relative_words_are_noted_and_absolute_dates_are_not() -> None:
    assert texts("Ann: We met last Friday.\nBen: It opened on 7 May 2022.") == [
        "Ann: We met last Friday. [last Friday = 2023-05-05]",
        "Ben: It opened on 7 May 2022.",
    ]


@pytest.mark.parametrize(
    ("text", "note", "precision"),
    [
        ("I painted it last week", "last week = 2023-05-01..07", "week"),
        ("we fly next month", "next month = 2023-06", "month"),
        ("he came last year", "last year = 2022", "year"),
        ("we sailed last summer", "last summer = 2022-06..08", "season"),
        ("it broke two weekends ago", "two weekends ago = 2023-04-29..30", "day"),
    ],
)
def test_the_note_is_as_short_as_the_precision(text: str, note: str, precision: str) -> None:
    (fact,) = facts(text)
    assert fact.text == f"{text} [{note}]"
    assert fact.precision == precision


def test_without_a_timestamp_relative_words_stay_open() -> None:
    (fact,) = facts("I painted it last week", at=None)
    assert (fact.text, fact.occurred_start, fact.precision) == ("I painted it last week", None, None)


def test_json_turns() -> None:
    turns = [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": [{"type": "text", "text": "My flat is in Kraków."}, {"type": "image"}]},
        {"role": "assistant", "content": "I booked the train to Kraków."},
        {"role": "tool", "content": "row " * 500},
    ]
    found = extract(ItemInput(json.dumps(turns)), ExtractSettings(agent_name="Hermes"))
    assert [f.text for f in found.facts[:2]] == [
        "User: My flat is in Kraków.",
        "Hermes: I booked the train to Kraków.",
    ]
    assert [f.fact_type for f in found.facts] == ["world", "experience", "world"]
    assert len(found.facts[2].text) < 2000
    assert found.dropped == 1


def test_tool_calls_without_words_do_not_hide_the_conversation() -> None:
    turns = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "user", "content": "My flat is in Kraków."},
    ]
    assert texts(json.dumps(turns)) == ["User: My flat is in Kraków."]


def test_jsonl_and_wrapped_json_with_names_and_times() -> None:
    turns = [
        {"speaker": "Ann", "text": "I bought a car yesterday", "timestamp": "2023-01-02T10:00:00Z"},
        {"speaker": "Ben", "text": "I sold mine", "timestamp": 1672653600},
    ]
    for content in ("\n".join(map(json.dumps, turns)), json.dumps(turns), json.dumps({"messages": turns})):
        first, second = facts(content)
        assert first.text == "Ann: I bought a car yesterday [yesterday = 2023-01-01]"
        assert (first.mentioned_at, second.mentioned_at) == (datetime(2023, 1, 2, 10, tzinfo=UTC),) * 2


def test_the_gateway_form() -> None:
    content = (
        "[role: user]\nI live in Osaka.\nNear the castle.\n[user:end]\n\n"
        "[role: assistant]\nI noted Osaka.\n[assistant:end]"
    )
    assert texts(content) == ["User: I live in Osaka.\nNear the castle.", "Assistant: I noted Osaka."]
    assert [f.fact_type for f in facts(content)] == ["world", "experience"]


@pytest.mark.parametrize(
    "content",
    [
        "Name: Bob\nAge: 5\nCity: Rome",
        "Note: the key is under the mat.",
        "https://example.org/a: see there",
        "Summary: all went well.\nTopic: plants",
        '{"a": 1}',
        "[1, 2, 3]",
        "[not json",
        "The rule is simple: do it.",
        '{"temperature": 5, "unit": "C"}',
    ],
)
def test_forms_and_notes_are_no_conversations(content: str) -> None:
    (fact,) = facts(content)
    assert fact.text == content
    assert fact.speaker is None


def test_a_long_turn_is_split_at_sentences_and_keeps_the_speaker() -> None:
    sentence = "The ferry to the northern islands leaves every second hour from the old pier. "
    found = texts("Ann: " + sentence * 30 + "\nBen: I will take the train to Bergen.")
    assert len(found) > 3
    assert all(text.startswith("Ann: The ferry") and text.endswith("pier.") for text in found[:-1])
    assert sum(text.count("ferry") for text in found) == 30


def test_text_above_the_first_turn_is_kept_without_a_speaker() -> None:
    found = facts("Minutes of the club\nAnn: We need new roses.\nBen: I can order roses.\nAnn: Order twenty.")
    assert found[0].text == "Minutes of the club"
    assert found[0].speaker is None


def test_a_clear_consequence_names_the_memory_before_it_as_cause() -> None:
    found = facts("Ann: The roof leaked a lot.\nAnn: That's why we moved to Gdynia.\nBen: I like Gdynia.")
    assert [fact.caused_by for fact in found] == [(), (0,), ()]
    off = ExtractSettings(causal_links=False)
    assert [f.caused_by for f in facts("Ann: It leaked.\nBen: Therefore we left.", off)] == [(), ()]


def test_full_width_colons_and_names_without_capitals() -> None:
    assert texts("小明：我住在北京朝阳区。\n小红：我喜欢吃苹果。") == [
        "小明: 我住在北京朝阳区。",
        "小红: 我喜欢吃苹果。",
    ]


def test_the_agent_by_name_speaks_of_its_own_doing() -> None:
    settings = ExtractSettings(agent_name="hermes")
    found = facts("Hermes: I restarted the server.\nHermes: The server runs Debian.", settings)
    assert [fact.fact_type for fact in found] == ["experience", "world"]


def test_documents_become_passages_under_their_headings() -> None:
    body = (
        "The press needs oil every week. It must cool down before any cover is opened. "
        "Call the shift lead when it hums. "
    )
    content = f"# Press\n\n{body * 3}\n\n## Safety\n\n{body * 2}\n"
    found = texts(content)
    assert len(found) >= 3
    assert all(text.startswith(("Press: ", "Press > Safety: ")) for text in found)
    assert sum(text.count("oil every week") for text in found) == 5


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize(
    "form",
    [
        "({stamp}) Ann: I bought a violin yesterday.\n({stamp}) Ben: I sold mine.",
        '[{{"role": "user", "content": "I bought a violin.", "timestamp": "{stamp}"}}]',
        "Ann bought a violin on {stamp} in Rome.",
    ],
)
def test_times_beyond_the_calendar_of_utc_are_no_times(form: str, stamp: str) -> None:
    found = facts(form.format(stamp=stamp))
    assert found
    for fact in found:
        for when in (fact.mentioned_at, fact.occurred_start, fact.occurred_end):
            assert when is None or when.astimezone(UTC)
