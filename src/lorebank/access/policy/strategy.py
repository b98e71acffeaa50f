"""The retain strategy: the principal's, else the conversation's, else the bank's.

Source: seed 001, Strategy resolution.
"""

from __future__ import annotations

from lorebank.access.policy.context import best_override
from lorebank.access.policy.values import BankPolicy, Parameters
from lorebank.access.principal import Circumstances


def strategy_for(
    parameters: Parameters, policy: BankPolicy | None, circumstances: Circumstances
) -> str | None:
    """The strategy to retain with; None: whatever the server does without one."""
    if parameters.retain_strategy is not None or policy is None:
        return parameters.retain_strategy
    found = best_override(policy.strategy_overrides, circumstances)
    return policy.default_strategy if found is None else found[1].strategy
