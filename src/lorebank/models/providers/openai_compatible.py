"""Hosted embeddings through the `/embeddings` form that many providers and local servers share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from lorebank import tokens
from lorebank.errors import InvalidInput, Unavailable
from lorebank.models.ports import Embedder, Matrix
from lorebank.models.providers.http_call import CallPolicy, JsonCaller
from lorebank.models.service import EmbedderSource

_NAME = "The embedding provider"
_ROWS = 64
_CHARACTERS = 200_000


def hosted_embedder(
    *,
    base_url: str,
    api_key: str,
    model: str,
    dimension: int,
    max_tokens: int = 8191,
    policy: CallPolicy | None = None,
) -> EmbedderSource:
    """A hosted model as a source for `EmbedService`; nothing is called before the first text.

    `base_url` is the address up to and without `/embeddings`, `dimension` the length of the vectors
    that the model returns, `max_tokens` how much of a text is sent (o200k). Raises `InvalidInput`
    for values that can never work.
    """
    if not model or dimension < 1 or max_tokens < 1:
        raise InvalidInput("the embedder needs a model name, and a dimension and max_tokens of at least 1")
    caller = JsonCaller(_NAME, base_url, api_key, policy or CallPolicy())
    embedder = OpenAICompatibleEmbedder(
        caller, model=model, model_id=_model_id(base_url, model), dimension=dimension, max_tokens=max_tokens
    )

    def load() -> Embedder:
        return embedder

    return EmbedderSource(embedder.model_id, dimension, load, rows=_ROWS, characters=_CHARACTERS)


class OpenAICompatibleEmbedder:
    """An `Embedder` whose every call is one HTTP request; questions and documents are treated alike."""

    def __init__(
        self, caller: JsonCaller, *, model: str, model_id: str, dimension: int, max_tokens: int
    ) -> None:
        self.model_id = model_id
        self.dimension = dimension
        self.max_tokens = max_tokens
        self._caller = caller
        self._model = model

    def __repr__(self) -> str:
        return f"OpenAICompatibleEmbedder({self.model_id!r})"

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Unit rows, one a text, in order. Raises `Unavailable` for an answer that breaks the form."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        sent = [_sendable(text, self.max_tokens) for text in texts]
        answer = self._caller.post(
            "/embeddings", {"model": self._model, "input": sent, "encoding_format": "float"}
        )
        return _unit(_rows(answer, len(texts), self.dimension))

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """As `embed_documents`."""
        return self.embed_documents(texts)


def _model_id(base_url: str, model: str) -> str:
    # The weights cannot be seen from here: the address and the name stand for them.
    digest = hashlib.sha256(f"{base_url.rstrip('/')}\n{model}".encode()).hexdigest()
    return f"hosted:{model}@{digest[:12]}"


def _sendable(text: str, max_tokens: int) -> str:
    # Providers refuse the empty text, which has no meaning to embed either.
    return tokens.truncate(text, max_tokens).encode("utf-8", "replace").decode("utf-8") or " "


def _rows(answer: Any, count: int, dimension: int) -> Matrix:
    vectors = _in_order(answer)
    if len(vectors) != count:
        raise Unavailable(f"{_NAME} returned {len(vectors)} vectors for {count} texts.")
    for vector in vectors:
        if len(vector) != dimension:
            raise Unavailable(
                f"{_NAME} returned a vector of {len(vector)} numbers where {dimension} are configured; "
                "correct the dimension in the settings, then run `lorebank reembed`."
            )
    try:
        with np.errstate(over="ignore"):  # too large becomes infinite, which is refused below
            rows = np.array(vectors, dtype=np.float32)
    except (TypeError, ValueError) as exc:
        raise _malformed(exc) from exc
    if not np.isfinite(rows).all():
        raise Unavailable(f"{_NAME} returned numbers that are not finite.")
    return rows


def _in_order(answer: Any) -> list[list[Any]]:
    try:
        items = sorted(answer["data"], key=lambda item: int(item["index"]))
        vectors = [item["embedding"] for item in items]
        indexes = [int(item["index"]) for item in items]
    except (TypeError, KeyError, ValueError) as exc:
        raise _malformed(exc) from exc
    if indexes != list(range(len(items))) or not all(isinstance(vector, list) for vector in vectors):
        raise _malformed(None)
    return vectors


def _malformed(cause: Exception | None) -> Unavailable:
    return Unavailable(f"{_NAME} sent an answer that is not in the /embeddings form.", cause=cause)


def _unit(rows: Matrix) -> Matrix:
    wide = rows.astype(np.float64)  # squares of large float32 numbers overflow float32
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    if not (norms > 0).all():
        raise Unavailable(f"{_NAME} returned a vector of zeros only.")
    rows[:] = wide / norms
    return rows
