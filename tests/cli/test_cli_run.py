"""Command lines that need no server: usage, profiles, settings, and how they end."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lorebank import __version__
from lorebank.cli import base
from lorebank.cli.app import COMMANDS, run
from lorebank.cli.failures import DENIED, FAILED, INVALID, MISSING, OK, UNAVAILABLE, from_response
from lorebank.cli.hooks import AsgiApp
from lorebank.cli.program import program
from lorebank.cli.wire import Address
from lorebank.config import Settings, load
from lorebank.errors import Conflict, Forbidden, LorebankError, NotFound, Unavailable


class Recorder:
    """Hooks with the real settings, that note what is asked of them and do no more."""

    def __init__(self) -> None:
        self.served: Settings | None = None
        self.error: LorebankError = NotFound("there is no root key yet")

    def load_settings(self, flags: Mapping[str, Any], profile: Path | None) -> Settings:
        return load(flags, None, profile)

    def serve(self, settings: Settings, *, as_json: bool) -> int:
        self.served = settings
        return 0

    def server(self, settings: Settings) -> Address | None:
        return None

    @contextmanager
    def open_app(self, settings: Settings, *, owner: bool) -> Iterator[tuple[AsgiApp, str]]:
        raise self.error
        yield

    def root_key(self, settings: Settings) -> str:
        raise self.error

    def restore(self, source: Path, data_dir: Path) -> Mapping[str, object]:
        raise self.error


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for name in ("LOREBANK_PROFILE", "LOREBANK_URL", "LOREBANK_API_KEY", "LOREBANK_BANK", "LOREBANK_PORT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help_that_fits_80_columns(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Recorder(), [*command.split(), "--help"]) == OK
    out = capsys.readouterr().out
    assert "Options of every command" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_no_command_shows_the_help_and_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Recorder(), []) == INVALID
    assert "Usage: lorebank" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv",
    [
        ["bogus"],
        ["recall"],
        ["recall", "q"],
        ["retain", "x", "--bank", "b", "--metadata", "no-value"],
        ["retain", "x", "--bank", "b", "--file", "y"],
        ["retain", "", "--bank", "b"],
        ["retain", "--bank", "b", "--file", "not-there.txt"],
        ["recall", "q", "--bank", "b", "--from", "2026-01-01"],
        ["recall", "q", "--bank", "b", "--tag", "t", "--tag-groups", "[]"],
        ["recall", "q", "--bank", "b", "--tag-groups", "[oops"],
        ["memory", "edit", "id", "--bank", "b"],
        ["bank", "clone", "a", "a"],
        ["status", "-p", "nope"],
        ["status", "-p", "../etc"],
        ["status", "--url", "nonsense"],
        ["serve", "--port", "99999"],
        ["serve", "--set", "bogus=1"],
        ["restore", "not-there"],
        ["backup", "relative", "--url", "http://127.0.0.1:1"],
    ],
)
def test_wrong_usage_is_told_on_stderr_and_ends_with_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Recorder(), argv) == INVALID
    plain = capsys.readouterr()
    assert plain.out == ""
    assert plain.err.startswith("lorebank: ")
    assert run(Recorder(), [*argv, "--json"]) == INVALID
    told = capsys.readouterr()
    assert told.out == ""
    error = json.loads(told.err)["error"]
    assert error["code"] in ("usage", "invalid_input")
    assert error["message"]


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (NotFound("no such thing"), MISSING),
        (Forbidden("bank:read denied"), DENIED),
        (Unavailable("the disk is full"), UNAVAILABLE),
        (LorebankError("a bug\x1b[2J"), FAILED),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: LorebankError, exit_code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = Recorder()
    hooks.error = error
    assert run(hooks, ["bank", "list", "--json"]) == exit_code
    told = json.loads(capsys.readouterr().err)["error"]
    assert told == {"code": error.code, "message": error.message}
    assert "\x1b" not in told["message"]


def test_a_data_directory_in_use_is_waited_for_and_then_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(base, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(base, "BUSY_PAUSE", 0.01)
    hooks = Recorder()
    hooks.error = Conflict("the data directory is in use")
    assert run(hooks, ["bank", "list"]) == FAILED
    assert "in use" in capsys.readouterr().err


def test_nobody_at_the_url_is_unavailable(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Recorder(), ["bank", "list", "--url", "http://127.0.0.1:1", "--json"]) == UNAVAILABLE
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "unavailable"


def test_options_before_and_after_the_command_are_the_same(tmp_path: Path) -> None:
    for argv in (["--data-dir", str(tmp_path / "d"), "serve"], ["serve", "--data-dir", str(tmp_path / "d")]):
        hooks = Recorder()
        assert run(hooks, argv) == OK
        assert hooks.served is not None and hooks.served.data_dir == tmp_path / "d"


def test_a_flag_beats_the_environment_which_beats_the_profile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(Recorder(), ["configure", "-p", "work", "--port", "9001"]) == OK
    hooks = Recorder()
    assert run(hooks, ["-p", "work", "serve"]) == OK
    assert hooks.served is not None and hooks.served.port == 9001
    monkeypatch.setenv("LOREBANK_PORT", "9002")
    assert run(hooks, ["-p", "work", "serve"]) == OK and hooks.served.port == 9002
    assert run(hooks, ["-p", "work", "serve", "--port", "9003"]) == OK and hooks.served.port == 9003
    assert run(hooks, ["serve", "--set", "job_workers=7"]) == OK and hooks.served.job_workers == 7


def test_configure_writes_a_private_profile_and_never_shows_the_key(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-very-secret\n"))
    argv = ["configure", "-p", "work", "--port", "9000", "--data-dir", "d", "--llm-provider", "openai",
            "--llm-base-url", "http://127.0.0.1:1/v1", "--llm-model", "m", "--llm-api-key", "-"]  # fmt: skip
    assert run(Recorder(), [*argv, "--json"]) == OK
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    written = Path(answer["file"])
    assert written == home / "config" / "lorebank" / "profiles" / "work.toml"
    assert written.stat().st_mode & 0o777 == 0o600
    assert tomllib.loads(written.read_text()) == {
        "port": 9000,
        "data_dir": str(Path.cwd() / "d"),
        "llm_provider": "openai",
        "llm_base_url": "http://127.0.0.1:1/v1",
        "llm_model": "m",
        "llm_api_key": "sk-very-secret",
    }
    assert "sk-very-secret" not in captured.out + captured.err
    assert run(Recorder(), argv) == FAILED
    assert "--force" in capsys.readouterr().err
    assert run(Recorder(), [*argv[:3], "--force"]) == OK
    assert "llm_provider" not in tomllib.loads(written.read_text())


def test_configure_asks_on_a_terminal_and_says_that_no_model_is_needed(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("9100\n~/mem\nnone\n"))
    assert run(Recorder(), ["configure"]) == OK
    captured = capsys.readouterr()
    assert "Reasoning release" in captured.err
    assert "lorebank serve" in captured.out
    path = home / "config" / "lorebank" / "profiles" / "default.toml"
    assert tomllib.loads(path.read_text()) == {"port": 9100, "data_dir": "~/mem"}
    hooks = Recorder()
    assert run(hooks, ["serve"]) == OK
    assert hooks.served is not None and hooks.served.data_dir == home / "mem"


def test_deletion_asks_first(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert run(Recorder(), ["bank", "delete", "x\x1b[2J"]) == 130
    captured = capsys.readouterr()
    assert "Delete the bank 'x\\x1b[2J'" in captured.err
    assert captured.out == ""


def test_a_deletion_that_nobody_can_confirm_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Recorder(), ["bank", "delete", "x"]) == INVALID
    assert "--yes" in capsys.readouterr().err


def test_the_version_is_an_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Recorder(), ["--version"]) == OK
    assert capsys.readouterr().out == f"lorebank {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["recal", "x"], "Did you mean 'recall'?"),
        (["recall", "x"], "set LOREBANK_BANK; 'lorebank bank list'"),
        (["serve", "--port", "70000"], "70000 is not in the range 0<=x<=65535"),
        (["serve", "--url", "http://127.0.0.1:1"], "--host and --port instead of --url"),
    ],
)
def test_wrong_usage_says_what_to_do_next(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Recorder(), argv) == INVALID
    assert told in capsys.readouterr().err


def test_a_missing_bank_is_told_with_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = Recorder()
    hooks.error = NotFound("Bank 'hom' not found")
    assert run(hooks, ["recall", "-b", "hom", "x"]) == MISSING
    assert "'lorebank bank list' shows the banks" in capsys.readouterr().err
    assert run(hooks, ["recall", "-b", "hom", "x", "--json"]) == MISSING
    assert json.loads(capsys.readouterr().err)["error"]["message"] == "Bank 'hom' not found"


def test_a_directory_that_is_served_already_is_not_served_again(capsys: pytest.CaptureFixture[str]) -> None:
    class Served(Recorder):
        def server(self, settings: Settings) -> Address | None:
            return Address("http://127.0.0.1:8888")

    hooks = Served()
    assert run(hooks, ["serve"]) == FAILED
    assert hooks.served is None
    assert "http://127.0.0.1:8888 serves this data directory already" in capsys.readouterr().err


def test_a_refused_field_keeps_its_name_when_it_is_called_like_its_place() -> None:
    error = from_response(422, {"detail": [{"loc": ["body", "query"], "msg": "must not be empty"}]})
    assert error.message == "query: must not be empty"


def test_the_program_is_named_as_the_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    script = folder / "lorebank"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [str(script), "serve"])
    assert program() == ".venv/bin/lorebank"
    monkeypatch.setenv("PATH", str(folder))
    assert program() == "lorebank"
    monkeypatch.setattr("sys.argv", ["/somewhere/pytest"])
    assert program() == "lorebank"
