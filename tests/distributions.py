"""Our distributions and made-up ones, built without network into folders, and environments made of them."""

from __future__ import annotations

import email
import importlib.metadata
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Collection, Iterable
from pathlib import Path

from packaging.requirements import Requirement

from tests.processes import REPOSITORY

_LEFTOVERS = shutil.ignore_patterns("__pycache__", "build", "dist", "*.egg-info")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-deps", "--no-index")


def build_wheel(project: Path, folder: Path, stale: Iterable[str] = ()) -> Path:
    """Build the wheel of a project from a copy, because building leaves files behind.

    stale: modules left there from the build of an earlier version.
    """
    copy = folder / "source" / project.name
    shutil.copytree(project, copy, ignore=_LEFTOVERS)
    _leave(copy, stale)
    return build_here(copy, folder)


def _leave(project: Path, stale: Iterable[str]) -> None:
    for name in stale:
        left = project / "build" / "lib" / name
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_text("STALE = True\n")


def build_here(project: Path, folder: Path) -> Path:
    """Build the wheel of a project in its own folder."""
    _run(*PIP, "wheel", *OFFLINE, "--no-build-isolation", "--wheel-dir", folder, project)
    [wheel] = folder.glob("*.whl")
    return wheel


def build_server_wheel(folder: Path, stale: Iterable[str] = ()) -> Path:
    """Build the server's wheel from only those parts of the checkout that it needs. stale: as for `build_wheel`."""
    _copy_server(folder / "server")
    _leave(folder / "server", stale)
    return build_here(folder / "server", folder)


def _copy_server(folder: Path) -> None:
    """Copy the files of which both distributions are made."""
    folder.mkdir()
    names = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "app", "docs", "evergold", "migrations", "workers")
    for name in names:
        source, copy = REPOSITORY / name, folder / name
        if source.is_dir():
            shutil.copytree(source, copy, ignore=_LEFTOVERS)
        else:
            shutil.copyfile(source, copy)


def install_into(folder: Path, *wheels: Path) -> None:
    """Unpack wheels into a folder for sys.path, as pip does."""
    _run(*PIP, "install", *OFFLINE, "--target", folder, *wheels)


def make_environment(folder: Path, *wheels: Path, extras: Collection[str] = ()) -> Path:
    """Create an environment with these wheels and their declared requirements, and nothing else of ours; return its
    Python.

    The requirements are linked from the environment of the tests. extras: those that are installed, too.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    _run(*PIP, "--python", python, "install", *OFFLINE, *wheels)
    [site] = (folder / "lib").glob("python*/site-packages")
    ours = {wheel.name.partition("-")[0].replace("_", "-") for wheel in wheels}
    needed = {name for wheel in wheels for name in _requirements(wheel, extras)}
    for distribution in _needed_by(needed - ours):
        for entry in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / entry).exists():
                (site / entry).symlink_to(distribution.locate_file(entry))  # type: ignore[arg-type]  # a real path
    return python


def _requirements(wheel: Path, extras: Collection[str]) -> set[str]:
    """Return the requirements of a wheel with these extras, which may include other extras."""
    [metadata] = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    message = email.message_from_bytes(zipfile.ZipFile(wheel).read(metadata))
    found, wanted = list[Requirement](), {"", *extras}
    while True:
        found = _those_of(message.get_all("Requires-Dist") or (), wanted)
        more = {extra for one in found if one.name == message["Name"] for extra in one.extras}
        if more <= wanted:
            return {one.name for one in found}
        wanted |= more


def _those_of(lines: Iterable[str], extras: Collection[str]) -> list[Requirement]:
    requirements = [Requirement(line) for line in lines]
    return [
        one for one in requirements if not one.marker or any(one.marker.evaluate({"extra": extra}) for extra in extras)
    ]


def _needed_by(names: set[str]) -> list[importlib.metadata.Distribution]:
    """Return these distributions, and all that they need."""
    found: dict[str, importlib.metadata.Distribution] = {}
    while names:
        distribution = importlib.metadata.distribution(names.pop())
        if distribution.name not in found:
            found[distribution.name] = distribution
            names |= {one.name for one in _those_of(distribution.requires or (), {""})}
    return list(found.values())


def _run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
