"""Row ids in addresses, and the format of every error."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.base.answers import ApiModel, example

#: A row id in an address; larger ones would not fit into the database column.
RowId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ErrorDetail(ApiModel):
    """An error. code: a stable word for scripts; message: a sentence for people; details: data that depends on the
    code.
    """

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ErrorBody(ApiModel):
    """The body of every response with status 400 or above."""

    model_config = example(
        {"error": {"code": "not_found", "message": "There is no competition 'idiom' on this server.", "details": {}}}
    )

    error: ErrorDetail
