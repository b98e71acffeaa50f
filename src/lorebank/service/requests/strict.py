"""The ground of the requests of agent tools: names in camelCase, and nothing that the tool does not know.

No tool takes a store, agent, path or scope (statement 1.1.12): like every unknown name they are refused, not
passed over.
"""

from __future__ import annotations

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from lorebank.service.requests.base import RequestModel


class StrictModel(RequestModel):
    """A request value of a tool. Fields are `snake_case` here and `camelCase` on the wire."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)
