"""A model that loads in the background, so that the server answers before the model is warm."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from lorebank.errors import LorebankError, Unavailable

State = Literal["off", "loading", "ready", "failed"]
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What a health page says of a model; `reason` is public, and empty when there is nothing to say."""

    state: State
    reason: str = ""


class LazyModel(Generic[M]):
    """Loads a model once, on its own thread, when `start` or `get` first asks for it.

    States: `off` (not asked for yet), `loading`, `ready`, `failed` (with the reason; `start` tries
    again, `get` does not).
    """

    def __init__(self, name: str, load: Callable[[], M]) -> None:
        self._name = name
        self._load = load
        self._changed = threading.Condition()
        self._status = ModelStatus("off")
        self._model: M | None = None

    @property
    def status(self) -> ModelStatus:
        """The state now; never waits."""
        with self._changed:
            return self._status

    def start(self) -> None:
        """Begin to load, unless that is under way or done; returns at once."""
        with self._changed:
            if self._status.state in ("loading", "ready"):
                return
            self._status = ModelStatus("loading")
        threading.Thread(target=self._run, name=f"load {self._name}", daemon=True).start()

    def get(self, timeout_s: float) -> M:
        """The model, waiting at most `timeout_s` seconds for it.

        Raises `Unavailable` when it could not be loaded or is not ready in time.
        """
        if self.status.state == "off":
            self.start()
        with self._changed:
            self._changed.wait_for(lambda: self._status.state != "loading", timeout_s)
            if self._model is not None:
                return self._model
            raise Unavailable(self._status.reason or f"{self._name} is still loading; try again shortly.")

    def close(self, timeout_s: float = 30.0) -> None:
        """Wait for a load that is under way: a process that ends inside a native library is aborted."""
        with self._changed:
            self._changed.wait_for(lambda: self._status.state != "loading", timeout_s)

    def _run(self) -> None:
        try:
            model = self._load()
        except LorebankError as exc:
            self._settle(ModelStatus("failed", exc.message), None)
        except Exception:  # edge of the loading thread: whatever happens, nobody may wait for ever
            self._settle(ModelStatus("failed", f"{self._name} could not be loaded."), None)
        else:
            self._settle(ModelStatus("ready"), model)

    def _settle(self, status: ModelStatus, model: M | None) -> None:
        with self._changed:
            self._status, self._model = status, model
            self._changed.notify_all()
