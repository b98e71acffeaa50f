"""One route: a method and a path that run an operation of the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.queries import Nothing, Query

BANK = "/v1/default/banks/{bank_id}"
Form = Literal["files", "archive", "attachment"]
_PARAMETER = re.compile(r"\{(?:policy_(?=bank_id))?(\w+)(?::path)?\}")
BankOf = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Late:
    """A request model that is loaded when it is needed first: `module` is one of `service.requests`."""

    module: str
    name: str

    def load(self) -> Any:
        """The model."""
        return getattr(import_module(f"lorebank.service.requests.{self.module}"), self.name)


@dataclass(frozen=True, slots=True)
class Binding:
    """What `bind` was told; `form` is the kind of a multipart body.

    `bank_of` finds the bank in the other parameters where the path has no `bank_id`. `tags` and
    `operation_id` are for the API description; the latter is the operation's name unless it is given.
    A binding with status 204 answers without a body.
    """

    method: str
    path: str
    operation: str
    model: type[RequestModel] | Late | None = None
    parameters: type[Query] | Late = Nothing
    status: int = 200
    form: Form | None = None
    bank_of: BankOf | None = None
    tags: tuple[str, ...] = ()
    operation_id: str = ""

    @property
    def body(self) -> type[RequestModel] | None:
        """The model of a JSON body."""
        return self.model.load() if isinstance(self.model, Late) else self.model

    @property
    def query(self) -> type[Query]:
        """The model of the query parameters."""
        return self.parameters.load() if isinstance(self.parameters, Late) else self.parameters

    @property
    def shown_path(self) -> str:
        """The path as the API description has it. A bank that is only spoken of, and not opened, is
        `policy_bank_id` here and `bank_id` there."""
        return _PARAMETER.sub(r"{\1}", self.path)


def bind(
    method: str,
    path: str,
    operation: str,
    *,
    body: type[RequestModel] | Late | None = None,
    query: type[Query] | Late = Nothing,
    status: int = 200,
    form: Form | None = None,
    bank_of: BankOf | None = None,
    tags: tuple[str, ...] = (),
    operation_id: str | None = None,
) -> Binding:
    """A binding; `~` at the start of `path` stands for the path of a bank."""
    full = BANK + path[1:] if path.startswith("~") else path
    return Binding(
        method, full, operation, body, query, status, form, bank_of, tags, operation_id or operation
    )
