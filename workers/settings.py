"""Settings of workers alone, read once: reading them takes longer than all that a run asks them for."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TypeVar, cast

from app.base.environment import EnvironmentSettings

Kind = TypeVar("Kind", bound=EnvironmentSettings)


def settings_of(kind: type[Kind]) -> Kind:
    """These settings, as the environment has them now."""
    said = tuple(os.environ.get(f"{kind.prefix_of_variables}{name}".upper()) for name in kind.model_fields)
    return cast(Kind, _read(kind, said))


@lru_cache(maxsize=16)
def _read(kind: type[EnvironmentSettings], said: tuple[str | None, ...]) -> EnvironmentSettings:
    return kind()
