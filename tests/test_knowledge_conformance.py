"""Every numbered statement of Knowledge has a test that carries its number, and the document says which."""

from __future__ import annotations

from knowledge_statements import STATEMENTS, TARGET, document, proofs


def test_every_statement_has_a_test() -> None:
    proven = proofs()
    assert not [number for number in STATEMENTS if number not in proven]


def test_no_test_carries_a_number_that_is_no_statement() -> None:
    assert not {number: names for number, names in proofs().items() if number not in STATEMENTS}


def test_the_conformance_document_is_up_to_date() -> None:
    assert TARGET.read_text("utf-8") == document(), "run: python tests/knowledge_statements.py"
