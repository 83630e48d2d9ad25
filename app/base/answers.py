"""The base classes of the API's requests and responses, and a few types that they share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

#: ISO 8601 in UTC.
Moment = Annotated[AwareDatetime, Field(examples=["2026-01-10T12:00:00Z"])]


class ApiModel(BaseModel):
    """Base of all API models: undeclared fields are neither accepted nor returned."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Mirror(ApiModel):
    """Base of responses that are created from an object with the same fields."""

    model_config = ConfigDict(from_attributes=True)


def example(document: dict[str, Any]) -> ConfigDict:
    """Return a model configuration with an example for the API pages."""
    return ConfigDict(json_schema_extra={"examples": [document]})


class Named(Mirror):
    """Something with a name (in addresses) and a title (for people)."""

    name: str
    title: str
