"""What the forms of pages have in common: a browser sends text, and nothing at all for a box that is not ticked."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

#: A box: whatever it says when it is ticked.
Ticked = Annotated[bool, BeforeValidator(bool)]


class PageForm(BaseModel):
    """Root: what was typed, shown again where it was wrong. What is not declared is overlooked, as the CSRF field."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)
