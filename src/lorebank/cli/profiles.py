"""Named profiles: one TOML file of settings each, in the user's configuration folder.

The folder is `$XDG_CONFIG_HOME/lorebank/profiles`, or `~/.config/lorebank/profiles` (XDG Base
Directory rules: a relative XDG_CONFIG_HOME counts as unset). `default` is used when it is there
and no other is named.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lorebank.errors import Conflict, InvalidInput, Unavailable

DEFAULT = "default"
PROFILE_ENV = "LOREBANK_PROFILE"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def folder(environ: Mapping[str, str]) -> Path:
    """The folder that holds the profiles; it may not exist yet."""
    given = environ.get("XDG_CONFIG_HOME", "")
    base = (
        Path(given)
        if given and os.path.isabs(given)
        else Path(environ.get("HOME") or Path.home()) / ".config"
    )
    return base / "lorebank" / "profiles"


def path_of(name: str, environ: Mapping[str, str]) -> Path:
    """The file of the profile `name`; `InvalidInput` when the name could not be a file's."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "a profile's name is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit"
        )
    return folder(environ) / f"{name}.toml"


def chosen(name: str | None, environ: Mapping[str, str]) -> Path | None:
    """The profile to read: the named one (which must exist), else `default` if it exists, else none."""
    wanted = name or environ.get(PROFILE_ENV) or None
    if wanted is None:
        fallback = path_of(DEFAULT, environ)
        return fallback if fallback.is_file() else None
    path = path_of(wanted, environ)
    if not path.is_file():
        known = names(environ)
        have = f"there are: {', '.join(known)}" if known else "there is none yet"
        raise InvalidInput(
            f"there is no profile '{wanted}' ({have}); make it with 'lorebank configure -p {wanted}'"
        )
    return path


def names(environ: Mapping[str, str]) -> list[str]:
    """The names of all profiles, sorted."""
    try:
        return sorted(entry.stem for entry in folder(environ).glob("*.toml") if _NAME.fullmatch(entry.stem))
    except OSError:
        return []


def to_toml(values: Mapping[str, Any], comment: str = "") -> str:
    """Settings as TOML: text, numbers and booleans only; None is left out."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, bool):
            lines.append(f"{name} = {str(value).lower()}")
        elif isinstance(value, int | float):
            lines.append(f"{name} = {value}")
        else:
            lines.append(f"{name} = {_toml_string(str(value))}")
    return "\n".join(lines) + "\n"


def _toml_string(text: str) -> str:
    """A TOML basic string. JSON's escapes are a subset of TOML's but for DEL and lone surrogates."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def write(path: Path, text: str, *, force: bool) -> None:
    """Write a profile that only its owner can read (mode 0600), in one step.

    Raises `Conflict` when it exists and `force` is not given, `Unavailable` when it cannot be written.
    """
    if path.exists() and not force:
        raise Conflict(f"the profile '{path.stem}' exists already; overwrite it with --force")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as exc:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise Unavailable(f"the profile '{path.stem}' cannot be written: {exc.strerror}", cause=exc) from exc
