"""The local models, run for real: known orderings, shapes, and tolerance of every kind of text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lorebank.errors import Unavailable
from lorebank.models.ports import Embedder, Reranker
from lorebank.models.providers.onnx import OnnxEmbedder, OnnxReranker
from lorebank.models.weights import BGE_SMALL, MINILM_L12, Weights, locate

# Quantised models differ in the last digits with batch composition and processor.
CLOSE = 0.03
DOCUMENTS = [
    "Tom adopted a grey cat called Pixel from the shelter.",
    "The invoice for the server hardware is due on Friday.",
    "Our kitten hides under the sofa when it thunders.",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return OnnxEmbedder(locate(BGE_SMALL))


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    return OnnxReranker(locate(MINILM_L12))


def test_a_question_is_nearest_to_the_text_that_answers_it(embedder: Embedder) -> None:
    question = embedder.embed_queries(["When does the bill have to be paid?"])[0]
    assert int(np.argmax(embedder.embed_documents(DOCUMENTS) @ question)) == 1


def test_rows_are_finite_unit_vectors_of_the_stated_dimension(embedder: Embedder) -> None:
    rows = embedder.embed_documents([*DOCUMENTS, "", "\ud800\0", "word " * 5000, "日本語のテキスト"])
    assert rows.shape == (7, embedder.dimension)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)


def test_no_texts_give_no_rows(embedder: Embedder, reranker: Reranker) -> None:
    assert embedder.embed_documents([]).shape == (0, 384)
    assert reranker.score("anything", []).shape == (0,)


def test_a_text_embeds_alike_alone_and_in_company(embedder: Embedder) -> None:
    company = [f"{text} {'More words follow. ' * n}" for n, text in enumerate(DOCUMENTS * 5)]
    together = embedder.embed_documents([*company, DOCUMENTS[0]])[-1]
    alone = embedder.embed_documents([DOCUMENTS[0]])[0]
    assert float(together @ alone) > 1 - CLOSE


def test_words_after_the_last_read_token_change_nothing(embedder: Embedder) -> None:
    long = "lighthouse " * 600
    first, second = embedder.embed_documents([long, long + "entirely different ending"])
    assert float(first @ second) > 1 - CLOSE


def test_the_question_instruction_can_be_switched_off() -> None:
    plain = OnnxEmbedder(locate(BGE_SMALL), query_prefix="")
    as_question, as_document = plain.embed_queries(DOCUMENTS[:1]), plain.embed_documents(DOCUMENTS[:1])
    assert float(as_question[0] @ as_document[0]) > 1 - CLOSE


def test_the_reranker_puts_the_answer_first(reranker: Reranker) -> None:
    scores = reranker.score("What is the name of Tom's cat?", DOCUMENTS)
    assert int(np.argmax(scores)) == 0
    assert scores[0] > 0 > scores[1]


def test_the_reranker_takes_any_text(reranker: Reranker) -> None:
    scores = reranker.score("q " * 3000, ["", "\udfff", "word " * 5000])
    assert np.isfinite(scores).all()


def test_files_that_are_no_model_are_a_clear_error(tmp_path: Path) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(Unavailable, match="could not be loaded"):
        OnnxEmbedder(Weights(BGE_SMALL, broken, locate(BGE_SMALL).tokenizer))
