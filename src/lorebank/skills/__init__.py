"""Skills: texts that agents follow. They ship with the package; `lorebank vault skill` prints them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

UNLINKED_CLAIMS: Final = "knowledge-unlinked-claims"
NAMES: Final = (UNLINKED_CLAIMS,)


def skill_text(name: str = UNLINKED_CLAIMS) -> str:
    """The Markdown of a skill, with its frontmatter. `KeyError` for a name that is not in `NAMES`."""
    if name not in NAMES:
        raise KeyError(name)
    return files(__name__).joinpath(name, "SKILL.md").read_text("utf-8")
