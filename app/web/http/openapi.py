"""The API description as FastAPI derives it, without FastAPI's own format of validation errors, which we do not use."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from app.web.http.errors import error_responses


def upload_body(of: str, /, fields: Mapping[str, Mapping[str, Any]] | None = None, **example: Any) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that reads a file from the request itself.

    of: description of the file; fields: schemas of the fields allowed with it; example: example values of these fields.
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
    """Serve the description at /openapi.json.

    It is generated on the first request, in a thread, and cached as bytes: as objects it would take more memory, and
    would have to be serialised for each request.
    """
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
    """Return the OpenAPI document, generated once."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        for template, path in document["paths"].items():
            for method, operation in path.items():
                _correct_errors(operation["responses"])
                if operation.get("security"):  # a token may lack the scope
                    _add_error(operation["responses"], 403)
                if "{competition}" in template and method not in ("get", "head"):  # the competition may be archived
                    _add_error(operation["responses"], 409)
                if "requestBody" in operation:  # the limit of `app.web.http.arrival`
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
    """Make all errors JSON, whatever the content type of a successful response is."""
    if _NOT_OURS[0] in str(responses.get("422")):
        del responses["422"]
    for status, answer in responses.items():
        if status >= "400":
            [content] = answer["content"].values()
            answer["content"] = {"application/json": content}
