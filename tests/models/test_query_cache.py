"""The question cache never mixes models and never grows past its size."""

from __future__ import annotations

import numpy as np
import pytest

from lorebank.models.query_cache import QueryCache


def vector(value: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.full(3, value, dtype=np.float32)


def test_a_vector_of_another_model_is_never_returned() -> None:
    cache = QueryCache(4)
    cache.put("old@1", "text", vector(1))
    assert cache.get("new@2", "text") is None


def test_the_least_recently_used_entry_makes_room() -> None:
    cache = QueryCache(2)
    cache.put("m", "a", vector(1))
    cache.put("m", "b", vector(2))
    cache.get("m", "a")
    cache.put("m", "c", vector(3))
    assert cache.get("m", "b") is None
    assert cache.get("m", "a") is not None


def test_a_cached_vector_cannot_be_changed_by_a_caller() -> None:
    kept = QueryCache(2).put("m", "a", vector(1))
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 9


def test_clearing_forgets_everything() -> None:
    cache = QueryCache(2)
    cache.put("m", "a", vector(1))
    cache.clear()
    assert cache.get("m", "a") is None
