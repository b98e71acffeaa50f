"""These tests run on the vault in memory of `tests/vault_kit`, and on real stores of `tests/vault_store`."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS), str(_TESTS / "vault_store")]
