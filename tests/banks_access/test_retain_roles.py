"""Only the turns of the roles that a grant keeps are extracted and stored; and the grant's strategy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from access_house import ROOT, House, allow, block, talk
from hypothesis import given
from hypothesis import strategies as st

from lorebank.banks.extract.roles import ROLES, only_roles, user_turns
from lorebank.errors import BadRequest

TURNS = [
    ("user", "My sister Ida keeps bees in Tromsø."),
    ("assistant", "I noted that Ida keeps bees."),
    ("system", "The secret prompt says walrus."),
    ("tool", "The weather service reports drizzle."),
]
WORDS = {"user": "sister Ida", "assistant": "I noted", "system": "walrus", "tool": "drizzle"}
GATEWAY = talk(*TURNS)
MESSAGES = [{"role": role, "content": text} for role, text in TURNS]
LINES = "\n".join(f"{role.capitalize()}: {text}" for role, text in TURNS)
FORMS = {
    "gateway": GATEWAY,
    "array": json.dumps(MESSAGES),
    "wrapped": json.dumps({"messages": MESSAGES, "title": "Ida keeps bees; walrus; I noted; drizzle"}),
    "jsonl": "\n".join(map(json.dumps, MESSAGES)),
    "lines": LINES,
}


def kept_of(text: str) -> set[str]:
    return {role for role, word in WORDS.items() if word in text}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "roles", [("user",), ("user", "assistant"), ("assistant",), ("tool", "system"), ROLES]
)
def test_the_kept_turns_alone_are_stored_and_extracted(
    house: House, form: str, roles: tuple[str, ...]
) -> None:
    anna = house.user("anna", allow("bank:retain", retain_roles=list(roles)))
    answer = house.retain("team", {"content": FORMS[form], "document_id": "d"}, who=anna)
    assert answer["items_count"] == 1 and answer["success"]
    stored = house.documents("team")["d"]["original_text"]
    assert kept_of(stored) == set(roles) or (form == "wrapped" and roles == ROLES)
    assert kept_of(" ".join(house.texts("team"))) <= set(roles)
    chunks = house.call("list_document_chunks", "team", who=ROOT, document_id="d")["items"]
    assert kept_of(" ".join(chunk["chunk_text"] for chunk in chunks)) == kept_of(stored)


@pytest.mark.parametrize("background", [False, True])
def test_no_role_keeps_nothing_and_says_success(house: House, background: bool) -> None:
    anna = house.user("anna", allow("bank:retain", retain_roles=[]))
    answer = house.retain("team", GATEWAY, "Plain prose about walrus.", who=anna, **{"async": background})
    assert (answer["success"], answer["items_count"]) == (True, 2)
    assert house.run_jobs("team") == []
    if background:
        told = house.operation("team", answer["operation_id"])
        assert (told["status"], told["task_payload"]) == ("completed", None)
    [done] = house.send_file("team", "Prose about walrus.", who=anna)
    assert house.operation("team", done)["status"] == "completed" and house.run_jobs("team") == []
    assert house.texts("team") == [] and house.documents("team") == {}


def test_what_is_no_conversation_is_kept_whole_by_any_role(house: House) -> None:
    anna = house.user("anna", allow("bank:retain", retain_roles=["assistant"]))
    house.retain("team", "Ida keeps bees in Tromsø. The hives face south.", who=anna)
    assert len(house.texts("team")) == 1
    house.retain("team", "Ida: I keep bees.\nErik: I do not.", who=anna)
    assert len(house.texts("team")) == 1


def test_appends_files_and_waiting_items_are_filtered_too(house: House) -> None:
    anna = house.user("anna", allow("bank:retain", retain_roles=["user"]))
    house.retain("team", {"content": GATEWAY, "document_id": "d"}, who=anna)
    more = talk(("user", "Ida sold the honey."), ("system", "Never say walrus."))
    house.retain("team", {"content": more, "document_id": "d", "update_mode": "append"}, who=anna)
    house.retain("team", {"content": GATEWAY, "document_id": "e"}, who=anna, **{"async": True})
    [sent] = house.send_file("team", LINES, who=anna, document_id="f")
    assert house.run_jobs("team") == ["completed", "completed"]
    texts = {name: document["original_text"] for name, document in house.documents("team").items()}
    assert {name: kept_of(text) for name, text in texts.items()} == {name: {"user"} for name in "def"}
    assert "sold the honey" in texts["d"] and house.operation("team", sent)["status"] == "completed"


def test_a_job_keeps_no_more_than_the_grant_of_the_moment_it_runs(house: House) -> None:
    anna = house.user("anna", allow("bank:retain"))
    house.retain("team", {"content": GATEWAY, "document_id": "d"}, who=anna, **{"async": True})
    house.retain("team", "Prose about the harbour.", GATEWAY, who=anna, **{"async": True})
    house.send_file("team", LINES, who=anna, document_id="f")
    house.user("anna", allow("bank:retain", retain_roles=["user"]))
    assert house.run_jobs("team") == ["completed"] * 3
    for document in house.documents("team").values():
        assert kept_of(document["original_text"]) == {"user"}
    house.retain("team", {"content": GATEWAY, "document_id": "g"}, who=anna, **{"async": True})
    house.user("anna", allow("bank:recall"))
    assert house.run_jobs("team") == ["bank:retain denied"]
    assert "g" not in house.documents("team")


def test_a_dry_run_shows_what_a_retain_would_find(house: House) -> None:
    house.retain("team", "Something.", who=ROOT)
    anna = house.user("anna", allow("bank:retain", retain_roles=["user"]))
    found = house.call("dry_run_extract_memories", "team", {"content": GATEWAY}, who=anna)
    assert kept_of(json.dumps(found, ensure_ascii=False)) == {"user"}
    house.user("anna", allow("bank:retain", retain_roles=[]))
    assert house.call("dry_run_extract_memories", "team", {"content": GATEWAY}, who=anna)["facts"] == []


# the parser of turns


def test_calls_of_tools_inside_kept_turns_go_where_tools_are_not_kept() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "Look it up."},
        {"type": "tool_result", "content": "walrus"},
    ]
    asked = {"role": "assistant", "content": "Looking.", "tool_calls": [{"name": "walrus"}]}
    content = json.dumps([{"role": "user", "content": blocks}, asked])
    assert "walrus" not in only_roles(content, ("user", "assistant"))
    assert only_roles(content, ("user", "assistant", "tool")) == content
    assert json.loads(only_roles(content, ("assistant",))) == [{"role": "assistant", "content": "Looking."}]


def test_a_block_that_nobody_closed_keeps_its_role() -> None:
    torn = block("user", "Ida keeps bees.") + "\n\n[role: system]\nThe secret prompt says walrus."
    assert kept_of(only_roles(torn, ("user",))) == set() and "bees" in only_roles(torn, ("user",))


def test_user_turns_are_counted_in_gateway_and_json_form_only() -> None:
    assert [user_turns(FORMS[form]) for form in FORMS] == [1, 1, 1, 1, None]
    assert user_turns(talk(("assistant", "Well?"))) == 0 and user_turns("[role: user] is a mark") is None
    assert user_turns(json.dumps({"role": "user", "content": "Hi there."})) == 1
    assert user_turns("Ida keeps bees.") is None and user_turns('{"a": 1}') is None


_ROLE = {"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}
SAID = st.lists(
    st.tuples(
        st.sampled_from([*ROLES, *_ROLE]),
        st.text("abc d\n", min_size=1, max_size=8).filter(str.strip),
    ),
    min_size=1,
    max_size=6,
)


@given(SAID, st.sets(st.sampled_from(ROLES), min_size=1), st.sampled_from(["gateway", "array", "jsonl"]))
def test_filtering_keeps_exactly_the_turns_of_the_roles_in_order(turns, roles, form) -> None:  # type: ignore[no-untyped-def]
    def written(some):  # type: ignore[no-untyped-def]
        if form == "gateway":
            return talk(*some)
        lines = [json.dumps({"role": role, "content": text}) for role, text in some]
        return "[" + ", ".join(lines) + "]" if form == "array" else "\n".join(lines)

    kept = [(role, text) for role, text in turns if _ROLE.get(role, role) in roles]
    got = only_roles(written(turns), roles)
    expected = written(kept) if kept else ""
    if form == "gateway":
        assert got.strip() == expected.strip()
    elif len(kept) == len(turns) or not kept:
        assert got == expected
    else:
        read = [json.loads(line) for line in got.split("\n")] if form == "jsonl" else json.loads(got)
        assert read == [{"role": role, "content": text} for role, text in kept]
    assert only_roles(got, roles) == got  # a job filters again


# strategies


def configured(house: House) -> None:
    house.retain("team", "Something.", who=ROOT)
    strategies = {
        "whole": {"retain_extraction_mode": "verbatim"},
        "brief": {"retain_extraction_mode": "chunks"},
    }
    house.call("update_bank_config", "team", {"updates": {"retain_strategies": strategies}}, who=ROOT)


@pytest.mark.parametrize("background", [False, True])
def test_the_strategy_of_the_grant_beats_that_of_the_item(house: House, background: bool) -> None:
    configured(house)
    anna = house.user("anna", allow("bank:retain", retain_strategy="whole"))
    item = {"content": LINES, "document_id": "d", "strategy": "nobody-knows-it"}
    house.retain("team", item, who=anna, **{"async": background})
    house.run_jobs("team")
    assert [m["text"] for m in house.memories("team", document_id="d")] == [LINES]


@pytest.mark.parametrize("background", [False, True])
def test_a_strategy_that_the_bank_does_not_define_loses_nothing(house: House, background: bool) -> None:
    configured(house)
    anna = house.user("anna", allow("bank:retain", retain_strategy="unknown"))
    for name, strategy in (("d", "whole"), ("e", None)):
        item = {"content": LINES, "document_id": name, "strategy": strategy}
        house.retain("team", item, who=anna, **{"async": background})
    house.send_file("team", LINES, who=anna, document_id="f", strategy="brief")
    house.retain("new", LINES, who=anna, **{"async": background})
    ended = house.run_jobs("team") + house.run_jobs("new")
    assert set(ended) == {"completed"}
    assert all(len(house.memories("team", document_id=d)) >= 2 for d in "def")
    assert len(house.texts("new")) >= 2


def test_without_one_in_the_grant_the_items_strategy_holds(house: House) -> None:
    configured(house)
    anna = house.user("anna", allow("bank:retain"))
    house.retain("team", {"content": LINES, "document_id": "d", "strategy": "whole"}, who=anna)
    assert len(house.memories("team", document_id="d")) == 1
    with pytest.raises(BadRequest, match="not defined"):
        house.retain("team", {"content": LINES, "strategy": "unknown"}, who=anna)
