"""Cached settings of workers: parsing them takes longer than all uses of them in a run."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TypeVar, cast

from app.base.environment import EnvironmentSettings

Kind = TypeVar("Kind", bound=EnvironmentSettings)


def settings_of(kind: type[Kind]) -> Kind:
    """Return these settings as currently set in the environment."""
    said = tuple(os.environ.get(f"{kind.prefix_of_variables}{name}".upper()) for name in kind.model_fields)
    return cast(Kind, _read(kind, said))


@lru_cache(maxsize=16)
def _read(kind: type[EnvironmentSettings], said: tuple[str | None, ...]) -> EnvironmentSettings:
    return kind()
