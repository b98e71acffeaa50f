"""The local embedder behind a cache on disk, by text hash: for the 100k bank, whose vectors take minutes.

Only documents are cached; questions always run the model. The cache lies outside the checkout.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lorebank.models.ports import Embedder, Matrix
from lorebank.models.service import EmbedderSource


class CachedEmbedder:
    """Answers documents it has seen before from `path`."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, row BLOB) WITHOUT ROWID")

    model_id = property(lambda self: self._inner.model_id)
    dimension = property(lambda self: self._inner.dimension)
    max_tokens = property(lambda self: self._inner.max_tokens)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Always the model."""
        return self._inner.embed_queries(texts)

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """From the cache where the text is known, else from the model, which then is remembered."""
        hashes = [hashlib.sha256(f"{self.model_id}\n{text}".encode()).digest() for text in texts]
        with self._lock:
            found = {h: self._read(h) for h in hashes}
        missing = [i for i, h in enumerate(hashes) if found[h] is None]
        if missing:
            made = self._inner.embed_documents([texts[i] for i in missing])
            with self._lock, self._db:
                for i, row in zip(missing, made, strict=True):
                    found[hashes[i]] = row
                    self._db.execute(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                        (hashes[i], row.astype("<f4").tobytes()),
                    )
        return np.stack([found[h] for h in hashes]) if hashes else np.empty((0, self.dimension), np.float32)

    def _read(self, key: bytes) -> np.ndarray | None:
        row = self._db.execute("SELECT row FROM vectors WHERE hash = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], "<f4")


def cached(source: EmbedderSource, path: Path) -> EmbedderSource:
    """`source` with its documents cached in the file `path`."""
    return replace(source, load=lambda: CachedEmbedder(source.load(), path))
