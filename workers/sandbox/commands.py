"""`evergold doctor sandbox` and `evergold environments …`, in a process of the workers' side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from workers.sandbox.building import CannotBuild, build_environment, identity_of
from workers.sandbox.doctor import can_run, examine
from workers.sandbox.environments import Built, Wanted, default_wanted, list_environments, read_environment
from workers.sandbox.terms import SandboxUnavailable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return its exit code."""
    asked = parser().parse_args(arguments)
    try:
        if asked.command == "doctor":
            return doctor(as_json=asked.json)
        built = list_environments() if asked.command == "list" else [build(asked)]
    except (CannotBuild, SandboxUnavailable, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    if asked.json:
        _print(json.dumps({"environments": [asdict(one) for one in built]}, indent=2))
    else:
        for one in built:
            _print(f"{one.digest}\t{one.python}\t{one.platform}\t{', '.join(_packages(one)) or 'no packages'}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of these commands."""
    made = argparse.ArgumentParser(prog="evergold")
    commands = made.add_subparsers(dest="command", required=True)
    for name in ("doctor", "list", "build"):
        commands.add_parser(name).add_argument("--json", action="store_true")
    building = commands.choices["build"]
    building.add_argument("packages", nargs="*")
    building.add_argument("--no-packages", action="store_true")
    building.add_argument("--requirements", type=Path, default=None)
    building.add_argument("--python", default="")
    building.add_argument("--renew", action="store_true")
    return made


def doctor(*, as_json: bool) -> int:
    """Print what works here; return 1 if no program can run."""
    findings = examine()
    if as_json:
        _print(json.dumps({"works": can_run(findings), "parts": [asdict(one) for one in findings]}, indent=2))
    else:
        for one in findings:
            mark = "ok" if one.is_good else "FAILS" if one.is_needed else "no"
            _print(f"{mark:<6} {one.part}: {one.words}")
            if one.advice and one.advice != one.words:
                _print(f"       → {one.advice}")
    return 0 if can_run(findings) else 1


def build(asked: argparse.Namespace) -> Built:
    """Build the environment that these options name. Raises CannotBuild, OSError."""
    return read_environment(build_environment(wanted_of(asked), renew=asked.renew))


def wanted_of(asked: argparse.Namespace) -> Wanted:
    """Return the environment of packages, of a requirements file, or the default one. Raises OSError."""
    if asked.packages or asked.no_packages:
        return Wanted(tuple(asked.packages), asked.python)
    if asked.requirements is not None:
        return Wanted(tuple(asked.requirements.read_text(encoding="utf-8").splitlines()), asked.python)
    return Wanted(default_wanted().requirements, asked.python)


def _packages(built: Built) -> list[str]:
    return [line.partition(" --hash=")[0].strip() for line in identity_of(built.pins).splitlines()]


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
