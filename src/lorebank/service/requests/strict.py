"""The ground of the requests of agent tools: names in camelCase, and nothing that the tool does not know.

No tool takes a store, agent, path or scope (statement 1.1.12): like every unknown name they are refused, not
passed over.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.queries import Query


class StrictModel(RequestModel):
    """A request value of a tool. Fields are `snake_case` here and `camelCase` on the wire."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)
    keys_once: ClassVar[bool] = True


class StrictQuery(Query):
    """Query parameters, and nothing that the operation does not know."""

    model_config = ConfigDict(extra="forbid")
