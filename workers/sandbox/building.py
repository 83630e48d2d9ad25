"""Builds environments: pins requirements, installs them together with a Python, and makes everything read-only.

This runs code from a registry (packages may build themselves) with the rights of the caller: an operator runs it, for
organisers approved by the server's owner; the web process and workers never do.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from workers.sandbox.bubblewrap import usr_python
from workers.sandbox.environments import (
    ASKED,
    DOCUMENT,
    Built,
    DeclaredEnvironment,
    environments_folder,
    stamp_of,
    unreachable_part,
)
from workers.sandbox.settings import sandbox_settings
from workers.sandbox.terms import SandboxUnavailable

#: Parts of a Python's own library that no program needs at run time.
_LEFT_OUT = ("site-packages", "dist-packages", "test", "tests", "idle_test", "*.a", "idlelib", "turtledemo")
_ASK = """
import json, os, platform, sys, sysconfig
print(json.dumps([
    platform.python_implementation().lower() + "-" + platform.python_version(),
    sysconfig.get_platform(),
    getattr(sys, "base_prefix", sys.prefix),
    os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
]))
"""


class CannotBuild(Exception):
    """The environment cannot be built; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python of this machine."""

    name: str
    platform: str
    prefix: Path
    executable: Path

    @property
    def is_below_usr(self) -> bool:
        """True if sandboxes see this Python at its own path."""
        return self.executable.is_relative_to("/usr")

    @property
    def is_python_2(self) -> bool:
        """True if it is Python 2, which uv and virtual environments do not support."""
        return "-2." in self.name


def build_environment(wanted: DeclaredEnvironment, *, renew: bool = False) -> Path:
    """Build the environment unless it exists; return its folder. Raises CannotBuild.

    renew: resolve versions again; earlier builds are kept for the scores that name them.
    """
    folder = environments_folder()
    pointer = folder / ASKED / wanted.digest
    if pointer.is_file() and not renew and (found := folder / pointer.read_text().strip()).is_dir():
        return found
    interpreter = find_interpreter(wanted.python)
    _make_public(folder / ASKED)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as name:
        work = Path(name)
        pins = _install(wanted, interpreter, work)
        built = _describe(interpreter, pins)
        (work / DOCUMENT).write_text(json.dumps(asdict(built), indent=1) + "\n", encoding="utf-8")
        _make_read_only(work)
        target = folder / built.digest
        if not target.exists():
            work.rename(target)
            work.mkdir()  # the end of the block expects the folder and removes it
    part = pointer.with_suffix(".part")
    part.write_text(built.digest + "\n", encoding="utf-8")
    part.chmod(0o644)
    part.replace(pointer)
    return target


def find_interpreter(version: str) -> Interpreter:
    """Return the Python of this version (`3.7`) or at this path; "": the one in /usr. Raises CannotBuild."""
    try:
        path = usr_python(sandbox_settings().python) if not version else shutil.which(_command_of(version))
    except SandboxUnavailable as error:
        raise CannotBuild(str(error)) from None
    if path is None:
        raise CannotBuild(f"there is no Python {version} here: install one, so that `{_command_of(version)}` is found")
    answer = _call([path, "-c", _ASK])
    name, platform, prefix, executable = json.loads(answer)
    return Interpreter(name, platform, Path(prefix).resolve(), Path(executable))


def _command_of(version: str) -> str:
    return version if "/" in version else f"python{version}"


def _install(wanted: DeclaredEnvironment, interpreter: Interpreter, work: Path) -> str:
    """Install into `venv`, and copy a Python that sandboxes do not see into `base`; return the pins."""
    if not interpreter.is_below_usr:
        _copy_python(interpreter, work / "base")
    if interpreter.is_python_2:
        return _install_by_pip(wanted, interpreter, work)
    given = work / "asked.txt"
    given.write_text("\n".join(wanted.lines) + "\n", encoding="utf-8")
    pins, venv = work / "pins.txt", work / "venv"
    python = str(interpreter.executable)
    uv = _uv()
    quiet = ("--quiet", "--no-config", "--no-cache", "--no-progress")  # no home is needed
    _call([*uv, "pip", "compile", *quiet, "--python", python, "--no-header", "--no-annotate", "--generate-hashes",
           "--output-file", str(pins), str(given)])  # fmt: skip
    _call([*uv, "venv", *quiet, "--relocatable", "--no-project", "--python", python, str(venv)])
    _call([*uv, "pip", "sync", *quiet, "--allow-empty-requirements", "--link-mode", "copy",
           "--compile-bytecode", "--python", str(venv / "bin" / "python"), str(pins)])  # fmt: skip
    given.unlink()
    return pins.read_text(encoding="utf-8")


def _install_by_pip(wanted: DeclaredEnvironment, interpreter: Interpreter, work: Path) -> str:
    """Install for Python 2.7, with its pip, into a copy of it; `venv` has only links to the copy. Return the pins."""
    if interpreter.is_below_usr:
        raise CannotBuild(f"{interpreter.name} below /usr cannot be used: install it elsewhere, as pyenv does")
    [library] = (work / "base" / "lib").glob("python2.*")
    packages = library / "site-packages"
    packages.mkdir(exist_ok=True)
    pip = [str(interpreter.executable), "-m", "pip", "--disable-pip-version-check"]
    if wanted.lines:
        given = work / "asked.txt"
        given.write_text("\n".join(wanted.lines) + "\n", encoding="utf-8")
        _call([*pip, "install", "--quiet", "--no-cache-dir", "--target", str(packages), "--requirement", str(given)])
        given.unlink()
    found = sorted(path.name.rpartition(".")[0] for path in packages.glob("*-info"))
    pins = "".join(f"{'=='.join(name.split('-')[:2])}\n" for name in found)
    (work / "pins.txt").write_text(pins, encoding="utf-8")
    links = work / "venv" / "bin"
    links.mkdir(parents=True)
    for name in ("python", "python2", "python2.7"):
        (links / name).symlink_to(interpreter.executable)
    return pins


def _copy_python(interpreter: Interpreter, into: Path) -> None:
    """Copy a Python without packages and tests, because its owners may remove or change it later."""
    ignore = shutil.ignore_patterns(*_LEFT_OUT)
    for name in ("bin", "lib", "lib64"):
        source = interpreter.prefix / name
        if source.is_symlink():
            into.mkdir(exist_ok=True)
            (into / name).symlink_to(os.readlink(source))
        elif source.is_dir():
            shutil.copytree(source, into / name, symlinks=True, ignore=ignore)


def _describe(interpreter: Interpreter, pins: str) -> Built:
    digest = hashlib.sha256("\0".join([identity_of(pins), interpreter.name, interpreter.platform]).encode()).hexdigest()
    return Built(
        digest=digest,
        python=interpreter.name,
        platform=interpreter.platform,
        pins=pins,
        base="" if interpreter.is_below_usr else str(interpreter.prefix),
        executable=str(interpreter.executable),
        stamp=stamp_of(str(interpreter.executable)),
    )


def identity_of(pins: str) -> str:
    """Return the pinned packages with versions but without hashes of files, because a registry may add files.

    A package with an address instead of a version keeps its hashes.
    """
    whole = (line.strip() for line in pins.replace("\\\n", " ").splitlines())
    named = [line for line in whole if line and not line.startswith("#")]
    return "\n".join(sorted(line.partition(" --hash=")[0].strip() if "==" in line else line for line in named))


def _make_public(folder: Path) -> None:
    """Create this folder so that the user of sandboxes can enter it. Raises CannotBuild if that is impossible."""
    for part in (folder.parent, folder):
        part.mkdir(parents=True, exist_ok=True)
        part.chmod(0o755)
    if (closed := unreachable_part(folder)) is not None:
        raise CannotBuild(
            f"the user of sandboxes ({sandbox_settings().uid}) may not enter {closed}: set EVERGOLD_ENVIRONMENTS_DIR "
            "to a folder that everybody can read, such as /var/lib/evergold-environments"
        )


def _make_read_only(folder: Path) -> None:
    for name, _, files in os.walk(folder):
        for path in (Path(name), *(Path(name, file) for file in files)):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o555 if path.stat().st_mode & 0o100 else 0o444)


def _uv() -> list[str]:
    """Return the command to run uv. Raises CannotBuild."""
    if find_spec("uv") is not None:
        return [sys.executable, "-m", "uv"]
    found = shutil.which("uv")
    if found is None:
        raise CannotBuild("uv is not installed here: pip install uv")
    return [found]


def _call(command: list[str]) -> str:
    """Run a command and return its output. Raises CannotBuild with the end of its error output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    if done.returncode:
        raise CannotBuild(f"{Path(command[0]).name} failed:\n{(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout
