"""The soak tests use servers and stores of other tests, and write down what they did."""

from __future__ import annotations

import sys
from pathlib import Path

for room in ("system", "vault_publish"):
    sys.path.insert(0, str(Path(__file__).parents[1] / room))
