"""The command line as a whole: the tree of commands, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from lorebank import __version__
from lorebank.cli.base import LazyGroup, State
from lorebank.cli.failures import FAILED, INTERRUPTED, OK, CliError, from_error, next_step, usage
from lorebank.cli.hooks import Hooks
from lorebank.cli.output import safe
from lorebank.errors import LorebankError

COMMANDS = {
    "serve": "server",
    "demo": "demo",
    "configure": "configure",
    "status": "server",
    "retain": "retain",
    "recall": "recall",
    "bank": "bank",
    "document": "document",
    "memory": "memory",
    "entity": "listing",
    "tag": "listing",
    "operation": "operation",
    "access": "access",
    "audit": "audit",
    "vault": "vault",
    "doctor": "upkeep",
    "reembed": "upkeep",
    "backup": "upkeep",
    "restore": "upkeep",
    "key": "server",
    "version": "server",
}
"""Every command and the module that has it, in the order of the help."""

MIN_WIDTH = 40

HELP = """lorebank keeps long-term memory for AI agents: banks that retain and recall, offline.

Start with 'lorebank demo', or 'lorebank serve' and then

\b
  lorebank retain --bank notes "Mara moves to Oslo in March"
  lorebank recall --bank notes "Where will Mara live?"

Commands speak to the server that runs on the data directory; when none runs, they do the work
themselves.
"""


def build_cli() -> click.Group:
    """The tree of commands. Run it with a `State` as the context's object."""
    return LazyGroup(
        "lorebank",
        modules=COMMANDS,
        help=HELP,
        no_args_is_help=True,
        params=[_version_option()],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )


def _version_option() -> click.Option:
    def show(context: click.Context, param: click.Parameter, value: bool) -> None:
        if value:
            print(f"lorebank {__version__}")
            context.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show the version.",
    )


def run(hooks: Hooks, argv: Sequence[str]) -> int:
    """Run one command line and return the process's exit code. Errors are told, never traced."""
    state = State(hooks)
    _never_fail_to_encode()
    try:
        result = _invoke(state, argv)
        sys.stdout.flush()
        return result
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except CliError as exc:
        return _fail(exc, state)
    except LorebankError as exc:
        return _fail(from_error(exc), state)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        return exc.exit_code
    except click.ClickException as exc:
        state.as_json = state.as_json or "--json" in argv
        return _fail(usage(" ".join(exc.format_message().split())), state, hint=_hint(exc))
    except BrokenPipeError:
        _drop_stdout()
        return OK
    except (click.Abort, KeyboardInterrupt):
        print("stopped", file=sys.stderr)
        return INTERRUPTED
    except OSError as exc:
        what = f"{exc.filename}: " if isinstance(exc.filename, str) else ""
        return _fail(CliError("failed", what + (exc.strerror or "the system refused"), FAILED), state)


def _invoke(state: State, argv: Sequence[str]) -> int:
    cli = build_cli()
    with cli.make_context("lorebank", list(argv), obj=state) as context:
        result = cli.invoke(context)
    return result if isinstance(result, int) else OK


def _fail(error: CliError, state: State, hint: str = "") -> int:
    if state.as_json:
        told = {"code": error.code, "message": error.message}
        told |= {"reason": error.reason} if error.reason else {}
        print(json.dumps({"error": told}), file=sys.stderr)
    else:
        why = f" ({error.reason.replace('_', ' ')})" if error.reason else ""
        print(_wrapped(safe(f"lorebank: {error.message}{why}\n{hint or next_step(error)}")), file=sys.stderr)
    return error.exit_code


def _wrapped(text: str) -> str:
    """`text` broken between words at the width of the terminal, if there is one."""
    lines = text.strip().splitlines()
    if sys.stderr.isatty():
        width = max(shutil.get_terminal_size().columns, MIN_WIDTH)
        lines = [textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) for line in lines]
    return "\n".join(lines)


def _hint(exc: click.ClickException) -> str:
    if isinstance(exc, click.MissingParameter) and exc.param is not None and exc.param.name == "bank":
        return "Name a bank, or set LOREBANK_BANK; 'lorebank bank list' shows what there is."
    context = getattr(exc, "ctx", None)
    return f"See '{context.command_path} --help'." if context is not None else ""


def _never_fail_to_encode() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _drop_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
