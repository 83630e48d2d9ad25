"""Cached settings of workers: parsing them would take longer than everything a run does with them."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TypeVar, cast

from pydantic_settings import BaseSettings

from app.base.config import read_settings

Kind = TypeVar("Kind", bound=BaseSettings)


def settings_of(kind: type[Kind]) -> Kind:
    """Return settings of this kind as currently set in the environment. Raises InvalidSettings."""
    prefix = kind.model_config["env_prefix"]
    values = tuple(os.environ.get(f"{prefix}{name}".upper()) for name in kind.model_fields)
    return cast(Kind, _read(kind, values))


@lru_cache(maxsize=16)
def _read(kind: type[BaseSettings], values: tuple[str | None, ...]) -> BaseSettings:
    return read_settings(kind)
