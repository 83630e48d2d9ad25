"""The one shape of every error."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from app.api.base import ApiModel, example


class ErrorDetail(ApiModel):
    """code: a stable word for scripts; message: a sentence for people; details: what belongs to this code."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ErrorBody(ApiModel):
    """What comes with every status of 400 and above."""

    model_config = example(
        {"error": {"code": "not_found", "message": "There is no competition 'idiom' on this server.", "details": {}}}
    )

    error: ErrorDetail
