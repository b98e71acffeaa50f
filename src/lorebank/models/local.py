"""The offline default: sources of the two local models, cheap to make, loaded when first needed."""

from __future__ import annotations

from pathlib import Path

from lorebank.models.ports import Embedder, Reranker
from lorebank.models.service import EmbedderSource, RerankerSource
from lorebank.models.weights import BGE_SMALL, MINILM_L12, locate

_BGE_DIMENSION = 384


def local_embedder(directory: Path | None = None, *, query_prefix: str | None = None) -> EmbedderSource:
    """bge-small-en-v1.5 from the installed package, or from `directory`.

    `query_prefix` is put before every question; None takes the one of the model's authors.
    """

    def load() -> Embedder:
        weights = locate(BGE_SMALL, directory)
        # The runtime takes 150 ms and 50 MB to import: on the loading thread, not at start.
        from lorebank.models.providers.onnx import BGE_QUERY_PREFIX, OnnxEmbedder

        prefix = BGE_QUERY_PREFIX if query_prefix is None else query_prefix
        embedder = OnnxEmbedder(weights, query_prefix=prefix)
        embedder.embed_queries(["warm"])  # the first call allocates; let no user wait for it
        return embedder

    return EmbedderSource(BGE_SMALL.model_id, _BGE_DIMENSION, load)


def local_reranker(directory: Path | None = None) -> RerankerSource:
    """ms-marco-MiniLM-L-12-v2 from the installed package, or from `directory`."""

    def load() -> Reranker:
        weights = locate(MINILM_L12, directory)
        from lorebank.models.providers.onnx import OnnxReranker

        return OnnxReranker(weights)

    return RerankerSource(MINILM_L12.model_id, load)
