"""The API's description, as FastAPI derives it, less what is not true here: its own shape of validation errors."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from app.web.http.errors import error_responses


def upload_body(of: str, /, fields: Mapping[str, Mapping[str, Any]] | None = None, **example: Any) -> dict[str, Any]:
    """What a route's description says (`openapi_extra`) about a file that it reads from the request itself.

    of: the file, in words; fields: the schemas of what may come with it; example: a value of each that an example has.
    """
    described = {"file": {"type": "string", "format": "binary", "description": of}, **(fields or {})}
    schema = {"type": "object", "required": ["file"], "properties": described}
    return {
        "requestBody": {
            "required": True,
            "content": {"multipart/form-data": {"schema": schema, "example": example}},
        }
    }


def serve_description(app: FastAPI) -> None:
    """The description at /openapi.json: made for the first who asks, while others are served, and kept as it is sent.
    As objects it would take more memory, and be written anew for each."""
    turn = Lock()
    kept: list[bytes] = []

    def read_description(_: Request) -> Response:
        with turn:
            if not kept:
                kept.append(bytes(JSONResponse(app.openapi()).body))
                app.openapi_schema = None
        return Response(kept[0], media_type="application/json")

    app.add_route("/openapi.json", read_description, include_in_schema=False)


_NOT_OURS = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        for template, path in document["paths"].items():
            for method, operation in path.items():
                _correct_errors(operation["responses"])
                if operation.get("security"):  # a token may lack the scope
                    _add_error(operation["responses"], 403)
                if "{competition}" in template and method not in ("get", "head"):  # it may be archived
                    _add_error(operation["responses"], 409)
                if "requestBody" in operation:  # the limit of `app.web.http.bodies`
                    _add_error(operation["responses"], 413)
        for name in _NOT_OURS:
            document["components"]["schemas"].pop(name, None)
    return app.openapi_schema or {}


def _add_error(responses: dict[str, Any], status: int) -> None:
    if str(status) not in responses:
        described = error_responses(status)[status]["description"]
        schema = {"$ref": "#/components/schemas/ErrorBody"}
        responses[str(status)] = {"description": described, "content": {"application/json": {"schema": schema}}}


def _correct_errors(responses: dict[str, Any]) -> None:
    """Errors are JSON, of whatever type the answer of a success is."""
    if _NOT_OURS[0] in str(responses.get("422")):
        del responses["422"]
    for status, answer in responses.items():
        if status >= "400":
            [content] = answer["content"].values()
            answer["content"] = {"application/json": content}
