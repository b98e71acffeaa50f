"""Every limit on what a caller may send, in one place: name, default, range and meaning.

Each is a setting `LOREBANK_LIMIT_<NAME>`; the error for exceeding one names the field.
"""

from __future__ import annotations

from dataclasses import dataclass, field


def limit(default: int, low: int, high: int, meaning: str) -> int:
    """A dataclass field that carries its allowed range and meaning for settings and docs."""
    value: int = field(default=default, metadata={"low": low, "high": high, "doc": meaning})
    return value


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force. All counts are inclusive maxima."""

    body_bytes: int = limit(32 * 2**20, 2**10, 2**30, "bytes of a JSON request body")
    content_chars: int = limit(1_000_000, 100, 50_000_000, "characters of one item's content")
    items: int = limit(1_000, 1, 100_000, "items of one retain request")
    tags: int = limit(64, 1, 10_000, "tags of one item, document or filter leaf")
    tag_bytes: int = limit(256, 8, 4_096, "bytes of UTF-8 of one tag")
    id_bytes: int = limit(4_096, 16, 65_536, "bytes of UTF-8 of a bank, document or entity id")
    context_chars: int = limit(10_000, 10, 1_000_000, "characters of an item's context")
    metadata_entries: int = limit(64, 1, 10_000, "entries of an item's metadata")
    metadata_bytes: int = limit(16_384, 64, 1_048_576, "bytes of an item's metadata as JSON")
    entities: int = limit(100, 1, 10_000, "entities given with one item")
    query_chars: int = limit(100_000, 100, 10_000_000, "characters of a recall query before it is cut")
    query_tokens: int = limit(500, 10, 8_000, "tokens of a recall query that are searched; more are cut off")
    page_size: int = limit(1_000, 10, 100_000, "rows of one page of a listing")
    offset: int = limit(10_000_000, 1_000, 2**53, "rows that a listing may skip")
    max_tokens: int = limit(200_000, 256, 10_000_000, "max_tokens of a recall and of its parts")
    json_depth: int = limit(64, 8, 500, "nesting depth of a JSON body")
    tag_group_depth: int = limit(16, 1, 64, "nesting depth of tag_groups")
    tag_group_nodes: int = limit(200, 1, 10_000, "nodes of tag_groups")
    files: int = limit(10, 1, 1_000, "files of one upload")
    file_bytes: int = limit(100 * 2**20, 2**10, 2**32, "bytes of all files of one upload")
    attachment_bytes: int = limit(2**40, 2**10, 2**50, "bytes of one file that a knowledge store keeps")
    config_bytes: int = limit(262_144, 1_024, 16 * 2**20, "bytes of a bank's configuration as JSON")
    name_chars: int = limit(1_000, 10, 100_000, "characters of a bank's name")
    mission_chars: int = limit(50_000, 10, 1_000_000, "characters of a mission text")
