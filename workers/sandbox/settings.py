"""Settings of the sandbox (`EVERGOLD_SANDBOX_…`), read only by workers: ceilings for all tasks, and this machine's
tools.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from workers.sandbox.terms import MEBIBYTE, Limits
from workers.settings import settings_of


class SandboxSettings(BaseSettings):
    """The ceilings for the limits of all tasks, and the tools of this machine."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_SANDBOX_", env_ignore_empty=True)

    uid: int = Field(65534, gt=0, description="user and group as which a worker run by root starts programs")
    backend: Literal["", "bubblewrap", "none"] = Field(
        "", description="sandbox for programs without an image: bubblewrap, none; empty: bubblewrap if it works"
    )
    containers: Literal["", "docker", "podman", "none"] = Field(
        "none", description="runtime for programs with an image: docker, podman, none; empty: the one that answers"
    )
    cgroups: bool = Field(
        False, description="whether the worker's cgroup is delegated to it, so that each run gets one below it"
    )
    python: str = Field("", description="Python in /usr that starts programs; empty: the one that is found")
    dir: Path | None = Field(
        None, description="folder in which a worker run by root puts copies of gold for a run; empty: /dev/shm"
    )
    seconds: float = Field(3600, gt=0, description="largest limit that a task may set, as for those below")
    processor_seconds: float = Field(3600, gt=0)
    memory_mebibytes: int = Field(8192, gt=0, description="memory of all processes of a run together")
    processes: int = Field(256, gt=0, description="processes and threads of a run together")
    files: int = Field(1024, gt=15, description="number of open files of each process")
    written_mebibytes: int = Field(2048, gt=0)

    @property
    def ceiling(self) -> Limits:
        """The highest limits that a task may have."""
        return Limits(
            seconds=self.seconds,
            processor_seconds=self.processor_seconds,
            memory=self.memory_mebibytes * MEBIBYTE,
            processes=self.processes,
            files=self.files,
            written=self.written_mebibytes * MEBIBYTE,
        )


def sandbox_settings() -> SandboxSettings:
    """Return the current settings."""
    return settings_of(SandboxSettings)


def within_ceiling(limits: Limits) -> Limits:
    """Return the limits, capped at the ceiling of this server."""
    ceiling = sandbox_settings().ceiling
    return Limits(**{one.name: min(getattr(limits, one.name), getattr(ceiling, one.name)) for one in fields(Limits)})
