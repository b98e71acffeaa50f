"""A rare word in every form in which its bytes can lie in a file."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

_TAIL = "Ÿžλ雪"


def canary(name: str) -> tuple[str, str]:
    """Two rare words for a test's place: a plain one, and one whose letters need more than ASCII."""
    return f"qanary{name}xzv", f"øqanåry{name}{_TAIL}"


def forms(words: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """(what it is, bytes): UTF-8, UTF-16 in both orders, JSON-escaped and percent-encoded, in any case."""
    for word in words:
        for cased in {word, word.lower(), word.upper(), word.casefold()}:
            yield f"{cased} in UTF-8", cased.encode()
            yield f"{cased} in UTF-16LE", cased.encode("utf-16-le")
            yield f"{cased} in UTF-16BE", cased.encode("utf-16-be")
            escaped = json.dumps(cased)[1:-1]
            yield f"{cased} in JSON", escaped.encode()
            yield f"{cased} in JSON, capital digits", _capital_digits(escaped).encode()
            yield f"{cased} in a URL", quote(cased).encode()


def _capital_digits(escaped: str) -> str:
    parts = escaped.split("\\u")
    return parts[0] + "".join("\\u" + part[:4].upper() + part[4:] for part in parts[1:])


def found_in(data: bytes, words: Iterable[str]) -> list[str]:
    """The forms of the words that are in the bytes, and in the parts of a zip archive."""
    found = sorted({what for what, form in forms(words) if form in data})
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for part in archive.namelist():
                found += [f"{what} (in {part})" for what in found_in(archive.read(part), words)]
    return found


def left_in(folders: Iterable[Path], words: Iterable[str]) -> list[str]:
    """Where under the folders a word is still found, in names and in contents.

    The audit log is looked at by `named_by_audit`: it keeps the ids of what was there.
    """
    wanted = list(words)
    told = []
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                if name.startswith("audit.sqlite"):
                    continue
                file = Path(path, name)
                try:
                    data = file.read_bytes() + b"\0" + name.encode()
                except FileNotFoundError:
                    continue
                told += [f"{file.relative_to(folder)}: {what}" for what in found_in(data, wanted)]
    return told


def named_by_audit(data_dir: Path, words: Iterable[str]) -> set[str]:
    """The fields of audit rows in which a word stands, and where else in the file it is found."""
    wanted, told = list(words), set()
    with closing(sqlite3.connect(f"file:{data_dir / 'audit.sqlite'}?mode=ro", uri=True)) as db:
        for (text,) in db.execute("SELECT event FROM events"):
            event = json.loads(text)
            told |= {name for name, value in event.items() if found_in(json.dumps(value).encode(), wanted)}
            told |= {name for name, value in event.items() if found_in(repr(value).encode(), wanted)}
    return told


def damaged(archive: bytes) -> bytes:
    """The archive with another text in it than its manifest promises; it can be read but not verified."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for part in old.infolist():
            data = old.read(part)
            changed = data.replace(b'"text"', b'"t3xt"', 1) if part.filename == "memories.jsonl" else data
            new.writestr(part, changed)
    return out.getvalue()
