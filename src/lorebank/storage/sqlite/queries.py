"""SQL in named files: a file of `-- name --` sections becomes the fields of a frozen class."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from lorebank.errors import Bug


class Sections:
    """Base of the classes whose fields are the sections of a file. Lighter than dataclasses: these are
    made at every start and only ever read."""

    def __init__(self, sections: dict[str, str]) -> None:
        self.__dict__.update(sections)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is read-only")


Sql = TypeVar("Sql", bound=Sections)
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


def load(kind: type[Sql], name: str) -> Sql:
    """The sections of `sql/<name>.sql` as an instance of `kind`, whose fields are the section names.

    Raises `Bug` at import when fields and sections differ, so a typo never waits for its first use.
    """
    sections = read_sections(resource(f"sql/{name}.sql"))
    wanted = kind.__annotations__.keys()
    if wanted != sections.keys():
        raise Bug(f"sql/{name}.sql and {kind.__name__} differ in {sorted(wanted ^ sections.keys())}")
    return kind(sections)


def read_sections(text: str) -> dict[str, str]:
    """name -> statement of a file of sections, without comments."""
    parts = _HEADING.split(text)[1:]
    names = parts[::2]
    if len(set(names)) != len(names):
        raise Bug("a name occurs twice in an SQL file")
    bodies = (" ".join(_COMMENT.sub("", body).split()) for body in parts[1::2])
    return dict(zip(names, bodies, strict=True))


@cache
def resource(path: str) -> str:
    """The text of a file that ships beside this module."""
    return files(__package__).joinpath(*path.split("/")).read_text(encoding="utf-8")
