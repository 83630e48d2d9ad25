"""Writes the pinned requirement files from the ranges in both pyproject.toml: `make lock`.

pip itself resolves, first everything together, so that `run` and `dev` agree; nothing is installed. Pins have neither
hashes nor markers (but those in a pyproject.toml): what only another platform needs is left to pip there.
"""
# ruff: noqa: T201, S603 - it prints and runs pip: that is all it does

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
#: Builds the projects themselves (pip install --no-build-isolation).
BUILD = "setuptools>=77"
#: What teams install, and the server.
PROJECTS = (ROOT / "evergold" / "pyproject.toml", ROOT / "pyproject.toml")
OURS = ("evergold", "evergold-server")
HEAD = "# {what}\n# Written by `make lock` from pyproject.toml; do not edit.\n"

#: File -> the extras it covers, and what it is for. A file leaves out what the files before it pin.
FILES = {
    "run.txt": ("web,worker", "To run a server: web process and worker."),
    "embedded.txt": (
        "web,worker,embedded",
        "The embedded broker; not built for every platform, so it may be left out.",
    ),
    "s3.txt": ("web,worker,s3", "For files in an S3-compatible store."),
    "traces.txt": ("web,worker,traces", "To send traces to a collector of OpenTelemetry."),
    "dev.txt": ("dev", "To test and check: on top of the others."),
}


def main() -> None:
    everything = resolve("dev")
    pinned: set[str] = set()
    for name, (extras, what) in FILES.items():
        new = sorted(set(resolve(extras, everything)) - pinned, key=str.lower)
        pinned |= set(new)
        included = "-r run.txt\n-r s3.txt\n-r traces.txt\n" if name == "dev.txt" else ""
        (FOLDER / name).write_text(HEAD.format(what=what) + included + "".join(f"{pin}\n" for pin in new))
        print(f"requirements/{name}: {len(new)} packages")


def resolve(extras: str, constraints: list[str] | None = None) -> list[str]:
    """`name==version` of all that the server needs with these extras, without what this checkout builds."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", "install", "--dry-run"]
    command += ["--ignore-installed", "--report", "-", str(ROOT / "evergold"), f"{ROOT}[{extras}]", BUILD]
    if constraints:
        (FOLDER / "constraints.tmp").write_text("\n".join(constraints))
        command += ["--constraint", str(FOLDER / "constraints.tmp")]
    try:
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    finally:
        (FOLDER / "constraints.tmp").unlink(missing_ok=True)
    found = (item["metadata"] for item in report["install"])
    return [_pin(package["name"], package["version"]) for package in found if package["name"] not in OURS]


def _pin(name: str, version: str) -> str:
    marker = _markers().get(name.lower())
    return f"{name}=={version}; {marker}" if marker else f"{name}=={version}"


def _markers() -> dict[str, str]:
    """The markers that a pyproject.toml gives to what it names itself."""
    projects = [tomllib.loads(path.read_text())["project"] for path in PROJECTS]
    extras = [lines for project in projects for lines in project["optional-dependencies"].values()]
    named = [Requirement(line) for lines in extras for line in lines]
    return {requirement.name.lower(): str(requirement.marker) for requirement in named if requirement.marker}


if __name__ == "__main__":
    main()
