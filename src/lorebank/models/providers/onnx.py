"""The two local models, run by onnxruntime from checked files (specs: one thread a call is cheapest).

An int8 model's last digits depend on what shares its batch and on the processor: expect differences
of about 1e-3 in a score, and compare with a tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from lorebank.errors import Unavailable
from lorebank.models.batching import by_length
from lorebank.models.ports import Matrix, Vector
from lorebank.models.weights import Weights

BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""What the authors of bge-small put before a question (never before a document)."""

_MAX_TOKENS = 512
_MAX_ROWS = 8
# A bigger batch is no faster, takes more memory, and a question waits for at most one batch.
_MAX_PADDED_TOKENS = 640
# No text needs more for 512 tokens; without a cut, a megabyte would be tokenised to be thrown away.
_MAX_CHARACTERS = 16_384

_Ids = npt.NDArray[np.int64]


class OnnxEmbedder:
    """bge-small-en-v1.5, int8: 384 numbers, English, reads the first 512 tokens of a text.

    `query_prefix` is put before every question; the empty string switches the instruction off.
    """

    dimension = 384
    max_tokens = _MAX_TOKENS

    def __init__(self, weights: Weights, *, query_prefix: str = BGE_QUERY_PREFIX) -> None:
        self.model_id = weights.spec.model_id
        self._model = _Model(weights)
        self._query_prefix = query_prefix

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Unit rows, one a text, in order; batches of at most 8 texts of like length."""
        encoded = [self._model.encode(text) for text in texts]
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch, hidden in self._model.run(encoded):
            rows[batch] = hidden[:, 0]  # the model was trained to pool on its first token
        return _unit(rows)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """As `embed_documents`, with the instruction before each question."""
        return self.embed_documents([self._query_prefix + text for text in texts])


class OnnxReranker:
    """ms-marco-MiniLM-L-12-v2, int8: a cross-encoder for English; query and text share 512 tokens."""

    def __init__(self, weights: Weights) -> None:
        self.model_id = weights.spec.model_id
        self._model = _Model(weights)

    def score(self, query: str, texts: Sequence[str]) -> Vector:
        """One logit a text, in order; above 0 the model holds the text for relevant."""
        encoded = [self._model.encode(query, text) for text in texts]
        scores = np.empty(len(texts), dtype=np.float32)
        for batch, logits in self._model.run(encoded):
            scores[batch] = logits[:, 0]
        return scores


class _Model:
    """A session and its tokenizer; both may be used by several threads at once."""

    def __init__(self, weights: Weights) -> None:
        try:
            self._session = onnxruntime.InferenceSession(
                str(weights.model), _session_options(), providers=["CPUExecutionProvider"]
            )
            self._tokenizer = _tokenizer(weights)
        except Exception as exc:  # both libraries raise classes of their own, without a common root
            raise Unavailable(f"The model {weights.spec.name} could not be loaded.", cause=exc) from exc
        self._shrink = onnxruntime.RunOptions()
        self._shrink.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        # One call a text: encode_batch would start a pool of threads beside ours.
        return self._tokenizer.encode(_readable(text), None if pair is None else _readable(pair))

    def run(self, encoded: Sequence[Encoding]) -> list[tuple[list[int], npt.NDArray[np.float32]]]:
        """The model's first output for every batch, with the positions that it holds."""
        lengths = [len(one.ids) for one in encoded]
        batches = by_length(lengths, _MAX_ROWS, _MAX_PADDED_TOKENS)
        return [(batch, self._run_batch([encoded[i] for i in batch])) for batch in batches]

    def _run_batch(self, encoded: Sequence[Encoding]) -> npt.NDArray[np.float32]:
        feed = _feed(encoded)
        # A long text takes up to 60 MB for a moment: give that back, keep what short ones reuse.
        options = self._shrink if feed["input_ids"].size > _MAX_PADDED_TOKENS // 2 else None
        output: npt.NDArray[np.float32] = self._session.run(None, feed, options)[0]
        return output


def _session_options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors only; warnings would go past our log to stderr
    return options


def _tokenizer(weights: Weights) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(weights.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _feed(encoded: Sequence[Encoding]) -> dict[str, _Ids]:
    shape = (len(encoded), max(len(one.ids) for one in encoded))
    feed = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, one in enumerate(encoded):
        length = len(one.ids)
        feed["input_ids"][row, :length] = one.ids
        feed["attention_mask"][row, :length] = 1
        feed["token_type_ids"][row, :length] = one.type_ids
    return feed


def _readable(text: str) -> str:
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _unit(rows: Matrix) -> Matrix:
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    return rows
