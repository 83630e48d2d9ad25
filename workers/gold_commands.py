"""`evergold gold keygen`, `rotate`, `check`, `reveal`: commands that need private keys, in a process of the workers.

Started by the command line as `python -m workers.gold_commands …`; the command line itself never learns where keys are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import EvergoldError
from app.people import audit
from evergold.scoring.errors import ScoringError
from workers.gold_check import check_gold
from workers.gold_errors import GoldNotFound, SealBroken
from workers.gold_reveal import make_public, reveal
from workers.keys import KeyFileBroken, add_key, key_file, read_keys
from workers.rotation import rotate, tidy
from workers.version_check import check_version

ONE_LINER = (
    'python3 -c "import hashlib, sys; '
    "print(hashlib.sha256(bytes.fromhex(sys.argv[1]) + open(sys.argv[2], 'rb').read()).hexdigest())\""
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code; errors go to stderr."""
    asked = _parser().parse_args(arguments)
    engine = get_engine(get_settings().database_address)
    try:
        if asked.command == "keygen":
            return keygen(engine)
        if asked.command == "rotate":
            return rotate_keys(engine)
        if asked.command == "check":
            return check(engine)
        if asked.command == "check-new":
            return check_new(engine, asked.versions)
        return reveal_gold(engine, asked.place, asked.version, asked.write, public=asked.public)
    except EvergoldError as error:
        return _complain(error.message)
    except (KeyFileBroken, ScoringError, GoldNotFound, SealBroken) as error:
        return _complain(f"{error}.")
    except SQLAlchemyError as error:
        return _complain(f"The database cannot be used: {getattr(error, 'orig', None) or error}")
    except OSError as error:
        return _complain(f"{error.filename or ''}: {error.strerror or error}.")


def keygen(engine: Engine) -> int:
    """Generate a key, which is used at once in addition to those in use."""
    before = read_keys(key_file())
    key_id = add_key(engine, key_file(), _now())
    with writing(engine) as session:
        audit.record(session, None, "gold.keygen", f"key {key_id}", now=_now())
    _say(f"Made key {key_id}, in {key_file()}.")
    if before:
        _say("From now on, gold is sealed to it too. Bring the file to every worker, then `evergold gold rotate`.")
    else:
        _say("Keep a copy in a safe place apart from backups: without it nobody opens the gold again, you neither.")
    return 0


def rotate_keys(engine: Engine) -> int:
    """Seal everything to the newest key only."""
    path = key_file()
    with writing(engine) as session:
        done = rotate(session, path, _now())
        details = {"newest": done.newest, "retired": done.retired, "files": done.files}
        audit.record(session, None, "gold.rotate", "the workers' keys", details, now=_now())
    old = tidy(path, done.newest)  # after the commit: until then the old keys are needed
    if not done.retired and not done.files:
        _say(f"Everything is sealed to {done.newest} alone already. For another key: `evergold gold keygen` first.")
        return 0
    _say(f"{done.files} sealed files are now sealed to {done.newest} alone.")
    if done.retired:
        _say(f"Retired: {', '.join(done.retired)}.")
    if old:
        _say(f"The retired keys are in {old}. They open backups made before now, and nothing else: keep them apart.")
    return 0


def check(engine: Engine) -> int:
    """Print one line per check; return 1 if any failed."""
    with reading(engine) as session:
        found = check_gold(session, key_file())
    for one in found:
        _say(f"ok       {one.what}" if one.fault is None else f"PROBLEM  {one.what}: {one.fault}")
    faults = sum(one.fault is not None for one in found)
    _say(f"{faults} problem{'' if faults == 1 else 's'}.")
    return 1 if faults else 0


def check_new(engine: Engine, version_ids: Sequence[int]) -> int:
    """Check versions uploaded on this machine, if the key is here; results go to the database."""
    if read_keys(key_file()):
        for version_id in version_ids:
            check_version(engine, version_id)
    return 0


def reveal_gold(engine: Engine, place: str, number: int | None, write: Path | None, *, public: bool) -> int:
    """Print all that is needed to verify a commitment.

    public: make the version public first, so that items of runs scored against it from now on may be shown.
    """
    if public:
        make_public(engine, place, number, _now())
    revealed = reveal(engine, place, number, write, _now())
    version, salt = revealed.version, revealed.salt.hex()
    _say(f"gold        {place}, version {version.number}, {version.filename}")
    _say(f"commitment  {version.commitment}")
    _say(f"salt        {salt}")
    if write is not None:
        _say(f"content     {write}, {version.content_bytes} bytes")
    _say("\nOnce the content and the salt are public, anybody can check that the gold was never exchanged:\n")
    _say(f"  {ONE_LINER} {salt} {write or version.filename}")
    if public:
        _say(
            "\nIt is sealed as public now. Where phases.yaml says `gold_is_public: true` of it, teams see the items of"
        )
        _say("what is scored from now on, and of what was scored before once it is rescored.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evergold gold")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("keygen", "rotate", "check"):
        commands.add_parser(name)
    checking = commands.add_parser("check-new")
    checking.add_argument("versions", type=int, nargs="+")
    revealing = commands.add_parser("reveal")
    revealing.add_argument("place")
    revealing.add_argument("--version", type=int)
    revealing.add_argument("--write", type=Path)
    revealing.add_argument("--public", action="store_true")
    return parser


def _now() -> datetime:
    return datetime.now(UTC)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _complain(text: str) -> int:
    sys.stderr.write(f"Error: {text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
