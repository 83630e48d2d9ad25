"""The environment that a bundle's program needs: its imports, and the packages in its container image.

An image is never opened here, so an environment chosen by its name is a guess, and marked as one in IMPORT.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Pins by Python version: releases from the year after that version (docs/moving-from-codabench.md).
PINS: Mapping[str, Mapping[str, str]] = {
    "2.7": {"numpy": "1.16.6", "scipy": "1.2.3", "pandas": "0.24.2", "scikit-learn": "0.20.4", "pyyaml": "5.4.1"},
    "3.6": {"numpy": "1.19.5", "scipy": "1.5.4", "pandas": "1.1.5", "scikit-learn": "0.24.2", "pyyaml": "5.4.1"},
    "3.7": {"numpy": "1.21.6", "scipy": "1.7.3", "pandas": "1.3.5", "scikit-learn": "1.0.2", "pyyaml": "6.0"},
    "3.8": {"numpy": "1.21.6", "scipy": "1.7.3", "pandas": "1.3.5", "scikit-learn": "1.0.2", "pyyaml": "6.0"},
    "3.9": {"numpy": "1.22.4", "scipy": "1.8.1", "pandas": "1.4.4", "scikit-learn": "1.1.3", "pyyaml": "6.0"},
    "3.10": {"numpy": "1.23.5", "scipy": "1.9.3", "pandas": "1.5.3", "scikit-learn": "1.1.3", "pyyaml": "6.0.1"},
    "3.11": {"numpy": "1.23.5", "scipy": "1.9.3", "pandas": "1.5.3", "scikit-learn": "1.1.3", "pyyaml": "6.0.1"},
    "3.12": {"numpy": "1.26.4", "scipy": "1.13.1", "pandas": "2.2.3", "scikit-learn": "1.5.2", "pyyaml": "6.0.2"},
    "3.13": {"numpy": "2.2.6", "scipy": "1.15.3", "pandas": "2.2.3", "scikit-learn": "1.6.1", "pyyaml": "6.0.2"},
    "3.14": {"numpy": "2.3.5", "scipy": "1.16.3", "pandas": "2.3.3", "scikit-learn": "1.7.2", "pyyaml": "6.0.3"},
}
#: Further pins, used with every Python 3.
_BESIDE: Mapping[str, str] = {"nltk": "3.6.7", "psutil": "5.9.8", "tqdm": "4.64.1"}
#: Package names by the name of the import, if the two differ.
_PACKAGES = {"sklearn": "scikit-learn", "yaml": "pyyaml"}
#: The environment of EvalAI's workers, which install a program's requirements.txt.
EVALAI = "evalai"
#: Codabench's default image.
DEFAULT_IMAGE = "codalab/codalab-legacy:py37"
_TAG = re.compile(r"(?:codalab/codalab-legacy|codalab/codalab|python)(?::(?P<tag>[a-z0-9._-]+))?")
_PYTHON = re.compile(r"(?:py|python)?(?P<major>[23])\.?(?P<minor>[0-9]{1,2})?(?:[.-].*)?")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<of>[A-Za-z_]\w{0,80})\b[\w.]{0,200}[ \t]+import\b|import[ \t]+(?P<all>[^#\n;]+))", re.M
)
_SOURCE_BYTES, _SOURCES = 512 * 1024, 200


@dataclass(frozen=True, slots=True)
class Guess:
    """Options of the environment for a program, and the reason for them.

    - options: `environment` and `python` as declared.
    - is_guess: whether scores have to be compared first.
    - words: the reason; missing: imported modules that it lacks.
    """

    options: Mapping[str, object]
    is_guess: bool
    words: str
    missing: tuple[str, ...] = ()


def guess_environment(program: Path, image: str) -> Guess:
    """Return the environment closest to that of an image, for a program's folder.

    image: as the bundle names it, "" for none. Only Pythons on this machine are considered.
    """
    wanted = imported_packages(program)
    if (program / "requirements.txt").is_file():
        own = "the program's own requirements.txt"
        if image == EVALAI:
            return Guess({}, is_guess=False, words=f"{own}, as there")
        return Guess({}, is_guess=bool(wanted), words=f"{own}; its container may have had others")
    if not wanted and _is_python(program):
        words = "the default one: the program imports nothing but Python's own library"
        return Guess({"environment": "default"}, is_guess=False, words=words)
    python = _python_of(image or DEFAULT_IMAGE)
    named = f"image `{image}`" if image else f"no image is named, so it ran in `{DEFAULT_IMAGE}`"
    named = "workers of EvalAI" if image == EVALAI else named
    if python is None:
        words = (
            f"{named} cannot be inspected: the default environment is used instead. With docker or podman, declare "
            "`image: name@sha256:…` instead"
        )
        return Guess({"environment": "default"}, is_guess=True, words=words, missing=_not_in(wanted, "3.11"))
    nearest = nearest_python(python)
    pins = _pins(max(nearest, python, key=_number))
    lines = [f"{package}=={pins[package]}" for package in sorted(wanted) if package in pins]
    other = "" if nearest == python else f"; Python {python} is not on this machine; {nearest} is the nearest version"
    words = f"{named}: Python {nearest} with {', '.join(lines) or 'nothing else'}{other}"
    options: dict[str, object] = {"environment": lines or "default"}
    if nearest != f"{sys.version_info.major}.{sys.version_info.minor}":
        options["python"] = nearest
    return Guess(options, is_guess=True, words=words, missing=_not_in(wanted, nearest))


def nearest_python(wanted: str) -> str:
    """Return the installed Python closest to the wanted one: the next newer, or else the newest.

    Python 2 has no substitute: its programs run with nothing else.
    """
    if wanted.startswith("2"):
        return "2.7"
    here = [version for version in PINS if version.startswith("3") and _is_installed(version)]
    newer = [version for version in here if _number(version) >= _number(wanted)]
    if newer:
        return min(newer, key=_number)
    return max(here, key=_number) if here else wanted


def imported_packages(program: Path) -> set[str]:
    """Return the packages that a program imports, except Python's own modules and those of the program."""
    sources = list(_sources(program))
    own = {path.stem for path in sources} | {path.name for path in program.rglob("*") if path.is_dir()}
    found = set()
    for path in sources:
        text = path.read_bytes()[:_SOURCE_BYTES].decode("utf-8", "replace")
        for match in _IMPORT.finditer(text):
            names = [match["of"]] if match["of"] else match["all"].split(",")
            found |= {name.strip().split(" ")[0].split(".")[0] for name in names}
    outside = {name for name in found if name.isidentifier()} - own - set(sys.stdlib_module_names) - _OF_PYTHON_2
    return {_PACKAGES.get(name, name) for name in outside}


