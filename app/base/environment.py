"""Settings from environment variables: pydantic models whose fields are read by name, ignoring case."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class EnvironmentSettings(BaseModel):
    """Settings from the environment, overridden by explicit arguments; variables of other models are ignored.

    ignore_empty: treat empty variables as unset.
    """

    model_config = ConfigDict(extra="ignore", validate_default=True)

    prefix_of_variables: ClassVar[str]
    ignore_empty: ClassVar[bool] = False

    def __init__(self, **values: Any) -> None:
        super().__init__(**self._from_environment() | values)

    @classmethod
    def _from_environment(cls) -> dict[str, str]:
        variables = {name.lower(): value for name, value in os.environ.items()}
        named = {field: variables.get(f"{cls.prefix_of_variables}{field}".lower()) for field in cls.model_fields}
        return {field: value for field, value in named.items() if value or (value == "" and not cls.ignore_empty)}
