"""Who changes assignments or looks at them: a name for the journal, and the agents within the role."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lorebank.errors import BadRequest, Forbidden, InvalidInput
from lorebank.ids import check_agent_id


@dataclass(frozen=True, slots=True)
class Operator:
    """`may(agent)`: within the role, which a deny may narrow. `everything`: the role is not of named agents;
    only such an operator sees stores that are nobody's."""

    by: str
    may: Callable[[str], bool]
    everything: bool = False

    def check(self, agents: Iterable[str]) -> None:
        """`Forbidden` when one is outside, with the same sentence whether or not it exists."""
        for agent in agents:
            if not self.may(agent):
                raise Forbidden(f"you may not do this for the agent '{agent}'")

    def sees(self, agents: Iterable[str]) -> bool:
        """Whether a store that these agents use may be shown."""
        using = tuple(agents)
        return any(self.may(agent) for agent in using) if using else self.everything


def check_agent(value: str, field: str = "agent") -> str:
    """`value` in NFC when it can be an agent's id; `InvalidInput` otherwise."""
    try:
        return check_agent_id(value, field)
    except BadRequest as exc:
        raise InvalidInput(exc.message, cause=exc) from exc
