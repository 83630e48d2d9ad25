"""The rooms (packages) of the project and their own tests, which run against semantic faults before tests/leaks do.

The tests of a subject's routes are the subject's own tests, too: they ask its rules, from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAKS = ("tests/leaks/",)
#: Rooms whose tests lie elsewhere, or in several places.
_ELSEWHERE = {
    # Statistics are scheduled and kept here, and computed by workers; a team's own board is asked by its feedback.
    "app/boards": (
        "tests/boards/",
        "tests/web/boards/",
        "tests/feedback/test_standings.py",
        "tests/feedback/test_standings_at_random.py",
        "tests/workers/test_board_statistics.py",
        "tests/workers/test_power.py",
        "tests/workers/test_run_statistics.py",
        "tests/workers/test_statistics_follow.py",
    ),
    "app/exports": ("tests/boards/test_exports.py", "tests/web/exports/", "tests/cli/test_bundles.py"),
    # What is prepared is applied by commands, too.
    "app/server": ("tests/server/", "tests/cli/test_declare.py", "tests/cli/test_revisions.py"),
    "app/privacy": ("tests/privacy/", "tests/web/people/test_own_data.py"),
    "app/looks": ("tests/looks/", "tests/web/administration/test_looks.py"),
    "app/importers": ("tests/importers/", "tests/web/declarations/test_bundles.py", "tests/web/codabench/"),
    "app/standings": (
        "tests/standings/",
        "tests/web/submissions/",
        "tests/boards/",
        "tests/competitions/test_tracks.py",
    ),
    "app/feedback": ("tests/feedback/", "tests/web/submissions/", "tests/web/boards/test_row_comparison.py"),
    "app/charts": ("tests/charts/", "tests/boards/"),
    "app/gold": (
        "tests/gold/",
        "tests/workers/test_gold.py",
        "tests/workers/test_keys.py",
        "tests/workers/test_sealed.py",
        "tests/workers/test_sealed_gold.py",
    ),
    # Commands that ask a server are tried against one, in the rooms of its pages.
    "evergold/cli": (
        "tests/evergold/cli/",
        "tests/web/boards/test_rankings.py",
        "tests/web/judging/test_cli.py",
        "tests/web/messages/test_cli.py",
        "tests/web/people/test_cli.py",
        "tests/web/rescoring/test_cli.py",
        "tests/web/submissions/test_cards.py",
        "tests/web/submissions/test_standings_listed.py",
        "tests/web/submissions/test_withdrawal.py",
        "tests/web/teams/test_registration.py",
        "tests/web/teams/test_teams.py",
    ),
    "app/web": ("tests/web/test_app.py", "tests/web/test_pages.py", "tests/web/html/", "tests/web/http/"),
}
#: No rooms: tables, templates, and what is read on import.
_LEFT_OUT = ("app/models/", "app/data/", "app/base/config.py", "evergold/version.py")


@cache
def rooms() -> Mapping[str, tuple[str, ...]]:
    """Return the tests of each room that has some, by its folder."""
    folders = [*_folders("app"), *_folders("app/web"), *_folders("evergold"), "workers"]
    found = {room: _ELSEWHERE.get(room) or _own_tests(room) for room in folders}
    return {room: tests for room, tests in found.items() if tests}


def room_of(module: str) -> str:
    """Return the innermost room of a module."""
    return max((room for room in rooms() if module.startswith(f"{room}/")), key=len)


def every_module() -> list[str]:
    return [module for room in rooms() for module in modules_of(room)]


def modules_of(room: str) -> list[str]:
    """Return the room's modules with code, without those of an inner room."""
    inside = tuple(f"{other}/" for other in rooms() if other.startswith(f"{room}/"))
    names = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / room).rglob("*.py")))
    return [name for name in names if not name.startswith((*_LEFT_OUT, *inside)) and not name.endswith("__init__.py")]


def _own_tests(room: str) -> tuple[str, ...]:
    mirrored = [f"tests/{room.removeprefix('app/')}/"]
    if room.startswith("app/") and not room.startswith("app/web/"):
        mirrored.append(f"tests/web/{room.removeprefix('app/')}/")
    return tuple(folder for folder in mirrored if any((ROOT / folder).glob("**/test_*.py")))


def _folders(where: str) -> list[str]:
    return [f"{where}/{name}" for name in _names(where)]


def _names(where: str) -> list[str]:
    return sorted(path.parent.name for path in (ROOT / where).glob("*/__init__.py"))
