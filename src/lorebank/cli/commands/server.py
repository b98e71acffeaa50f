"""The server itself: serve, status, version, key."""

from __future__ import annotations

from typing import Any

import click

from lorebank import __version__
from lorebank.cli.base import Command, Group, Port, State, pass_state
from lorebank.cli.output import Printer, one_line, size, when
from lorebank.errors import Conflict

NOT_RUNNING = "not running (commands do the work themselves)"


@click.command(cls=Command)
@click.option("--host", metavar="ADDRESS", help="Address to listen on.")
@click.option("--port", type=Port(), metavar="N", help="Port to listen on; 0 takes a free one.")
@click.option("--no-auth", is_flag=True, default=None, help="Serve without keys; loopback only.")
@click.option(
    "--idle-timeout", type=float, metavar="S", help="End after S seconds without a request; 0: never."
)
@click.option("--embedder", metavar="local|hosted|none", help="Where vectors come from.")
@click.option("--log-level", metavar="LEVEL", help="debug, info, warning or error.")
@click.option("--log-format", metavar="text|json", help="Form of log lines.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other setting.")
@pass_state
def serve(state: State, /, settings: tuple[str, ...], **flags: Any) -> int:
    """Run the server until it is told to stop."""
    from lorebank.cli.base import key_values
    from lorebank.cli.failures import usage

    if state.url:
        raise usage("serve runs a server here: say --host and --port instead of --url")
    ready = state.settings(**key_values(settings, "--set"), **flags)
    running = state.hooks.server(ready)
    if running is not None:
        raise Conflict(
            f"{running.url} serves this data directory already; use that server, stop it first, "
            "or serve another directory with --data-dir and --port"
        )
    return state.hooks.serve(ready, as_json=state.as_json)


@click.command(cls=Command)
@pass_state
def status(state: State) -> None:
    """Show what lorebank holds and what it is doing."""
    with state.api() as api:
        answer = api.get("/v1/lorebank/status")
        served = not state.in_process
    where = None if state.remote() else str(state.settings().data_dir)
    state.printer.result(
        {**answer, "running": served, "data_dir": where},
        lambda: _show_status(state.printer, answer, where, served),
    )


def _show_status(printer: Printer, answer: dict[str, Any], where: str | None, served: bool) -> None:
    models = answer.get("models", {})
    pending = answer.get("pending", {})
    printer.pairs(
        [
            ("server", f"lorebank {answer.get('version')}, " + ("running" if served else NOT_RUNNING)),
            ("up since", when(answer.get("started_at")) + " UTC" if served else ""),
            ("data directory", where or answer.get("data", {}).get("name")),
            ("on disk", size(int(answer.get("data", {}).get("bytes", 0)))),
            ("banks", answer.get("banks")),
            ("memories", answer.get("memories")),
            ("documents", answer.get("documents")),
            *((name, _model(model, served)) for name, model in models.items()),
            ("waiting", f"{pending.get('operations', 0)} operations, {pending.get('vectors', 0)} vectors"),
            (
                "failed",
                f"{pending['failed_operations']} operations" if pending.get("failed_operations") else "",
            ),
            (
                "unreadable",
                f"{answer['unreadable_banks']} banks; see 'lorebank doctor'"
                if answer.get("unreadable_banks")
                else "",
            ),
            ("knowledge", _knowledge(answer.get("knowledge") or {})),
            ("at work", ", ".join(_task(task) for task in answer.get("tasks", []))),
        ]
    )


def _knowledge(counts: dict[str, Any]) -> str:
    if counts.get("problem"):
        return f"unavailable: {one_line(counts['problem'])}"
    lost = counts.get("unavailable")
    told = f", {lost} unavailable; see 'lorebank vault check'" if lost else ""
    return f"{counts['stores']} stores{told}" if counts.get("stores") else ""


def _model(model: dict[str, Any], served: bool) -> str:
    """A model that only this command would load has no state worth telling."""
    told = ("id", "state", "reason") if served or model.get("reason") else ("id",)
    return ", ".join(one_line(model[key]) for key in told if model.get(key))


def _task(task: dict[str, Any]) -> str:
    progress = task.get("progress") or {}
    return f"{task.get('operation_type')} ({progress.get('processed', 0)} of {progress.get('total') or '?'})"


@click.command(cls=Command)
@pass_state
def version(state: State) -> None:
    """Show the version of lorebank and of its server."""
    served = None
    address = state.remote() or state.hooks.server(state.settings())
    if address is not None:
        with state.api_at(address) as api:
            served = api.get("/version")
    answer = {"version": __version__, "server": served}
    state.printer.result(
        answer,
        lambda: state.printer.raw(
            f"lorebank {__version__}"
            + (f" (the server's API: {served.get('api_version')})" if served else "")
        ),
    )


@click.group(cls=Group)
def key() -> None:
    """The root API key of a data directory."""


@key.command("show")
@pass_state
def show_key(state: State) -> None:
    """Print the root key, for other clients of this server. Treat it like a password."""
    found = state.hooks.root_key(state.settings())
    state.printer.result({"key": found}, lambda: state.printer.raw(found))
