"""Base of all page forms: browsers send text, and nothing at all for a checkbox that is not ticked."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

#: A checkbox: any value means ticked.
Ticked = Annotated[bool, BeforeValidator(bool)]


class PageForm(BaseModel):
    """Root: what was typed, shown again where it was wrong. What is not declared is overlooked, as the CSRF field."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)
