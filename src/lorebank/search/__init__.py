"""The search engine: keyword, semantic, graph and temporal arms over an in-memory index of one store's
passages.

The index is derived: storage feeds it rows, nothing of it is on disk, and it can be rebuilt from rows at
any time. How the parts fit together:

    index = PassageIndex(dimension=384)                  # one for each store
    index.apply(passages, deleted_keys, watermark)       # rows, in batches; also the first load
    index.apply_vectors(keys, unit_rows)                 # when the embedder has them
    snapshot = index.snapshot()                          # immutable, costs nothing, readers never wait
    result = search(snapshot, SearchQuery(text=..., now=..., vector=...), SearchSettings())
    order = blend(result.scores, cross_encoder_logits, weight)   # profile `high` only
    places = fit(result.tokens, max_tokens)

A row becomes a `Passage` with `terms` (what the keyword arm reads), `speaker_of` and `asks` (kept as
columns), and is embedded as `embed_text(text, previous_text)`; a question is embedded as it stands. Tag
filters come from `lorebank.tags`, their fuzzy leaves expanded.
"""

from __future__ import annotations

from lorebank.search.budget import fit
from lorebank.search.graph import Link
from lorebank.search.index import PassageIndex
from lorebank.search.passage import KINDS, Kind, Passage, asks, embed_text, speaker_of
from lorebank.search.pipeline import search
from lorebank.search.query import ArmHit, Hit, SearchQuery, SearchResult
from lorebank.search.rerank import Reranked, blend
from lorebank.search.settings import ARMS, PER_ARM, Arm, Budget, SearchSettings
from lorebank.search.snapshot import Snapshot
from lorebank.search.tokenize import query_terms, terms

__all__ = [
    "ARMS",
    "KINDS",
    "PER_ARM",
    "Arm",
    "ArmHit",
    "Budget",
    "Hit",
    "Kind",
    "Link",
    "Passage",
    "PassageIndex",
    "Reranked",
    "SearchQuery",
    "SearchResult",
    "SearchSettings",
    "Snapshot",
    "asks",
    "blend",
    "embed_text",
    "fit",
    "query_terms",
    "search",
    "speaker_of",
    "terms",
]
