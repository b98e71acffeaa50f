"""Made-up office facts and questions, the same for every run: what the benchmark retains and asks."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

_FIRST = ("Ada", "Bruno", "Carmen", "Dilek", "Esther", "Fumi", "Goran", "Helmi")
_LAST = ("Abara", "Brandt", "Costa", "Demir", "Eklund")
_DID = ("shipped", "inspected", "postponed", "relabelled", "measured", "described", "moved", "signed off")
_WHAT = (
    "payroll export",
    "warehouse scanner",
    "welcome mail",
    "access report",
    "price import",
    "tablet app",
    "image cache",
    "request throttle",
    "delivery note",
    "nightly copy",
)
_WHERE = ("Porto", "Sapporo", "Kampala", "Cusco", "Bodo", "Launceston", "Nantes", "Tucson")
_WHY = ("the budget", "slow answers", "a client's wish", "a new rule")
_START = datetime(2025, 9, 1, tzinfo=UTC)


def fact(number: int) -> dict[str, Any]:
    """Item `number`: about 35 tokens, two tags, ten minutes after the one before."""
    pick = random.Random(f"fact {number}")
    person = f"{pick.choice(_FIRST)} {pick.choice(_LAST)}"
    text = (
        f"{person} {pick.choice(_DID)} the {pick.choice(_WHAT)} in {pick.choice(_WHERE)} under number "
        f"{1000 + number}, because of {pick.choice(_WHY)}, and told the others about it afterwards."
    )
    when = (_START + timedelta(minutes=10 * number)).isoformat()
    return {"content": text, "tags": [f"user:{number % 10}", f"team:{number % 3}"], "timestamp": when}


def question(number: int) -> str:
    """Question `number`, in one of three forms."""
    pick = random.Random(f"question {number}")
    person = f"{pick.choice(_FIRST)} {pick.choice(_LAST)}"
    forms = (
        f"Who {pick.choice(_DID)} the {pick.choice(_WHAT)}?",
        f"What was done in {pick.choice(_WHERE)}?",
        f"What did {person} do with the {pick.choice(_WHAT)}?",
    )
    return pick.choice(forms)
