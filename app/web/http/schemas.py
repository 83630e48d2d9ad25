"""The base class of all API models, and the few types they share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

#: ISO 8601 in UTC.
Moment = Annotated[AwareDatetime, Field(examples=["2026-01-10T12:00:00Z"])]
#: A row id in an address; larger ones would not fit into the database column.
RowId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ApiModel(BaseModel):
    """Root: nothing that is not declared goes in or out."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def example(document: dict[str, Any]) -> ConfigDict:
    """Return a model configuration with an example for the API pages."""
    return ConfigDict(json_schema_extra={"examples": [document]})


class Named(ApiModel):
    """Something with a name (in addresses) and a title (for people)."""

    name: str
    title: str


class ErrorDetail(ApiModel):
    """code: a stable word for scripts; message: a sentence for people; details: what belongs to this code."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ErrorBody(ApiModel):
    """The body of every response with status 400 or above."""

    model_config = example(
        {"error": {"code": "not_found", "message": "There is no competition 'idiom' on this server.", "details": {}}}
    )

    error: ErrorDetail