#: Modules that Python 2 had, and 3 has under other names or no longer.
_OF_PYTHON_2 = frozenset(
    {
        *("ConfigParser", "Queue", "StringIO", "cPickle", "cStringIO", "commands", "exceptions", "htmlentitydefs"),
        *("sets", "urllib2", "urlparse", "__builtin__", "imp", "distutils", "asyncore", "asynchat", "smtpd"),
    }
)


def _sources(program: Path) -> Iterator[Path]:
    for number, path in enumerate(sorted(program.rglob("*.py"))):
        if number >= _SOURCES:
            return
        if path.is_file():
            yield path


def _is_python(program: Path) -> bool:
    return next(_sources(program), None) is not None


def _python_of(image: str) -> str | None:
    """Return the Python of a known image; None for other images."""
    if image == EVALAI:
        return "3.9"
    match = _TAG.fullmatch(image.strip().removeprefix("docker.io/").lower())
    if not match:
        return None
    tag = match["tag"] or "latest"
    if tag in ("latest", "py3", "3", "gpu"):
        return "3.8"
    version = _PYTHON.fullmatch(tag)
    if not version:
        return None
    python = "2.7" if version["major"] == "2" else f"3.{int(version['minor'] or 8)}"
    return python if python in PINS else None


def _not_in(wanted: set[str], python: str) -> tuple[str, ...]:
    return tuple(sorted(wanted - set(_pins(python))))


def _pins(python: str) -> Mapping[str, str]:
    return PINS[python] if python.startswith("2") else {**_BESIDE, **PINS[python]}


@cache
def _is_installed(version: str) -> bool:
    """Return whether this Python starts; with pyenv, a command may exist without its Python."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = shutil.which(f"python{version}")
    if version == here or found is None:
        return version == here
    try:
        return not subprocess.run([found, "-c", ""], capture_output=True, check=False, timeout=10).returncode  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return False


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
