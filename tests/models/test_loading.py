"""A model loads in the background, once, and a failure is told and can be tried again."""

from __future__ import annotations

import threading

import pytest

from lorebank.errors import Unavailable
from lorebank.models.loading import LazyModel


def test_nothing_loads_before_it_is_asked_for() -> None:
    calls: list[int] = []
    lazy = LazyModel("m", lambda: calls.append(1))
    assert lazy.status.state == "off"
    assert calls == []


def test_starting_returns_at_once_and_getting_waits() -> None:
    allowed = threading.Event()
    lazy = LazyModel("m", lambda: allowed.wait(5) and "model")
    lazy.start()
    with pytest.raises(Unavailable, match="still loading"):
        lazy.get(0.01)
    allowed.set()
    assert lazy.get(5) == "model"
    assert lazy.status.state == "ready"


def test_many_threads_load_it_once() -> None:
    calls: list[int] = []
    lazy = LazyModel("m", lambda: calls.append(1) or "model")  # type: ignore[func-returns-value]
    threads = [threading.Thread(target=lazy.get, args=(5,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [1]


def test_a_known_failure_keeps_its_public_reason() -> None:
    def load() -> str:
        raise Unavailable("The weights are not installed.")

    lazy = LazyModel("m", load)
    with pytest.raises(Unavailable, match="weights are not installed"):
        lazy.get(5)
    assert lazy.status.state == "failed"
    assert lazy.status.reason == "The weights are not installed."


def test_an_unexpected_failure_tells_no_detail_and_may_be_tried_again() -> None:
    outcomes = iter([RuntimeError("secret path"), None])

    def load() -> str:
        error = next(outcomes)
        if error is not None:
            raise error
        return "model"

    lazy = LazyModel("m", load)
    with pytest.raises(Unavailable, match=r"^m could not be loaded\.$"):
        lazy.get(5)
    lazy.start()
    assert lazy.get(5) == "model"
