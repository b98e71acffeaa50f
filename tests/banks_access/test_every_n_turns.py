"""With `retain_every_n_turns` a conversation waits in the bank: no turn is lost, doubled or left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from access_house import ROOT, House, allow, talk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lorebank import clock
from lorebank.access.directory import User, nothing_more
from lorebank.access.principal import NOWHERE, Circumstances, Principal
from lorebank.banks.retain import waiting
from lorebank.errors import Forbidden, NotFound, Unauthenticated

BACKGROUND = pytest.mark.parametrize("background", [False, True])


def turn(number: int, who: str = "user") -> str:
    return talk((who, f"Crate {number} stands in row {number * 7} of the depot."))


def every(house: House, turns: int, name: str = "anna", **more: Any) -> Principal:
    return house.user(name, allow("bank:retain", "bank:recall", retain_every_n_turns=turns, **more))


def sent(house: House, content: Any, who: Principal, background: bool = False, **more: Any) -> dict[str, Any]:
    """Send it and run what waits."""
    item = content if isinstance(content, dict) else {"content": content}
    answer: dict[str, Any] = house.retain("team", item, who=who, **{"async": background}, **more)
    assert (answer["success"], answer["items_count"]) == (True, 1)
    assert set(house.run_jobs("team")) <= {"completed"}
    if background:
        assert house.operation("team", answer["operation_id"])["status"] == "completed"
    return answer


def crates(house: House) -> list[int]:
    """The numbers of the crates in the order of what is stored."""
    return [int(text.split("Crate ")[1].split()[0]) for text in house.texts("team") if "Crate" in text]


@BACKGROUND
def test_turns_wait_for_the_one_that_completes_them_and_come_in_order(house: House, background: bool) -> None:
    anna = every(house, 3)
    for number in (1, 2):
        sent(house, turn(number), anna, background)
        assert crates(house) == [] and house.documents("team") == {}
    sent(house, turn(3), anna, background)
    assert crates(house) == [1, 2, 3]
    [document] = house.documents("team").values()
    assert [document["original_text"].index(f"Crate {n}") for n in (1, 2, 3)] == sorted(
        document["original_text"].index(f"Crate {n}") for n in (1, 2, 3)
    )
    sent(house, turn(4), anna, background)
    assert crates(house) == [1, 2, 3]


@BACKGROUND
def test_waiting_survives_another_process(house: House, background: bool) -> None:
    anna = every(house, 2)
    sent(house, turn(1), anna, background)
    house.restart()
    sent(house, turn(2), anna, background)
    assert crates(house) == [1, 2]


def test_only_turns_of_the_user_count_and_any_json_form_does(house: House) -> None:
    anna = every(house, 2)
    sent(house, turn(1, "assistant"), anna)
    sent(house, json.dumps({"role": "user", "content": "Crate 2 is here."}), anna)
    sent(house, turn(3, "assistant"), anna)
    assert crates(house) == []
    sent(house, json.dumps([{"role": "user", "content": "Crate 4 is here."}]), anna)
    assert crates(house) == [1, 2, 3, 4]


@BACKGROUND
def test_what_has_enough_turns_or_is_no_conversation_never_waits(house: House, background: bool) -> None:
    anna = every(house, 2)
    sent(house, talk(("user", "Crate 1 is new."), ("user", "Crate 2 is old.")), anna, background)
    assert crates(house) == [1, 2]
    sent(house, turn(3), anna, background)
    sent(house, "Crate 4 was found in the yard.", anna, background)
    sent(house, "Ida: Crate 5 is wet.\nErik: Crate 6 is dry.", anna, background)
    assert crates(house) == [1, 2, 4, 5, 6]
    sent(house, talk(("user", "Crate 7 is new."), ("user", "Crate 8 is old.")), anna, background)
    assert crates(house)[-3:] == [3, 7, 8]


def test_in_one_request_only_the_conversation_waits(house: House) -> None:
    anna = every(house, 2)
    answer = house.retain("team", turn(1), "Crate 2 was found.", who=anna)
    assert answer["items_count"] == 2 and crates(house) == [2]


def test_conversations_of_others_and_elsewhere_are_apart(house: House) -> None:
    every(house, 2)
    every(house, 2, "bert")
    places = [Circumstances(**{claim: "x"}) for claim in ("agent", "provider", "channel", "topic")]
    callers = [Principal("user", name, place) for name in ("anna", "bert") for place in (*places, NOWHERE)]
    for number, caller in enumerate(callers):
        sent(house, turn(number), caller)
    assert crates(house) == []
    sent(house, turn(99), callers[3])
    assert crates(house) == [3, 99]


def test_a_whole_conversation_sent_again_replaces_what_waits_of_it(house: House) -> None:
    anna = every(house, 3)
    first = {"content": talk(("user", "Crate 1 is new.")), "document_id": "s"}
    longer = {"content": talk(("user", "Crate 1 is new."), ("user", "Crate 2 is old.")), "document_id": "s"}
    sent(house, first, anna)
    sent(house, longer, anna)
    assert crates(house) == [1, 2]
    assert house.documents("team")["s"]["original_text"].count("Crate 1") == 1


@BACKGROUND
def test_appends_to_one_document_wait_and_are_appended_in_order(house: House, background: bool) -> None:
    anna = every(house, 3)
    for number in (1, 2, 3):
        item = {"content": turn(number), "document_id": "s", "update_mode": "append"}
        sent(house, item, anna, background)
    assert crates(house) == [1, 2, 3] and list(house.documents("team")) == ["s"]
    text = house.documents("team")["s"]["original_text"]
    assert text.index("Crate 1") < text.index("Crate 2") < text.index("Crate 3")


def test_tags_and_roles_are_applied_to_what_waits(house: House) -> None:
    anna = every(house, 2, retain_tags=["first"], retain_roles=["user"])
    sent(house, talk(("user", "Crate 1 is new."), ("system", "Crate 9 is secret.")), anna)
    every(house, 2, retain_tags=["second"])
    sent(house, turn(2), anna)
    assert [m["tags"] for m in house.memories("team")] == [["first", "user:anna"], ["second", "user:anna"]]
    sent(house, talk(("user", "Crate 3 is new."), ("assistant", "Crate 8 is mine.")), anna)
    every(house, 2, retain_roles=["user"])
    sent(house, turn(4), anna)
    assert crates(house) == [1, 2, 3, 4]


def test_turns_that_may_not_be_kept_still_count(house: House) -> None:
    anna = every(house, 2, retain_roles=["assistant"])
    sent(house, talk(("user", "Crate 1 is new."), ("assistant", "Crate 2 it is.")), anna)
    sent(house, talk(("user", "Crate 3 is new.")), anna)
    assert crates(house) == [2]


def test_a_rule_that_is_gone_lets_the_next_turn_store_everything(house: House) -> None:
    anna = every(house, 5)
    sent(house, turn(1), anna)
    house.user("anna", allow("bank:retain"))
    sent(house, turn(2), anna)
    assert crates(house) == [1, 2]


def test_long_waiting_is_cut_short(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "HELD_CHARS", 150)
    anna = every(house, 50)
    for number in range(1, 4):
        sent(house, turn(number), anna)
    assert crates(house) == [1, 2, 3]


@BACKGROUND
def test_a_repeated_request_with_its_id_is_held_once(house: House, background: bool) -> None:
    anna = every(house, 2)
    wanted = "7b4f7a52-95c3-4a5c-8f66-0a2f9a4f1c11"
    for _ in range(3):
        sent(house, turn(1), anna, True, operation_id=wanted)
    sent(house, turn(2), anna, background)
    assert crates(house) == [1, 2]


# whose right is gone


def disabled(house: House, active: bool) -> None:
    with house.directory.access.change(nothing_more) as writer:
        writer.put_user(User("anna", "Anna", is_active=active), clock.now())


@BACKGROUND
def test_what_waits_of_somebody_without_the_right_is_never_stored(house: House, background: bool) -> None:
    anna = every(house, 2)
    sent(house, turn(1), anna, background)
    house.user("anna", allow("bank:recall"))
    with pytest.raises(Forbidden):
        house.retain("team", turn(2), who=anna, **{"async": background})
    bert = every(house, 2, "bert")
    sent(house, turn(3), bert, background)
    sent(house, turn(4), bert, background)
    assert crates(house) == [3, 4]
    every(house, 2)
    disabled(house, active=False)
    with pytest.raises(Unauthenticated):
        house.retain("team", turn(5), who=anna, **{"async": background})
    assert crates(house) == [3, 4]


def test_a_queue_that_holds_what_waited_asks_for_the_right_again(house: House) -> None:
    anna = every(house, 2)
    sent(house, turn(1), anna)
    house.retain("team", turn(2), who=anna, **{"async": True})
    house.user("anna", allow("bank:recall"))
    assert house.run_jobs("team") == ["bank:retain denied"] and crates(house) == []


# deleting


def test_clearing_all_memories_forgets_what_waits(house: House) -> None:
    anna = every(house, 2)
    sent(house, turn(1), anna)
    house.call("clear_bank_memories", "team", who=ROOT, type="world")
    sent(house, turn(2), anna)
    assert crates(house) == [1, 2]
    sent(house, turn(3), anna)
    house.call("clear_bank_memories", "team", who=ROOT)
    sent(house, turn(4), anna)
    assert crates(house) == []
    sent(house, turn(5), anna)
    assert crates(house) == [4, 5]


def test_who_sees_a_part_clears_only_what_waits_of_it(house: House) -> None:
    anna = every(house, 2)
    sent(house, {"content": turn(1), "tags": ["red"]}, anna)
    red = allow("bank:memories:*", recall_tag_groups=[{"tags": ["green"], "match": "any_strict"}])
    house.call("clear_bank_memories", "team", who=house.user("bert", red))
    sent(house, {"content": turn(2), "tags": ["red"]}, anna)
    assert crates(house) == [1, 2]


def test_deleting_a_document_forgets_what_waits_for_it(house: House) -> None:
    anna = every(house, 3)
    sent(house, {"content": turn(1), "document_id": "s"}, anna)
    sent(house, {"content": turn(2), "document_id": "t"}, anna)
    answer = house.call("delete_document", "team", who=ROOT, document_id="s")
    assert (answer["success"], answer["memory_units_deleted"]) == (True, 0)
    with pytest.raises(NotFound):
        house.call("delete_document", "team", who=ROOT, document_id="s")
    sent(house, turn(3), anna)
    assert crates(house) == []
    sent(house, turn(4), anna)
    assert crates(house) == [2, 3, 4]


def test_a_bank_made_anew_holds_nothing_of_the_old_one(house: House) -> None:
    anna = every(house, 2)
    sent(house, turn(1), anna)
    house.call("delete_bank", "team", who=ROOT)
    sent(house, turn(2), anna)
    assert crates(house) == []


# what cannot be stored


def test_what_waited_and_cannot_be_stored_becomes_an_operation_that_says_so(house: House) -> None:
    house.retain(
        "team", {"content": "The vault opens at nine.", "document_id": "s", "tags": ["vault"]}, who=ROOT
    )
    anna = every(house, 2, recall_tag_groups=[{"not": {"tags": ["vault"]}}])
    sent(house, {"content": turn(1), "document_id": "s"}, anna)
    house.retain("team", turn(2), who=anna)
    [told] = house.run_jobs("team")
    assert "may not see" in told and "vault" not in told
    assert house.documents("team")["s"]["original_text"] == "The vault opens at nine."
    sent(house, turn(3), anna)
    assert crates(house) == [2, 3]


# a kill


@BACKGROUND
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_failure_in_the_transaction_leaves_everything_as_it_was(
    house: House, monkeypatch: pytest.MonkeyPatch, background: bool, moment: str
) -> None:
    anna = every(house, 3)
    apply = waiting.Plan.apply

    def torn(plan: waiting.Plan, writer: Any) -> None:
        if moment == "after":
            apply(plan, writer)
        raise RuntimeError("the process dies here")

    for number in (1, 2, 3):
        with monkeypatch.context() as patched:
            patched.setattr(waiting.Plan, "apply", torn)
            with pytest.raises(RuntimeError):
                house.retain("team", turn(number), who=anna, **{"async": background})
        house.restart()
        assert house.run_jobs("team") == []
        sent(house, turn(number), anna, background)
    assert crates(house) == [1, 2, 3]


def test_two_at_once_lose_and_double_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another turn is stored between the look and the write of the first."""
    anna = every(house, 2)
    plan, others = waiting.plan, [turn(2), turn(3)]

    def slow(*args: Any) -> waiting.Plan:
        made = plan(*args)
        if others:
            sent(house, others.pop(0), anna)
        return made

    monkeypatch.setattr(waiting, "plan", slow)
    sent(house, turn(1), anna)
    sent(house, turn(4), anna)
    assert sorted(crates(house)) == [1, 2, 3, 4]


STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),  # turns of the user
        st.booleans(),  # in the background
        st.sampled_from([1, 2, 3, None]),  # the rule from now on
        st.booleans(),  # a restart before
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_every_turn_is_stored_once_and_in_order(tmp_path_factory: pytest.TempPathFactory, steps: Any) -> None:
    house = House(tmp_path_factory.mktemp("house") / "data")
    try:
        told: list[int] = []
        waited = 0
        for step, (turns, background, rule, again) in enumerate(steps):
            if again:
                house.restart()
            parameters = {} if rule is None else {"retain_every_n_turns": rule}
            anna = house.user("anna", allow("bank:retain", **parameters))
            numbers = [step * 10 + n for n in range(turns)]
            spoken = [("user", f"Crate {n} stands there.") for n in numbers]
            sent(house, talk(*spoken, ("assistant", f"Crate {step * 10 + 9} noted.")), anna, background)
            told += [*numbers, step * 10 + 9]
            waited = 0 if waited + turns >= (rule or 1) else waited + turns
            if waited == 0 and (turns or (rule or 1) <= 0):
                assert crates(house) == told
        house.user("anna", allow("bank:retain"))
        sent(house, turn(900), Principal("user", "anna"))
        assert crates(house) == [*told, 900]
    finally:
        house.close()
