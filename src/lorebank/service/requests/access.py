"""Parameters of lorebank's own operations on access: explanations, and the list of keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from lorebank.service.requests.fields import Id, wrong
from lorebank.service.requests.queries import OptionalId, Query

Claim = OptionalId


class ExplainQuery(Query):
    """Who would do what where, and what his token would say. Exactly one of the first three."""

    user_id: OptionalId = None
    sa_id: OptionalId = None
    sender: OptionalId = None
    bank: Id
    action: Annotated[str, Field(max_length=200)] = "bank:recall"
    provider: Claim = None
    channel: Claim = None
    topic: Claim = None
    agent: Claim = None

    @model_validator(mode="after")
    def _one_subject(self) -> ExplainQuery:
        if sum(one is not None for one in (self.user_id, self.sa_id, self.sender)) != 1:
            raise wrong("say exactly one of user_id, sa_id and sender", "one_of")
        return self


class AccessKeysQuery(Query):
    """Whose keys to list; everybody's when none is named."""

    user: OptionalId = None
    service_account: OptionalId = None
