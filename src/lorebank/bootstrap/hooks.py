"""What the command line needs of the process (`cli.hooks.Hooks`), with the server's parts loaded late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lorebank.cli.hooks import AsgiApp
from lorebank.cli.wire import Address, HttpTransport, Request
from lorebank.config import Settings, load
from lorebank.errors import LorebankError, NotFound

_PROBE_S = 3.0
# A one-off command makes the vectors of what it retained before it ends, within reason.
_DRAIN_S = 60.0


class ProcessHooks:
    """The hooks of the `lorebank` command."""

    def load_settings(self, flags: Mapping[str, Any], profile: Path | None) -> Settings:
        """The settings in force: `flags` beat the environment, which beats the profile file."""
        return load(flags, None, profile)

    def serve(self, settings: Settings, *, as_json: bool) -> int:
        """Run the server until it is told to stop; the process's exit code."""
        from lorebank.bootstrap.serve import serve

        return serve(settings, as_json=as_json)

    def server(self, settings: Settings) -> Address | None:
        """The healthy server that owns the data directory, with the root key; None when none runs."""
        from lorebank.storage.sqlite.lock import owner_of

        owner = owner_of(settings.data_dir)
        if owner is None or not owner.address or not _healthy(owner.address):
            return None
        return Address(owner.address, settings.root_api_key or self._key(settings))

    @contextmanager
    def open_app(self, settings: Settings, *, owner: bool) -> Iterator[tuple[AsgiApp, str]]:
        """Own the data directory and build the HTTP application on it, with its root key."""
        from lorebank.bootstrap.build import build, open_directory

        directory, key = open_directory(settings, "")
        # No socket leads to this application: only this process can ask it.
        ours = replace(settings, no_auth=True, host="127.0.0.1") if owner else settings
        with directory:
            server = build(directory, ours, drain_s=_DRAIN_S)
            yield server.app, key

    def root_key(self, settings: Settings) -> str:
        """The root key of the data directory; `NotFound` before the first start."""
        key = settings.root_api_key or self._key(settings)
        if not key:
            raise NotFound("there is no root key yet; 'lorebank serve' makes one at its first start")
        return key

    def restore(self, source: Path, data_dir: Path) -> Mapping[str, object]:
        """Copy the backup at `source` into `data_dir`; `Conflict` when there is data already."""
        from lorebank.storage.sqlite.backup import restore_directory

        restore_directory(source, data_dir)
        return {"restored": True}

    def _key(self, settings: Settings) -> str:
        from lorebank.storage.sqlite.files import plain_text

        return (plain_text(settings.data_dir / "root.key") or "").strip()


def _healthy(url: str) -> bool:
    transport = HttpTransport(url, timeout=_PROBE_S)
    try:
        return transport.send(Request("GET", "/health/live", {}, b"")).status == 200
    except LorebankError:
        return False
    finally:
        transport.close()
