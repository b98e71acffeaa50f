"""Recently embedded questions, so that a repeated one costs no model call."""

from __future__ import annotations

import threading
from collections import OrderedDict

from lorebank.models.ports import Vector


class QueryCache:
    """The `size` most recently used query vectors, by model id and text.

    The model id is part of the key: a vector of another model is never returned, even one of the
    same width (field report I041). Vectors come back read-only, because callers share them.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[str, str], Vector] = OrderedDict()

    def get(self, model_id: str, text: str) -> Vector | None:
        """The vector, or None; a hit becomes the most recent entry."""
        with self._lock:
            vector = self._vectors.get((model_id, text))
            if vector is not None:
                self._vectors.move_to_end((model_id, text))
            return vector

    def put(self, model_id: str, text: str, vector: Vector) -> Vector:
        """Keep `vector` and return it read-only; the least recently used entry makes room."""
        vector.setflags(write=False)
        with self._lock:
            self._vectors[model_id, text] = vector
            self._vectors.move_to_end((model_id, text))
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._vectors.clear()
