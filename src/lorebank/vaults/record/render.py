"""Records as lorebank writes them: one form, quiet to read, and fast to read back (`canonical.py`).

Plain words stay plain, several lines become a literal block, everything else is a JSON string, which is a
YAML double-quoted scalar too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from lorebank.errors import InvalidInput
from lorebank.vaults.record.core_schema import resolved

KEY_ORDER: Final = (
    "format",
    "id",
    "revision",
    "kind",
    "type",
    "relation",
    "claim_kind",
    "title",
    "recorded_at",
    "updated_at",
    "scope",
    "lifecycle",
    "replaced_by",
    "reason",
    "aliases",
    "tags",
    "fields",
    "from",
    "to",
    "entities",
    "source_page",
    "subject_hint",
    "valid_from",
    "valid_to",
    "origin",
    "attribution",
    "remembered",
    "dependencies",
    "evidence",
)
MAX_KEY_CHARS: Final = 500
"""A key that stands on one line with its colon must be short in YAML (1,024 characters)."""

PLAIN = re.compile(r"[^\W_](?:[\w\-./(),;+'&%@$=!?]|:(?=[\w/])| (?=[^\W_]))*")
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}")
# Other readers take these for something else (YAML 1.1); they cost two quotes.
_SURPRISING = re.compile(r"(?:y|n|yes|no|on|off)|[0-9]+(?::[0-9]+)+(?:\.[0-9]*)?|[0-9_]+", re.IGNORECASE)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOT_LITERAL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|(?:^|\n)[^\\S\n]+(?:\n|$)"
)


def render_record(meta: Mapping[str, Any], body: str) -> bytes:
    """A whole record file: known keys in their order, then the others as given, then the body."""
    known = [key for key in KEY_ORDER if key in meta]
    others = [key for key in meta if key not in KEY_ORDER]
    lines = [line for key in (*known, *others) for line in entry_lines(key, meta[key])]
    text = body.replace("\r\n", "\n").strip("\n")
    return encoded(
        "---\n" + "".join(f"{line}\n" for line in lines) + "---\n" + (f"\n{text}\n" if text else "")
    )


def encoded(text: str) -> bytes:
    """UTF-8; `InvalidInput` for half a surrogate pair."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise InvalidInput("the text holds half of a surrogate pair; send valid Unicode") from exc


def entry_lines(key: str, value: Any, indent: int = 0, written: str | None = None) -> list[str]:
    """The lines of one `key: value`; `written` is the key as it shall stand there."""
    name = written or key_text(key)
    return list(_under(f"{' ' * indent}{name}:", value, indent))


def key_text(key: str) -> str:
    """A key, quoted where it must be."""
    if len(key) > MAX_KEY_CHARS:
        raise InvalidInput(f"a key of frontmatter may have {MAX_KEY_CHARS} characters; shorten {key[:40]!r}…")
    return key if PLAIN_KEY.fullmatch(key) else quoted(key)


def quoted(text: str) -> str:
    """A JSON string that YAML reads the same."""
    written = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", written)


def scalar_text(value: str | int | float | bool | None) -> str:
    """One scalar on one line."""
    if isinstance(value, str):
        plain = PLAIN.fullmatch(value) and not _SURPRISING.fullmatch(value) and resolved(value) == value
        return value if plain else quoted(value)
    return json.dumps(value, allow_nan=False)


def _under(head: str, value: Any, indent: int) -> Iterable[str]:
    if isinstance(value, Mapping):
        yield from [head, *_mapping(value, indent + 2)] if value else [f"{head} {{}}"]
    elif isinstance(value, (list, tuple)):
        yield from [head, *_items(value, indent + 2)] if value else [f"{head} []"]
    elif isinstance(value, str) and _literal(value):
        yield f"{head} |-"
        yield from (f"{' ' * (indent + 2)}{line}" if line else "" for line in value.split("\n"))
    else:
        yield f"{head} {scalar_text(value)}"


def _mapping(value: Mapping[str, Any], indent: int) -> Iterable[str]:
    for key, item in value.items():
        yield from entry_lines(key, item, indent)


def _items(items: Iterable[Any], indent: int) -> Iterable[str]:
    dash = " " * indent + "-"
    for item in items:
        if isinstance(item, Mapping) and item:
            first, *rest = _mapping(item, indent + 2)
            yield f"{dash} {first[indent + 2 :]}"
            yield from rest
        else:
            yield from _under(dash, item, indent)


def _literal(text: str) -> bool:
    """Whether it reads well and safely as a literal block: several lines, no blanks at odd places."""
    if "\n" not in text or text[0] in "\n " or text[-1] == "\n":
        return False
    return _NOT_LITERAL.search(text) is None
