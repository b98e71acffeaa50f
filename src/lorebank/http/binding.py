"""One route: a method and a path that run an operation of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.queries import Nothing, Query

BANK = "/v1/default/banks/{bank_id}"
Form = Literal["files", "archive"]
BankOf = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Binding:
    """What `bind` was told; `body` is the model of a JSON body, `form` the kind of a multipart one.

    `bank_of` finds the bank in the other parameters where the path has no `bank_id`.
    """

    method: str
    path: str
    operation: str
    body: type[RequestModel] | None = None
    query: type[Query] = Nothing
    status: int = 200
    form: Form | None = None
    bank_of: BankOf | None = None


def bind(
    method: str,
    path: str,
    operation: str,
    *,
    body: type[RequestModel] | None = None,
    query: type[Query] = Nothing,
    status: int = 200,
    form: Form | None = None,
    bank_of: BankOf | None = None,
) -> Binding:
    """A binding; `~` at the start of `path` stands for the path of a bank."""
    full = BANK + path[1:] if path.startswith("~") else path
    return Binding(method, full, operation, body, query, status, form, bank_of)
