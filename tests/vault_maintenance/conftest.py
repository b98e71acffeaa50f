"""These tests run on the vault in memory of `tests/vault_kit`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
