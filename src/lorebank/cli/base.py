"""What all commands share: the options that every command takes, and the state that they set."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from lorebank.cli import profiles
from lorebank.cli.api import Api
from lorebank.cli.hooks import Hooks
from lorebank.cli.output import Printer
from lorebank.cli.wire import Address, HttpTransport
from lorebank.config import Settings
from lorebank.errors import Conflict

URL_ENV = "LOREBANK_URL"
KEY_ENV = "LOREBANK_API_KEY"
BUSY_SECONDS = 10.0
BUSY_PAUSE = 0.1
F = TypeVar("F", bound=Callable[..., Any])


class State:
    """What the shared options of one command line said, and the way to the server."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.as_json = False
        self.profile: str | None = None
        self.data_dir: str | None = None
        self.url: str | None = None
        self.api_key: str | None = None
        self.in_process = False

    @property
    def printer(self) -> Printer:
        """The printer for the form that was asked for."""
        return Printer(as_json=self.as_json)

    def settings(self, **flags: Any) -> Settings:
        """The settings in force with `flags` on top; `InvalidInput` names the wrong one."""
        given = {"data_dir": self.data_dir, **flags}
        return self.hooks.load_settings(given, profiles.chosen(self.profile, os.environ))

    def remote(self) -> Address | None:
        """The server named by --url or LOREBANK_URL; None when none is named."""
        url = self.url or os.environ.get(URL_ENV, "")
        return Address(url, self.own_key()) if url else None

    def own_key(self) -> str:
        """The key that the caller names: then he asks with it and nothing else, wherever the server is."""
        return self.api_key or os.environ.get(KEY_ENV, "")

    @contextmanager
    def api(self) -> Iterator[Api]:
        """The named server, else the running one of the data directory, else one in this process."""
        with ExitStack() as stack:
            address = self.remote()
            if address is not None:
                yield stack.enter_context(self.api_at(address))
            else:
                yield self._local(stack, self.settings())

    @contextmanager
    def api_at(self, address: Address) -> Iterator[Api]:
        """The server at `address`."""
        transport = HttpTransport(address.url)
        try:
            yield Api(transport, self.own_key() or address.key)
        finally:
            transport.close()

    def _local(self, stack: ExitStack, settings: Settings) -> Api:
        """Another command may hold the data directory for a moment, or a server be about to answer."""
        from lorebank.cli.logs import to_stderr

        to_stderr(as_json=self.as_json)
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            address = self.hooks.server(settings)
            if address is not None:
                return stack.enter_context(self.api_at(address))
            try:
                app, key = stack.enter_context(self.hooks.open_app(settings, owner=not self.own_key()))
            except Conflict:
                if time.monotonic() > deadline:
                    raise
                time.sleep(BUSY_PAUSE)
                continue
            from lorebank.cli.inprocess import running

            self.in_process = True
            return Api(stack.enter_context(running(app, self.printer.note)), self.own_key() or key)


def _keep(context: click.Context, param: click.Parameter, value: Any) -> None:
    if value not in (None, False) and param.name is not None:
        setattr(context.find_object(State), param.name, value)


def shared_options() -> list[click.Option]:
    """The options that every command takes, before or after its name."""
    kept: dict[str, Any] = {"expose_value": False, "callback": _keep}
    return [
        click.Option(["-p", "--profile"], metavar="NAME", help="Use this profile's settings.", **kept),
        click.Option(["--data-dir"], metavar="DIR", help="Where everything is kept.", **kept),
        click.Option(["--url"], metavar="URL", help=f"Speak to the server there ({URL_ENV}).", **kept),
        click.Option(["--api-key"], metavar="KEY", help=f"Key to ask with ({KEY_ENV}).", **kept),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON and nothing else.", **kept),
    ]


class Command(click.Command):
    """A command that also takes the shared options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(shared_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Own options first, then the shared ones."""
        _format_options(self, ctx, formatter)


class Group(click.Group):
    """A group of commands that also takes the shared options."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(shared_options())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Own options, the shared ones, then the commands."""
        _format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


class Port(click.IntRange):
    """A TCP port; 0 takes a free one."""

    name = "port"

    def __init__(self) -> None:
        super().__init__(0, 65535)


class LazyGroup(Group):
    """The top of the command line: a command's module is imported when it is asked for."""

    def __init__(self, *args: Any, modules: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command `cmd_name`; None when there is none."""
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        found = getattr(import_module(f"lorebank.cli.commands.{module}"), cmd_name.replace("-", "_"))
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with a hint at the commands that are not imported yet."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as exc:
            raise click.exceptions.NoSuchCommand(
                exc.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None


def confirm(question: str) -> None:
    """Ask whether to go on; `click.Abort` on no, and a failure when there is nobody to ask."""
    from lorebank.cli.failures import usage

    try:
        answer = click.prompt(f"{question} [y/N]", default="n", show_default=False, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)  # ends the line of the question
        raise usage("nobody is there to ask; --yes answers the question") from None
    if answer.strip().lower() not in ("y", "yes"):
        raise click.Abort


def _format_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    shared = {option.name for option in shared_options()}
    own: list[tuple[str, str]] = []
    common: list[tuple[str, str]] = []
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if record is not None:
            (common if param.name in shared else own).append(record)
    for title, records in (("Options", own), ("Options of every command", common)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


pass_state = click.make_pass_decorator(State)


def bank_option(command: F) -> F:
    """The option `--bank`, which may also come from LOREBANK_BANK."""
    option = click.option(
        "-b",
        "--bank",
        envvar="LOREBANK_BANK",
        required=True,
        metavar="BANK",
        help="The bank (LOREBANK_BANK).",
    )
    return option(command)


def page_options(command: F) -> F:
    """The options `--limit` and `--offset` of a listing."""
    limit = click.option(
        "--limit", type=click.IntRange(0), default=20, show_default=True, help="Rows to show."
    )
    offset = click.option("--offset", type=click.IntRange(0), default=0, help="Rows to skip.")
    return limit(offset(command))


def confirm_option(command: F) -> F:
    """The option `--yes`, which answers the question whether to go on."""
    return click.option("-y", "--yes", is_flag=True, help="Do not ask.")(command)


def read_json(text: str, field: str) -> Any:
    """`text` as JSON, or as plain text when it is none (so that `--set name=free text` works)."""
    import json

    try:
        return json.loads(text)
    except ValueError:
        if text[:1] in ("{", "["):
            from lorebank.cli.failures import usage

            raise usage(f"{field} looks like JSON but is not") from None
        return text


def key_values(pairs: Sequence[str], field: str) -> dict[str, str]:
    """`k=v` arguments as a mapping; a failure names `field` for anything else."""
    from lorebank.cli.failures import usage

    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise usage(f"{field} takes NAME=VALUE, not '{pair}'")
        found[name] = value
    return found


def readable(path: str) -> bytes:
    """The bytes of a file that the user named; a failure when it cannot be read."""
    from lorebank.cli.failures import usage

    try:
        return Path(path).read_bytes()
    except OSError as exc:
        raise usage(f"cannot read {path}: {exc.strerror}") from exc
