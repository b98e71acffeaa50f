"""What lorebank asks of a model. An implementation is right when it keeps the sentences here.

Every implementation may be called from several threads at once, and raises `Unavailable` (with a
public message free of keys and paths) when it cannot answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""One float32 row of length `dimension`."""
Matrix = npt.NDArray[np.float32]
"""One float32 row a text, in the order of the texts."""


class Embedder(Protocol):
    """Turns texts into unit vectors, whose dot product says how alike two texts are.

    Every row has Euclidean length 1 and finite numbers only. The same text may differ in the last
    digits from call to call (quantised models depend on what shares a batch, and on the processor),
    so vectors are compared with a tolerance, never byte for byte.
    """

    @property
    def model_id(self) -> str:
        """Name and a short hash of the weights. Vectors of different ids are never compared."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""

    @property
    def max_tokens(self) -> int:
        """Tokens (of the model's own tokenizer) that are read; the rest of a text is ignored."""

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """A row for each text to be found; no text at all gives a matrix with 0 rows."""

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """A row for each question to search with; models may treat questions differently."""


class Reranker(Protocol):
    """Reads a question and a text together and says how well the text answers it."""

    @property
    def model_id(self) -> str:
        """Name and a short hash of the weights."""

    def score(self, query: str, texts: Sequence[str]) -> Vector:
        """One raw logit a text, in order; higher is better, comparable only within one call."""


class Parser(Protocol):
    """Turns an uploaded file into text."""

    def parse(self, data: bytes, *, media_type: str | None, filename: str | None) -> str:
        """The text of the file, with line breaks as `\\n`.

        Raises `InvalidInput` naming the file when its kind is unknown or it cannot be read.
        """
