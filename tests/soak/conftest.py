"""The soak tests use the servers of the system tests, and write down what they did."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))
