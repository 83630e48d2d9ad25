"""The API's description, as FastAPI derives it, less what is not true here: its own shape of validation errors."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

_NOT_OURS = ("HTTPValidationError", "ValidationError")


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        for operation in (operation for path in document["paths"].values() for operation in path.values()):
            if _NOT_OURS[0] in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
        for name in _NOT_OURS:
            document["components"]["schemas"].pop(name, None)
    return app.openapi_schema or {}
