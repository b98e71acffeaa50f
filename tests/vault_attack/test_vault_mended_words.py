"""What is said of closed stores and of strange names: one line, and not every time."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from lorebank.errors import Corrupt, StoreUnavailable, Unavailable, one_line
from lorebank.http.exchange import Exchange
from lorebank.http.logs import Seldom, log_cause
from lorebank.storage.sqlite.files import plain_text
from lorebank.vaults.find.browse import said
from lorebank.vaults.reasons import DAMAGED
from vault_store.store_world import put, save, world

NAME = "line\nbreak\x1b[31m.md"


def test_strange_names_are_told_in_one_line(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        put(stores.private(), f"people/{NAME}", b"x")
        with handle.reading() as view:
            (found,) = said(view)["findings"]
        assert found["path"] == "people/line\\nbreak\ufffd[31m.md"
        assert found["message"].startswith("line\\nbreak\ufffd[31m.md has control characters")
        (told,) = stores.vaults.check_store(handle.vault, read_all=False)
        assert told.startswith("private/people/line\\nbreak\ufffd[31m.md: ")


def test_names_that_people_write_stay_as_they_are() -> None:
    for name in ("Ada Holm.md", "9.41\u202fPM.png", "می\u200cشود.md", "日\u3000本.md"):
        assert one_line(name) == name
    assert one_line("a\u202eb\ud800\r\u2028") == "a\ufffdb\ufffd\ufffd\ufffd"


def refusal(reason: str) -> StoreUnavailable:
    try:
        raise ValueError("secret words of a record")
    except ValueError as exc:
        return StoreUnavailable(reason, "the store is\nclosed", cause=exc)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(one.levelname, one.getMessage()) for one in caplog.records]


def test_a_closed_store_is_one_warning_a_second(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lorebank.http.logs._refusals", Seldom(1_000.0))
    for operation in ("knowledge_get", "knowledge_get", "knowledge_search"):
        for reason in ("busy", DAMAGED):
            exchange = Exchange("42", "POST", operation=operation)
            log_cause(exchange, refusal(reason), debug=False)
    found = lines(caplog)
    assert len(found) == 4 and {level for level, _ in found} == {"WARNING"}
    assert found[1][1] == (
        "request 42 refused: knowledge_get: damaged: the store is\\nclosed <- builtins.ValueError"
    )


def test_it_is_told_again_when_the_time_has_passed() -> None:
    seldom = Seldom(1.0)
    moments = [0.0, 0.5, 0.99, 1.0, 1.5, 2.0]
    assert [seldom.due(("a", "b"), now) for now in moments] == [True, False, False, True, False, True]
    assert seldom.due(("a", "c"), 2.0)


def test_what_has_no_named_reason_keeps_its_stack(caplog: pytest.LogCaptureFixture) -> None:
    errors = (Corrupt("it contradicts itself"), Unavailable("the disk"), ValueError("secret words"))
    for error in errors:
        try:
            raise error
        except Exception as exc:
            log_cause(Exchange("42", "POST", operation="knowledge_get"), exc, debug=False)
    found = lines(caplog)
    assert [level for level, _ in found] == ["ERROR"] * 3
    assert all("test_vault_mended_words.py" in text for _, text in found)
    assert "secret" not in caplog.text and logging.getLogger("lorebank.http").name


def test_a_pipe_in_place_of_a_text_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "root.key")
    with pytest.raises(Unavailable, match="is no plain file"):
        plain_text(tmp_path / "root.key")
    assert plain_text(tmp_path / "missing") is None
    (tmp_path / "text").write_text("ä\n")
    assert plain_text(tmp_path / "text") == "ä\n"
