"""The commands `evergold doctor sandbox` and `evergold environments …`, in a process on the workers' side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from app.base.config import InvalidSettings, get_settings
from app.base.db import get_engine, reading
from workers.sandbox.building import CannotBuild, build_environment, identity_of
from workers.sandbox.doctor import can_run, examine
from workers.sandbox.environments import (
    Built,
    DeclaredEnvironment,
    default_environment,
    find_environment,
    list_environments,
    read_environment,
)
from workers.sandbox.terms import SandboxUnavailable
from workers.sandbox.wanted import Need, needs_of, unknown_competitions


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "doctor":
            return doctor(as_json=options.json)
        if options.command == "wanted":
            return show_wanted(options)
        if options.command == "build" and (options.competitions or options.all or options.given):
            return build_all(options)
        built = list_environments() if options.command == "list" else [build(options)]
    except (CannotBuild, SandboxUnavailable, WrongList, InvalidSettings, OSError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    _print_built(built, as_json=options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evergold")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("doctor", "list", "build", "wanted"):
        commands.add_parser(name).add_argument("--json", action="store_true")
    building = commands.choices["build"]
    building.add_argument("--requirements", type=Path, default=None)
    building.add_argument("--python", default="")
    building.add_argument("--renew", action="store_true")
    building.add_argument("--all", action="store_true")
    building.add_argument("--from", dest="given", default="")
    for name in ("build", "wanted"):
        commands.choices[name].add_argument("competitions", nargs="*")
    return parser


class WrongList(Exception):
    """The list of what to build is unreadable, or names an unknown competition; the message has the reason."""


def needed(competitions: Sequence[str]) -> list[Need]:
    """Return the environments that these competitions need, or all if none is named. Raises WrongList."""
    try:
        return _needed(competitions)
    except DBAPIError as error:
        raise WrongList(f"the declarations cannot be read from the database: {error.orig}; is it migrated?") from None


def _needed(competitions: Sequence[str]) -> list[Need]:
    with reading(get_engine(get_settings().database_address)) as session:
        if unknown := unknown_competitions(session, competitions):
            raise WrongList(f"there is no competition {', '.join(unknown)}")
        return needs_of(session, competitions)


def show_wanted(options: argparse.Namespace) -> int:
    """Print the environments that competitions need, each with its state on this machine; return the exit code."""
    found = needed(options.competitions)
    if options.json:
        _print(json.dumps({"wanted": [asdict(one) for one in found]}, indent=2))
        return 0
    for one in found:
        state = "built" if _is_built(one.wanted) else f"not built: {one.refused}" if one.refused else "to be built"
        _print(f"{one.competition}\t{', '.join(one.tasks)}\t{one.wanted.short_name}\t{state}")
    return 0


def build_all(options: argparse.Namespace) -> int:
    """Build everything that competitions need; return 1 if something is refused or cannot be built."""
    needs = _read_needs(options.given) if options.given else needed(options.competitions)
    wanted = dict.fromkeys(one.wanted for one in needs if not one.refused)
    if options.all:
        wanted = {default_environment(): None} | wanted
    built, failed = [], False
    for one in wanted:
        try:
            built.append(_build(one, renew=options.renew))
        except (CannotBuild, SandboxUnavailable, OSError) as error:
            failed = True
            sys.stderr.write(f"Error: {one.short_name}: {error}\n")
    for need in needs:
        if need.refused and not _is_built(need.wanted):
            failed = True
            sys.stderr.write(f"Error: {need.competition}: {need.wanted.short_name}: {need.refused}.\n")
    _print_built(built, as_json=options.json)
    return 1 if failed else 0


def _read_needs(place: str) -> list[Need]:
    """Return the needs in the output of `wanted --json`, from a file or from stdin (`-`). Raises WrongList, OSError."""
    text = sys.stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
    try:
        return [
            Need(
                str(one["competition"]),
                tuple(map(str, one["tasks"])),
                DeclaredEnvironment(tuple(map(str, one["wanted"]["requirements"])), str(one["wanted"]["python"])),
                str(one["refused"]),
            )
            for one in json.loads(text)["wanted"]
        ]
    except (ValueError, KeyError, TypeError):
        raise WrongList(f"{place} is not what `evergold environments wanted --json` prints") from None


def _is_built(wanted: DeclaredEnvironment) -> bool:
    try:
        find_environment(wanted)
    except SandboxUnavailable:
        return False
    return True


def _print_built(built: Sequence[Built], *, as_json: bool) -> None:
    if as_json:
        _print(json.dumps({"environments": [asdict(one) for one in built]}, indent=2))
        return
    for one in built:
        _print(f"{one.digest}\t{one.python}\t{one.platform}\t{', '.join(_packages(one)) or 'no packages'}")


def doctor(*, as_json: bool) -> int:
    """Print which parts of the sandbox work here; return 1 if no program can run, otherwise 0."""
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


def build(options: argparse.Namespace) -> Built:
    """Build the environment of a requirements file, or the default one; return it. Raises CannotBuild, OSError."""
    if options.requirements is None:
        wanted = default_environment()
        if options.python:
            wanted = DeclaredEnvironment(wanted.requirements, options.python)
    else:
        wanted = DeclaredEnvironment(
            tuple(options.requirements.read_text(encoding="utf-8").splitlines()), options.python
        )
    return _build(wanted, renew=options.renew)


def _build(wanted: DeclaredEnvironment, *, renew: bool) -> Built:
    """Build an environment and return it, after a message on stderr, because packages may take minutes to download."""
    if renew or not _is_built(wanted):
        sys.stderr.write(f"Building {wanted.short_name}: this can take a few minutes.\n")
        sys.stderr.flush()
    return read_environment(build_environment(wanted, renew=renew))


def _packages(built: Built) -> list[str]:
    return [line.partition(" --hash=")[0].strip() for line in identity_of(built.pins).splitlines()]


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
