"""SQL in named files: a file of `-- name --` sections becomes the fields of a frozen class."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

from lorebank.errors import Bug

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Sql = TypeVar("Sql", bound="DataclassInstance")
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


def load(kind: type[Sql], name: str) -> Sql:
    """The sections of `sql/<name>.sql` as an instance of `kind`, whose fields are the section names.

    Raises `Bug` at import when fields and sections differ, so a typo never waits for its first use.
    """
    sections = read_sections(resource(f"sql/{name}.sql"))
    wanted = {field.name for field in fields(kind)}
    if wanted != sections.keys():
        raise Bug(f"sql/{name}.sql and {kind.__name__} differ in {sorted(wanted ^ sections.keys())}")
    return kind(**sections)


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
