"""The server process: bind, own the directory, say where everything is, serve until told to stop."""

from __future__ import annotations

import asyncio
import gc
import json
import shlex
import signal
import socket
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lorebank.cli.program import program
from lorebank.config import Settings
from lorebank.errors import Conflict, InvalidInput, Unavailable

if TYPE_CHECKING:
    from lorebank.models.service import EmbedderSource

_IDLE_CHECK_S = 0.5
# Longer than clients keep an unused connection: the side that waits longer never races the other.
_KEEP_ALIVE_S = 75


def serve(settings: Settings, *, embedder: EmbedderSource | None = None, as_json: bool = False) -> int:
    """Serve `settings.data_dir` on `settings.host` and `settings.port`; the process's exit code.

    Raises `Conflict` when the port or the directory is taken, and what opening the directory raises.
    """
    import uvicorn

    from lorebank.bootstrap.build import build, open_directory
    from lorebank.http.logs import configure

    configure(settings)
    listener = _bind(settings)
    port = listener.getsockname()[1]
    url = f"http://{_host_in_url(settings.host)}:{port}"
    try:
        directory, key = open_directory(settings, url)
    except BaseException:
        listener.close()
        raise
    with directory:
        server = build(
            directory, settings, embedder=embedder, on_start=lambda: _say(settings, url, key, as_json)
        )
        idle = Idle(server.app)
        runner = uvicorn.Server(
            uvicorn.Config(
                idle,
                access_log=False,
                log_config=None,
                server_header=False,
                lifespan="on",
                timeout_graceful_shutdown=10,
                timeout_keep_alive=_KEEP_ALIVE_S,
                h11_max_incomplete_event_size=256 * 1024,
            )
        )
        _outlive_signals()
        _calm_collector()
        _run_loop(_run(runner, listener, idle, settings.idle_timeout))
    return 0 if runner.started else 1


def _calm_collector() -> None:
    """What is loaded now stays: the collector need not walk it, nor look after every few hundred objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _outlive_signals() -> None:
    """uvicorn ends in order on a signal and then raises it again: by then there is nothing left to end."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: None)


def _run_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run on uvloop where it is installed: it costs a fifth of the standard loop a request."""
    try:
        from uvloop import run
    except ImportError:
        asyncio.run(work)
    else:
        run(work)


async def _run(runner: Any, listener: socket.socket, idle: Idle, timeout_s: float) -> None:
    watcher = asyncio.create_task(idle.watch(runner, timeout_s)) if timeout_s > 0 else None
    await runner.serve(sockets=[listener])
    if watcher is not None:
        watcher.cancel()


class Idle:
    """Counts requests in flight, so that an unused server can end itself."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._active = 0
        self._last = time.monotonic()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass everything on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._active += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._active -= 1
            self._last = time.monotonic()

    async def watch(self, runner: Any, timeout_s: float) -> None:
        """End the server when no request came for `timeout_s` seconds."""
        while not runner.should_exit:
            await asyncio.sleep(min(_IDLE_CHECK_S, timeout_s))
            if self._active == 0 and time.monotonic() - self._last >= timeout_s:
                runner.should_exit = True


def _bind(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named TCP, so that the event loop sends small answers at once instead of after 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except socket.gaierror as exc:
        listener.close()
        raise InvalidInput(f"host '{settings.host}' is not an address of this machine", cause=exc) from exc
    except OSError as exc:
        listener.close()
        raise Conflict(
            f"port {settings.port} on {settings.host} cannot be used ({exc.strerror}); "
            "stop what listens there, or choose another port with --port or LOREBANK_PORT",
            cause=exc,
        ) from exc
    listener.listen(2048)
    listener.set_inheritable(True)
    return listener


def _host_in_url(host: str) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return f"[{shown}]" if ":" in shown else shown


def _say(settings: Settings, url: str, key: str, as_json: bool) -> None:
    """What a newcomer needs, once, on stdout; one line of JSON for a script."""
    where, us = _short(settings.data_dir), program()
    usual = settings.data_dir == Path("~/.lorebank").expanduser()
    there = "" if usual else f" --data-dir {shlex.quote(str(settings.data_dir))}"
    lines = [
        f"lorebank serves {url}",
        f"  data      {where}",
        "  key       not needed (--no-auth)" if settings.no_auth else _key_line(key, us, there),
        f'  retain    {us} retain --bank home "Alice prefers tea."{there}',
        f'  recall    {us} recall --bank home "What does Alice drink?"{there}',
        f"  stop      Ctrl-C; other commands: {us} --help",
    ]
    if as_json:
        lines = [json.dumps({"url": url, "data_dir": str(settings.data_dir)})]
    try:
        print("\n".join(lines), flush=True)  # noqa: T201 - the banner is what the terminal is for
    except OSError as exc:
        raise Unavailable("stdout is closed", cause=exc) from exc


def _key_line(key: str, us: str, there: str) -> str:
    if not key:
        return "  key       the one you gave (only its digest is kept)"
    return f"  key       {us} key show{there}"


def _short(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)
