"""Environments of programs: a Python and pinned packages, built beforehand and read-only; this module finds them.

Each is in EVERGOLD_ENVIRONMENTS_DIR under a digest of its pins, its Python and the platform:

- `environment.json`: its parts, see `Built`;
- `venv`: visible in sandboxes as `/opt/environment`;
- `base`: a copy of its Python, if that is outside of /usr; sandboxes see it at its original path.

One subfolder maps requirements to the environment built for them. `workers.sandbox.building` builds environments.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.base.config import get_settings
from evergold.scoring.program.options import DEFAULT
from workers.sandbox.settings import sandbox_settings
from workers.sandbox.terms import SandboxUnavailable
from workers.settings import settings_of

DOCUMENT = "environment.json"
REQUIREMENTS = "requirements.txt"
ASKED = "declared"
#: The packages of a program that declares none, pinned for each Python version by markers.
DEFAULT_PINS = Path(__file__).resolve().parents[1] / "data" / "environment.txt"
HOW, HOW_ALL = "`evergold environments build`", "`evergold environments build --all`"
#: The folder of environments if root runs the worker, because the user of sandboxes cannot enter root's data folder.
ROOTS_FOLDER = Path("/var/lib/evergold-environments")
_NAMED = 3


class EnvironmentSettings(BaseSettings):
    """The location of the environments, for workers and for the commands that build them."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_ENVIRONMENTS_", env_ignore_empty=True)

    organisers: Literal["anybody", "approved", "admins"] = Field(
        "approved",
        description=(
            "competitions for which `environments build` builds: all; those that only organisers approved with "
            "`evergold account approve` may edit; or only administrators'"
        ),
    )
    dir: Path | None = Field(
        None, description="folder of environments; empty: `environments` in the data folder, for root ROOTS_FOLDER"
    )


@dataclass(frozen=True, slots=True)
class DeclaredEnvironment:
    """The environment that a task declares: lines of a requirements file, and a Python (`3.7`; "": the one in /usr)."""

    requirements: tuple[str, ...]
    python: str = ""

    @property
    def digest(self) -> str:
        """A digest of the declaration itself, not of what is built from it; comments and blanks do not count."""
        return hashlib.sha256(json.dumps([self.lines, self.python]).encode()).hexdigest()

    @property
    def lines(self) -> list[str]:
        """The requirements, sorted, without comments and blanks."""
        stripped = (line.partition(" #")[0].strip() for line in self.requirements)
        return sorted({line for line in stripped if line and not line.startswith("#")})

    @property
    def short_name(self) -> str:
        """The Python and the first packages, in one line for messages."""
        lines = self.lines
        more = f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
        python = f"Python {self.python or 'of /usr'}"
        return f"{python} with {', '.join(lines[:_NAMED]) or 'no packages'}{more}"


@dataclass(frozen=True, slots=True)
class Built:
    """The parts of an environment.

    python: such as `cpython-3.7.16`. base: original path of the copied Python; "" for one below /usr, whose changes are
    detected by executable and stamp.
    """

    digest: str
    python: str
    platform: str
    pins: str
    base: str
    executable: str
    stamp: str


def environments_folder() -> Path:
    """Return the folder with all environments."""
    usual = ROOTS_FOLDER if os.geteuid() == 0 else get_settings().data_dir / "environments"
    return (settings_of(EnvironmentSettings).dir or usual).resolve()


def default_environment() -> DeclaredEnvironment:
    """Return the environment of a program that declares none."""
    return DeclaredEnvironment(tuple(DEFAULT_PINS.read_text(encoding="utf-8").splitlines()))


def declared_environment(
    program: Path | None, environment: Sequence[str] | None, python: str | None
) -> DeclaredEnvironment:
    """Return the environment that a task declares, or that of its program's requirements.txt, or the default.

    program: its folder; None if the task declares an environment. environment: as declared.
    """
    lines = None if environment is None or tuple(environment) == DEFAULT else tuple(environment)
    if environment is None and program is not None:
        with suppress(OSError, UnicodeDecodeError):
            lines = tuple((program / REQUIREMENTS).read_text(encoding="utf-8").splitlines())
    return DeclaredEnvironment(default_environment().requirements if lines is None else lines, python or "")


def default_environment_folder() -> Path:
    """Return the folder of the default environment. Raises SandboxUnavailable if it is not built here."""
    return find_environment(default_environment())


def find_environment(wanted: DeclaredEnvironment) -> Path:
    """Return the folder built for these requirements; its name is the digest used in signatures.

    Raises SandboxUnavailable if there is none on this machine.
    """
    folder = environments_folder()
    try:
        digest = (folder / ASKED / wanted.digest).read_text(encoding="utf-8").strip()
    except OSError:
        if wanted == default_environment():
            raise SandboxUnavailable(f"the default environment is not built here: {HOW}") from None
        raise SandboxUnavailable(
            f"the environment of this program is not built here ({wanted.short_name}): {HOW_ALL}"
        ) from None
    found = folder / digest
    read_environment(found)
    return found


def read_environment(folder: Path) -> Built:
    """Return the parts of this environment. Raises SandboxUnavailable if the folder is not an environment, or can no
    longer be used.
    """
    path = folder / DOCUMENT
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        raise SandboxUnavailable(f"{folder} is not an environment: {HOW}") from None
    built = _read(path, changed)
    if not built.base and stamp_of(built.executable) != built.stamp:
        raise SandboxUnavailable(f"{built.executable} has changed since the environment {folder.name} was built: {HOW}")
    return built


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Built:
    return Built(**json.loads(path.read_text(encoding="utf-8")))


def list_environments() -> list[Built]:
    """Return all environments built on this machine, by digest."""
    folders = sorted(path.parent for path in environments_folder().glob(f"*/{DOCUMENT}"))
    return [read_environment(folder) for folder in folders]


def stamp_of(executable: str) -> str:
    """Return a text that changes when another version of this file is installed; "" if there is none."""
    try:
        found = Path(executable).stat()
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"


def unreachable_part(path: Path) -> Path | None:
    """Return the first folder on this path that the user of sandboxes cannot enter; None if there is none.

    Access control lists (ACLs) are not checked.
    """
    uid = sandbox_settings().uid if os.geteuid() == 0 else os.geteuid()
    for part in (*reversed(path.resolve().parents), path):
        if not _enters(uid, part.stat()):
            return part
    return None


def _enters(uid: int, found: os.stat_result) -> bool:
    if found.st_uid == uid:
        return bool(found.st_mode & stat.S_IXUSR)
    is_in_group = uid == os.geteuid() and found.st_gid in (os.getegid(), *os.getgroups())
    return bool(found.st_mode & (stat.S_IXGRP if is_in_group else stat.S_IXOTH))
