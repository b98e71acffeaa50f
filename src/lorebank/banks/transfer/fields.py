"""Typed reading of one JSON object of an archive; every mistake names its part, line and field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lorebank.banks.transfer.format import bad
from lorebank.clock import Micros, parse_iso
from lorebank.errors import BadRequest, InvalidInput
from lorebank.ids import check_id, parse_uuid
from lorebank.limits import Limits

_MAX_JSON = 2**20


class Fields:
    """One object: `part` and `number` say where it stands."""

    def __init__(self, part: str, number: int, data: Mapping[str, Any], limits: Limits) -> None:
        self._where = f"{part} line {number}"
        self._data = data
        self.limits = limits

    def wrong(self, name: str, message: str, cause: BaseException | None = None) -> BadRequest:
        """The error for one field."""
        return bad(f"{self._where}: {name} {message}", cause)

    def text(self, name: str, most: int) -> str:
        """A text of at most `most` characters that can be stored: no NUL, no lone surrogate."""
        value = self._data.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "must be a text")
        if len(value) > most:
            raise self.wrong(name, f"must have at most {most} characters")
        if not storable(value):
            raise self.wrong(name, "must not contain NUL or lone surrogates")
        return value

    def maybe_text(self, name: str, most: int) -> str | None:
        """The same, or None."""
        return None if self._data.get(name) is None else self.text(name, most)

    def id(self, name: str) -> str:
        """An id that a caller may have chosen (`ids.check_id`)."""
        most = 5 * self.limits.id_bytes  # a chunk id holds a bank id, percent-encoded, and a document id
        return self._checked(name, self.text(name, most), most)

    def maybe_id(self, name: str) -> str | None:
        """The same, or None."""
        return None if self._data.get(name) is None else self.id(name)

    def uuid(self, name: str) -> str:
        """A UUID in canonical form."""
        try:
            return parse_uuid(self.text(name, 64), name)
        except BadRequest as exc:
            raise self.wrong(name, "must be a UUID", exc) from exc

    def uuids(self, name: str, most: int) -> tuple[str, ...]:
        """A list of distinct UUIDs."""
        found = tuple(self._uuid_item(name, item) for item in self.items(name, most))
        if len(set(found)) != len(found):
            raise self.wrong(name, "must not repeat an id")
        return found

    def _uuid_item(self, name: str, item: Any) -> str:
        try:
            return parse_uuid(item if isinstance(item, str) else "", name)
        except BadRequest as exc:
            raise self.wrong(name, "must be a list of UUIDs", exc) from exc

    def time(self, name: str) -> Micros:
        """An ISO 8601 time."""
        try:
            return parse_iso(self.text(name, 64), name)
        except InvalidInput as exc:
            raise self.wrong(name, "must be an ISO 8601 time", exc) from exc

    def maybe_time(self, name: str) -> Micros | None:
        """The same, or None."""
        return None if self._data.get(name) is None else self.time(name)

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number between `low` and `high`."""
        value = self._data.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(name, f"must be a whole number between {low} and {high}")
        return value

    def number(self, name: str, low: float, high: float) -> float:
        """A number between `low` and `high`."""
        value = self._data.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(name, f"must be a number between {low:g} and {high:g}")
        return float(value)

    def name(self, name: str) -> str:
        """A text that is not blank, of at most the bytes of an id."""
        value = self.text(name, self.limits.id_bytes)
        if not value.strip():
            raise self.wrong(name, "must not be empty")
        return value

    def one_of(self, name: str, choices: Sequence[str | None]) -> Any:
        """One of `choices`."""
        value = self._data.get(name)
        if not (value is None or isinstance(value, str)) or value not in choices:
            raise self.wrong(name, f"must be one of {', '.join(map(str, choices))}")
        return value

    def items(self, name: str, most: int) -> list[Any]:
        """A list of at most `most` members."""
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) > most:
            raise self.wrong(name, f"must be a list of at most {most} members")
        return value

    def tags(self, name: str) -> tuple[str, ...]:
        """Tags, sorted and unique."""
        found = self.items(name, self.limits.tags * 4)
        if not all(isinstance(tag, str) for tag in found):
            raise self.wrong(name, "must be a list of texts")
        return tuple(sorted({self._checked(name, tag, self.limits.tag_bytes) for tag in found}))

    def object(self, name: str, most: int = _MAX_JSON) -> dict[str, Any]:
        """An object of at most `most` bytes as JSON whose texts can be stored."""
        value = self._data.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "must be an object")
        self._plain(name, value, most)
        return value

    def plain(self, name: str, most: int = _MAX_JSON) -> Any:
        """Any JSON value of at most `most` bytes whose texts can be stored."""
        value = self._data.get(name)
        self._plain(name, value, most)
        return value

    def texts(self, name: str) -> dict[str, str]:
        """Metadata: an object whose values are texts."""
        value = self.object(name, self.limits.metadata_bytes)
        if not all(isinstance(item, str) for item in value.values()):
            raise self.wrong(name, "must be an object of texts")
        return value

    def nested(self, name: str, most: int) -> list[Fields]:
        """A list of objects."""
        members = self.items(name, most)
        if not all(isinstance(member, dict) for member in members):
            raise self.wrong(name, "must be a list of objects")
        return [_Nested(f"{self._where}: {name}", member, self.limits) for member in members]

    def _checked(self, name: str, value: str, most: int) -> str:
        try:
            return check_id(value, name, max_bytes=most)
        except BadRequest as exc:
            raise self.wrong(name, exc.message.removeprefix(f"{name} "), exc) from exc

    def _plain(self, name: str, value: Any, most: int) -> None:
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > most:
            raise self.wrong(name, f"must be at most {most} bytes as JSON")
        if not storable(text) or "\\u0000" in text:
            raise self.wrong(name, "must not contain NUL or lone surrogates")


class _Nested(Fields):
    def __init__(self, where: str, data: Mapping[str, Any], limits: Limits) -> None:
        super().__init__("", 0, data, limits)
        self._where = where


def storable(text: str) -> bool:
    """Whether a text has a UTF-8 form and no NUL."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
