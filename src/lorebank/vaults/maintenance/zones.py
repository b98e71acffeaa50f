"""Time zones by name, and the one of the machine, from the standard library alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from lorebank.errors import InvalidInput

MAX_NAME: Final = 100
_UTC_NAMES: Final = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z"})


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone: its name for people, and its rules."""

    name: str
    rules: tzinfo


UTC_ZONE: Final = Zone("UTC", UTC)


def named_zone(name: str) -> Zone:
    """The zone with an IANA name such as `America/Los_Angeles`; `InvalidInput` when there is none."""
    if name in _UTC_NAMES:
        return Zone(name, UTC)
    try:
        return Zone(name, ZoneInfo(name[:MAX_NAME]))
    except (KeyError, ValueError, OSError) as exc:
        raise InvalidInput(
            f"the time zone {name[:MAX_NAME]!r} is not known; write it as in America/Los_Angeles", cause=exc
        ) from exc


def host_zone(environment: Mapping[str, str] | None = None, root: Path = Path("/")) -> Zone:
    """The machine's zone: `TZ`, else /etc/timezone, else /etc/localtime, else UTC.

    `InvalidInput` when `TZ` says something that is no name of a zone: nobody knows what was meant.
    """
    said = (os.environ if environment is None else environment).get("TZ")
    if said is not None:
        return _from_variable(said)
    return _from_timezone(root) or _from_localtime(root) or UTC_ZONE


def _from_variable(said: str) -> Zone:
    name = said.removeprefix(":")
    if not name:
        return UTC_ZONE
    try:
        return named_zone(_after_zoneinfo(name) or name)
    except InvalidInput as exc:
        raise InvalidInput(
            "the host's TZ is not the name of a time zone; set maintenance.timezone", cause=exc
        ) from exc


def _from_timezone(root: Path) -> Zone | None:
    try:
        name = (root / "etc/timezone").read_text("utf-8").strip()
        return named_zone(name) if name else None
    except (OSError, ValueError, InvalidInput):
        return None


def _from_localtime(root: Path) -> Zone | None:
    place = root / "etc/localtime"
    try:
        name = _after_zoneinfo(os.readlink(place))
        if name is not None:
            return named_zone(name)
    except (OSError, InvalidInput):
        pass  # no link: the file itself has the rules
    try:
        with open(place, "rb") as file:
            return Zone("local time", ZoneInfo.from_file(file))
    except (OSError, ValueError):
        return None


def _after_zoneinfo(path: str) -> str | None:
    """`Europe/Oslo` of `/usr/share/zoneinfo/Europe/Oslo`."""
    _, found, name = path.partition("zoneinfo/")
    return name if found else None
