"""Which override of a bank policy fits the conversation: topic beats channel beats provider (issue 3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from lorebank.access.policy.values import ContextScope
from lorebank.access.principal import Circumstances

_CLOSENESS: dict[ContextScope, int] = {"topic": 3, "channel": 2, "provider": 1}


class Override(Protocol):
    """What both kinds of override have."""

    @property
    def scope(self) -> ContextScope:
        """The claim that is compared."""

    @property
    def value(self) -> str:
        """What the claim must be."""


_Override = TypeVar("_Override", bound=Override)


def best_override(
    overrides: Iterable[_Override], circumstances: Circumstances
) -> tuple[int, _Override] | None:
    """The override that decides, with its place in the list; None when none fits. Among equals the
    first listed wins. A claim that is absent fits nothing."""
    fitting = [
        (index, one) for index, one in enumerate(overrides) if getattr(circumstances, one.scope) == one.value
    ]
    return max(fitting, key=lambda found: (_CLOSENESS[found[1].scope], -found[0]), default=None)
