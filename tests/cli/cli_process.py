"""The command line as a user runs it: real processes on a data directory and a home of their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lorebank.bootstrap.hooks import ProcessHooks
from lorebank.cli.app import run

START = "import sys; from lorebank.bootstrap import main; sys.exit(main())"
SOURCE = Path(__file__).parents[2] / "src"
RUN_SECONDS = 120


@dataclass(frozen=True)
class Lorebank:
    """Runs commands on one data directory, with a home of its own."""

    home: Path
    spawn: bool = True
    embedder: str = "local"

    @property
    def data_dir(self) -> Path:
        return self.home / "data"

    def environment(self, **extra: str) -> dict[str, str]:
        """A clean environment of our own; an empty value in `extra` leaves a variable out."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOREBANK_")}
        ours = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "PYTHONPATH": str(SOURCE),
            "LOREBANK_DATA_DIR": str(self.data_dir),
            "LOREBANK_MODEL_THREADS": "1",
            "LOREBANK_EMBEDDER": self.embedder,
        }
        return {name: value for name, value in (kept | ours | extra).items() if value}

    def start(self, *argv: str, **extra: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", START, *argv],
            env=self.environment(**extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
        )

    def run(self, *argv: str, stdin: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end: in a process of its own, or as the same call in this one."""
        environment = self.environment(**extra)
        if not self.spawn:
            return _call(argv, environment, stdin)
        return subprocess.run(
            [sys.executable, "-c", START, *argv],
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            cwd=self.home,
            check=False,
        )

    def ok(self, *argv: str, **how: Any) -> str:
        """What a command that must succeed prints."""
        done = self.run(*argv, **how)
        assert done.returncode == 0, (argv, done.stdout, done.stderr)
        return done.stdout

    def json(self, *argv: str, **how: Any) -> Any:
        """The JSON of a command that must succeed."""
        return json.loads(self.ok(*argv, "--json", **how))

    def fails(self, *argv: str, code: int, **how: Any) -> dict[str, str]:
        """The error of a command that must end with `code`."""
        done = self.run(*argv, "--json", **how)
        assert done.returncode == code, (argv, done.stdout, done.stderr)
        assert done.stdout == ""
        error: dict[str, str] = json.loads(done.stderr.splitlines()[-1])["error"]
        return error


def _call(argv: tuple[str, ...], environment: dict[str, str], stdin: str) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        patch.dict(os.environ, environment, clear=True),
        patch("sys.stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run(ProcessHooks(), argv)
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())
