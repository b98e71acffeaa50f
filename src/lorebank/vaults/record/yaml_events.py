"""Frontmatter from YAML, by events: every check is made before a value is built, and every value knows its
line. This is the complete reader; `canonical.py` reads the form that lorebank writes itself, faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

from lorebank.vaults.record.core_schema import CORE_TAGS, resolved, tagged
from lorebank.vaults.record.frame import Broken, Where
from lorebank.vaults.record.values import MAX_NESTING

# YAML 1.2 takes these for ordinary characters; the parser would take them for line breaks (YAML 1.1).
_NO_BREAKS: Final = "\x85\u2028\u2029"
_PRIVATE: Final = range(0xE000, 0xF8FF)


@dataclass(frozen=True, slots=True)
class KeySpan:
    """Where a top-level key and its value stand: offsets of the key, of the end of its last content, and
    of the key's own end."""

    start: int
    key_end: int
    end: int


@dataclass(slots=True)
class Loaded:
    """A mapping with the offset of every value (of its key where it has one) and the spans of its keys."""

    value: dict[str, Any]
    offsets: dict[Where, int] = field(default_factory=dict)
    spans: dict[str, KeySpan] = field(default_factory=dict)
    flow: bool = False


def load(text: str) -> Loaded:
    """The mapping in `text`, one YAML document.

    `Broken` (its `line` is the offset into `text`; the caller knows the lines) for anything that is no
    mapping, aliases, tags beyond the core schema, duplicate keys, nesting over 20, or broken YAML.
    """
    swap = _stand_ins(text)
    builder = _Builder(text, {ord(stand_in): original for original, stand_in in swap.items()})
    safe = text.translate({ord(original): stand_in for original, stand_in in swap.items()})
    try:
        return builder.document(YAML(typ="safe", pure=True).parse(safe))
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        raise Broken(
            getattr(mark, "index", 0) if mark else 0, "yaml.syntax", f"broken YAML: {exc.problem or exc}"
        ) from exc
    except ReaderError as exc:
        raise Broken(exc.position, "yaml.character", "a character that YAML does not allow here") from exc
    except (YAMLError, ValueError, OverflowError) as exc:
        raise Broken(0, "yaml.syntax", "broken YAML") from exc


def _stand_ins(text: str) -> dict[str, str]:
    """For each such character in the text one that is not in it, escaped or not."""
    found = [char for char in _NO_BREAKS if char in text]
    if not found:
        return {}
    folded = text.casefold()
    free = (chr(code) for code in _PRIVATE if chr(code) not in text and f"{code:04x}" not in folded)
    return {char: next(free) for char in found}


class _Builder:
    """Turns events into values. One use."""

    def __init__(self, text: str, back: dict[int, str]) -> None:
        self.text = text
        self.back = back
        self.offsets: dict[Where, int] = {}
        self.content_end = 0

    def document(self, events: Iterator[Event]) -> Loaded:
        """Read the stream up to its end."""
        for event in events:
            if isinstance(event, StreamEndEvent):
                raise Broken(0, "frontmatter.empty", "the frontmatter is empty; a record says format, id, …")
            if isinstance(event, MappingStartEvent):
                break
            if isinstance(event, (ScalarEvent, SequenceStartEvent, AliasEvent)):
                raise Broken(_at(event), "frontmatter.mapping", "the frontmatter must be 'key: value' lines")
        self._guard(event, 1)
        loaded = Loaded({}, self.offsets, flow=bool(getattr(event, "flow_style", False)))
        self._mapping(events, loaded.value, (), 1, loaded.spans)
        self._nothing_more(events)
        return loaded

    def _nothing_more(self, events: Iterator[Event]) -> None:
        for event in events:
            if not isinstance(event, (DocumentEndEvent, StreamEndEvent)):
                raise Broken(_at(event), "yaml.documents", "only one YAML document may stand here")

    def _mapping(
        self,
        events: Iterator[Event],
        into: dict[str, Any],
        where: Where,
        depth: int,
        spans: dict[str, KeySpan] | None,
    ) -> None:
        for event in events:
            if isinstance(event, MappingEndEvent):
                if event.end_mark.index > event.start_mark.index:
                    self.content_end = event.end_mark.index
                return
            key = self._key(event)
            if key in into:
                raise Broken(_at(event), "yaml.duplicate_key", f"the key {key!r} is there twice; keep one")
            start, key_end = event.start_mark.index, event.end_mark.index
            self.offsets[(*where, key)] = start
            self.content_end = key_end
            into[key] = self._value(next(events), events, (*where, key), depth)
            if spans is not None:
                spans[key] = KeySpan(start, key_end, self.content_end)

    def _key(self, event: Event) -> str:
        if not isinstance(event, ScalarEvent):
            self._guard(event, 1)
            raise Broken(_at(event), "yaml.key", "a key must be text")
        self._guard(event, 1)
        return self._text(event)

    def _value(self, event: Event, events: Iterator[Event], where: Where, depth: int) -> Any:
        if isinstance(event, ScalarEvent):
            self._guard(event, depth)
            return self._scalar(event)
        self._guard(event, depth + 1)
        if isinstance(event, MappingStartEvent):
            mapping: dict[str, Any] = {}
            self._mapping(events, mapping, where, depth + 1, None)
            return mapping
        return self._list(events, where, depth + 1)

    def _list(self, events: Iterator[Event], where: Where, depth: int) -> list[Any]:
        items: list[Any] = []
        for event in events:
            if isinstance(event, SequenceEndEvent):
                if event.end_mark.index > event.start_mark.index:
                    self.content_end = event.end_mark.index
                return items
            here = (*where, len(items))
            self.offsets[here] = event.start_mark.index
            items.append(self._value(event, events, here, depth))
        return items

    def _guard(self, event: Event, depth: int) -> None:
        if isinstance(event, AliasEvent):
            raise Broken(_at(event), "yaml.alias", "aliases (*name) are not allowed; write the value out")
        if depth > MAX_NESTING:
            raise Broken(_at(event), "yaml.nesting", f"nested deeper than {MAX_NESTING} levels")
        tag = getattr(event, "tag", None)
        if tag is not None and str(tag) not in CORE_TAGS and str(tag) != "!":
            raise Broken(_at(event), "yaml.tag", "tags beyond YAML's core schema are not allowed; remove it")

    def _scalar(self, event: ScalarEvent) -> Any:
        if event.end_mark.index > event.start_mark.index:
            self.content_end = event.end_mark.index
        text = self._text(event)
        tag = None if event.tag is None else str(event.tag)
        if tag is None:
            return resolved(text) if event.implicit[0] else text
        if tag == "!":
            return text
        try:
            return tagged(tag, text)
        except (ValueError, KeyError) as exc:
            raise Broken(_at(event), "yaml.tag", "the value does not have the type of its tag") from exc

    def _text(self, event: ScalarEvent) -> str:
        text: str = event.value.translate(self.back) if self.back else event.value
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as exc:
            raise Broken(_at(event), "yaml.character", "half of a surrogate pair is no character") from exc
        return text


def _at(event: Event) -> int:
    index: int = event.start_mark.index
    return index
