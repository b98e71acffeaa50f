"""The generated parts of docs/: settings from their metadata, commands from their own help.

`python -m lorebank.bootstrap.docs FOLDER` writes them anew between their marks, with the parts that need
more than the command line; a test fails when the files are not current.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import click

from lorebank.cli.app import build_cli
from lorebank.cli.base import shared_options
from lorebank.cli.failures import EXIT_CODES
from lorebank.config import ENV_PREFIX, LIMIT_PREFIX, REFUSED, SYNONYMS, Settings
from lorebank.limits import Limits

BEGIN = "<!-- generated: {} -->"
END = "<!-- end -->"


def settings_table() -> str:
    """Every setting with its environment name, default and meaning, as a Markdown table."""
    rows = []
    for one in fields(Settings):
        if one.name in ("limits", "bank_defaults"):
            continue
        meaning = cell(one.metadata["doc"])
        if one.metadata["choices"]:
            meaning += ": " + ", ".join(
                f"`{choice}`" if choice else "empty" for choice in one.metadata["choices"]
            )
        if one.metadata["secret"]:
            meaning += " (never shown)"
        rows.append((f"`{one.name}`", f"`{ENV_PREFIX}{one.name.upper()}`", _default(one), meaning))
    return table(("setting", "environment", "default", "meaning"), rows)


def limits_table() -> str:
    """Every limit with its environment name, default, range and meaning, as a Markdown table."""
    rows = []
    for one in fields(Limits):
        name = LIMIT_PREFIX + one.name
        low, high = one.metadata["low"], one.metadata["high"]
        rows.append(
            (
                f"`{name}`",
                f"`{ENV_PREFIX}{name.upper()}`",
                f"{one.default:,}",
                f"{low:,} to {high:,}",
                cell(one.metadata["doc"]),
            )
        )
    return table(("limit", "environment", "default", "range", "largest number of"), rows)


def refused_table() -> str:
    """Environment names of other servers that lorebank refuses, and why."""
    return table(("environment", "why"), [(f"`{name}`", cell(why)) for name, why in REFUSED.items()])


def synonyms_table() -> str:
    """Environment names of other servers that lorebank reads, the strongest first."""
    rows = [(f"`{setting}`", ", ".join(f"`{name}`" for name in names)) for setting, names in SYNONYMS.items()]
    return table(("setting", "also read from"), rows)


def exit_codes_table() -> str:
    """What the exit codes mean."""
    return table(("exit code", "meaning"), [(str(code), cell(why)) for code, why in EXIT_CODES.items()])


def commands_reference() -> str:
    """Every command with its arguments and own options."""
    parts = ["### Options of every command\n", _options(shared_options())]
    root = build_cli()
    context = click.Context(root, info_name="lorebank")
    for command, inner in _walk(root, context):
        parts += [f"### `{_synopsis(command, inner)}`\n", _prose(command), _options(_own(command))]
    return "\n".join(part for part in parts if part).rstrip()


def _walk(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _walk(command, inner)
        else:
            yield command, inner


def _synopsis(command: click.Command, context: click.Context) -> str:
    arguments = [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]
    return " ".join([context.command_path, *arguments]) if arguments else context.command_path


def _prose(command: click.Command) -> str:
    text = (command.help or "").replace("\b\n", "")
    return "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"


def _own(command: click.Command) -> list[click.Option]:
    shared = {option.name for option in shared_options()}
    return [p for p in command.params if isinstance(p, click.Option) and p.name not in shared]


def _options(options: Iterable[click.Option]) -> str:
    context = click.Context(click.Command("x"))
    lines = []
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            lines.append(f"- `{record[0]}`: {' '.join(record[1].split())}")
    return "\n".join(lines) + "\n" if lines else ""


def _default(one: Field[Any]) -> str:
    value = "" if one.default is MISSING else one.default
    if value in ("", ()):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def cell(text: str) -> str:
    """`text` for a cell of a Markdown table."""
    return text.replace("|", "\\|")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


PARTS: Mapping[str, Callable[[], str]] = {
    "settings": settings_table,
    "limits": limits_table,
    "synonyms": synonyms_table,
    "refused": refused_table,
    "exit codes": exit_codes_table,
    "commands": commands_reference,
}


def fill(text: str, parts: Mapping[str, Callable[[], str]] = PARTS) -> str:
    """`text` with every generated part made anew between its marks; `ValueError` for an unclosed mark."""
    for name, make in parts.items():
        begin = BEGIN.format(name)
        if begin in text:
            before, _, rest = text.partition(begin)
            _, end, after = rest.partition(END)
            if not end:
                raise ValueError(f"the part '{name}' has no end mark")
            text = f"{before}{begin}\n{make()}\n{END}{after}"
    return text


def main(folder: str, parts: Mapping[str, Callable[[], str]] = PARTS) -> None:
    """Write the generated parts of every Markdown file in `folder`."""
    for path in sorted(Path(folder).glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = fill(old, parts)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1])
