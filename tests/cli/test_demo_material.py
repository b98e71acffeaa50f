"""The demonstration's own conversation."""

from __future__ import annotations

from lorebank.demo.material import material


def test_the_conversation_is_small_and_its_five_questions_have_answers_in_it() -> None:
    told = material()
    turns = [text for session in told.sessions for _, text in session.turns]
    assert 20 <= len(turns) <= 30
    assert len(told.questions) == 5
    for question in told.questions:
        assert sum(question.answer in text for text in turns) >= 1


def test_a_session_is_an_item_with_one_line_a_turn() -> None:
    session = material().sessions[0]
    item = session.item()
    assert item["document_id"] in material().document_ids
    assert item["content"].splitlines()[0] == "Ines: Good morning, you two."
    assert len(item["content"].splitlines()) == len(session.turns)
