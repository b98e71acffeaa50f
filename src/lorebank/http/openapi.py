"""The API description at /openapi.json, made from the bindings and the request models themselves."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import orjson
from pydantic.json_schema import models_json_schema
from starlette.types import Receive, Scope, Send

from lorebank import __version__
from lorebank.http.answers import Answer, compressed, takes_gzip
from lorebank.http.binding import Binding
from lorebank.http.exchange import KEY
from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.retain import FileRetainOptions

_PARAMETER = re.compile(r"\{(\w+)\}")
_REFERENCES = "#/components/schemas/{model}"


class Description:
    """An ASGI application that answers with the description; made when first asked for."""

    def __init__(self, bindings: tuple[Binding, ...]) -> None:
        self._bindings = bindings

    @cached_property
    def body(self) -> bytes:
        """The description as JSON."""
        return orjson.dumps(describe(self._bindings))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the description; it needs no key, since it holds nothing of any bank."""
        scope[KEY].template = "/openapi.json"
        whole = Answer(200, [(b"content-type", b"application/json")], self.body)
        answer = compressed(whole, takes_gzip(scope["headers"]))
        await send({"type": "http.response.start", "status": 200, "headers": list(answer.headers)})
        await send({"type": "http.response.body", "body": answer.body})


def describe(bindings: tuple[Binding, ...]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of these bindings."""
    models: set[type[RequestModel]] = {one.body for one in bindings if one.body is not None}
    models |= {FileRetainOptions, _attach_request()}
    ordered = sorted(models, key=lambda model: model.__name__)
    references, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template=_REFERENCES
    )
    by_model = {model: reference for (model, _), reference in references.items()}
    paths: dict[str, dict[str, Any]] = {}
    for one in bindings:
        paths.setdefault(one.shown_path, {})[one.method.lower()] = _operation(one, by_model)
    return {
        "openapi": "3.1.0",
        "info": {"title": "lorebank", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}],
    }


def _attach_request() -> type[RequestModel]:
    """The model of the part `request` of an attached file; loaded when the description is asked for."""
    from lorebank.service.requests.knowledge_read import AttachFileRequest

    return AttachFileRequest


def _operation(one: Binding, references: dict[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": one.operation_id,
        "parameters": [*_path_parameters(one.shown_path), *_query_parameters(one)],
        "responses": {
            str(one.status): {"description": "the answer"},
            "422": {"description": "invalid input"},
        },
    }
    if one.tags:
        made["tags"] = list(one.tags)
    if one.body is not None:
        content = {"application/json": {"schema": references[one.body]}}
        made["requestBody"] = {"required": not one.body.may_be_absent, "content": content}
    elif one.form is not None:
        made["requestBody"] = {
            "required": True,
            "content": {"multipart/form-data": {"schema": _form(one.form)}},
        }
    return made


def _form(kind: str) -> dict[str, Any]:
    file = {"type": "string", "format": "binary"}
    if kind == "archive":
        return {"type": "object", "required": ["file"], "properties": {"file": file}}
    if kind == "attachment":
        said = {"type": "string", "description": f"JSON of {_attach_request().__name__}"}
        both = {"file": file, "request": said}
        return {"type": "object", "required": ["file", "request"], "properties": both}
    text = {"type": "string", "description": f"JSON of {FileRetainOptions.__name__}"}
    return {
        "type": "object",
        "required": ["files"],
        "properties": {"files": {"type": "array", "items": file}, "request": text},
    }


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(path)
    ]


def _query_parameters(one: Binding) -> list[dict[str, Any]]:
    schema = one.query.model_json_schema()
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": value}
        for name, value in schema.get("properties", {}).items()
    ]
