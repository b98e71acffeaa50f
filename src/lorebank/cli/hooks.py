"""What the command line asks of the process that it runs in. `bootstrap` implements it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from lorebank.cli.wire import Address
from lorebank.config import Settings

AsgiApp = Callable[
    [
        MutableMapping[str, Any],
        Callable[[], Awaitable[MutableMapping[str, Any]]],
        Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ],
    Awaitable[None],
]
"""An ASGI 3 application: `await app(scope, receive, send)`."""


class Hooks(Protocol):
    """The parts of lorebank that only `bootstrap` can build. All may raise `LorebankError`."""

    def load_settings(self, flags: Mapping[str, Any], profile: Path | None) -> Settings:
        """The settings in force: `flags` beat the environment, which beats the profile file."""

    def serve(self, settings: Settings, *, as_json: bool) -> int:
        """Run the server until it is told to stop; the process's exit code.

        It says once on stdout where it serves, with `as_json` as one line of JSON.
        """

    def server(self, settings: Settings) -> Address | None:
        """The healthy server that owns the data directory, with the root key; None when none runs."""

    def open_app(self, settings: Settings, *, owner: bool) -> AbstractContextManager[tuple[AsgiApp, str]]:
        """Own the data directory and build the HTTP application on it, with its root key.

        With `owner` no key is asked for: whoever can open the directory owns what is in it, even where
        the root user was disabled or lost his rights.

        Leaving the context gives the directory up. The caller runs the application's lifespan.
        """

    def root_key(self, settings: Settings) -> str:
        """The root key of the data directory; `NotFound` before the first start."""

    def restore(self, source: Path, data_dir: Path) -> Mapping[str, object]:
        """Copy the backup at `source` into `data_dir`; `Conflict` when there is data already."""
