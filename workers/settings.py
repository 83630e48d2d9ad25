"""Settings of workers alone, read once: reading them takes longer than all that a run asks them for."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TypeVar, cast

from pydantic_settings import BaseSettings

Kind = TypeVar("Kind", bound=BaseSettings)


def settings_of(kind: type[Kind]) -> Kind:
    """These settings, as the environment has them now."""
    prefix = kind.model_config.get("env_prefix", "")
    said = tuple(os.environ.get(f"{prefix}{name}".upper()) for name in kind.model_fields)
    return cast(Kind, _read(kind, said))


@lru_cache(maxsize=16)
def _read(kind: type[BaseSettings], said: tuple[str | None, ...]) -> BaseSettings:
    return kind()
