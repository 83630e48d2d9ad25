"""`evergold gold keygen`, `rotate`, `check`, `reveal`: commands that need private keys, run in a process of the
workers.

The command line starts it as `python -m workers.gold_commands …`, so that it never knows where the keys are.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from nacl.public import SealedBox
from sqlalchemy import Engine, delete, insert, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, joinedload, selectinload

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import EvergoldError, NotFound, StorageAway, StorageDamaged
from app.base.storage import UNLIMITED_BYTES, has_file, sealed_storage_of
from app.competitions.changed import boards_changed
from app.competitions.find import find_phase_task
from app.gold.recorded import record_sealed
from app.gold.sealing import Sealed, SealingWriter, forget_sealed, is_listed_public
from app.gold.versions import list_gold, place_of
from app.models import GoldVersion, Phase, PhaseTask, SealedFile, SealedKey, WorkerKey
from app.people import audit
from app.runs.claims import SealedGold, sealed_gold
from app.standings.renew import renew_all
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import get_task
from workers.gold import OpenGold, gold_folder, open_sealed_gold, read_gold, read_sealed_gold
from workers.gold_errors import GoldNotFound, SealBroken
from workers.keys import (
    KeyFileBroken,
    Keys,
    NoKeyForIt,
    add_key,
    announce,
    key_file,
    open_file_key,
    own_recipients,
    read_keys,
    write_keys,
)
from workers.version_check import check_version, items_misfits


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of one check; fault: None if it passed."""

    what: str
    fault: str | None


def check_gold(session: Session, path: Path) -> list[Checked]:
    """Check the key file, the key of every sealed file, and the gold of all phases' tasks; return the results."""
    try:
        keys = read_keys(path)
    except KeyFileBroken as error:
        return [Checked("key file", str(error))]
    found = [*_check_keys(session, path, keys), *_check_sealed(session, keys)]
    query = (
        select(PhaseTask)
        .join(PhaseTask.phase)
        .options(joinedload(PhaseTask.phase).joinedload(Phase.competition), joinedload(PhaseTask.task))
        .order_by(Phase.competition_id, Phase.position, PhaseTask.id)
    )
    return found + [one for phase_task in session.scalars(query) for one in _check_phase_task(session, phase_task)]


def _check_keys(session: Session, path: Path, keys: Keys) -> list[Checked]:
    found = []
    if path.exists():
        mode = stat.S_IMODE(path.stat().st_mode)
        fault = f"others may read it (mode {mode:o}): chmod 600 {path}" if mode & 0o077 else None
        found.append(Checked(f"key file {path}, keys: {len(keys)}", fault))
    for key in session.scalars(select(WorkerKey).where(WorkerKey.retired_at.is_(None)).order_by(WorkerKey.id)):
        fault = (
            None
            if key.key_id in keys
            else ("not in this worker's key file, although new gold is sealed for it: whose key is it?")
        )
        found.append(Checked(f"key {key.key_id}", fault))
    return found


def _check_sealed(session: Session, keys: Keys) -> list[Checked]:
    """Check that every sealed file exists and that its key can be opened; contents are read only for gold in use."""
    total, faults = 0, []
    for file in _sealed_files(session):
        total += 1
        try:
            open_file_key({key.key_id: key.sealed_key for key in file.keys}, keys)
        except NoKeyForIt as error:
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", str(error)))
            continue
        if foreign := [key.key_id for key in file.keys if key.key_id not in keys]:
            fault = f"also sealed to {', '.join(foreign)}, which is not in this worker's key file: whose key is it?"
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", fault))
        if not has_file(sealed_storage_of(get_settings()), file.sha256):
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", "the file does not exist"))
    return [*faults, Checked(f"{total} sealed files", None)] if total else []


def _sealed_files(session: Session) -> Iterator[SealedFile]:
    """Yield all sealed files with their keys, in batches: outside a transaction, PostgreSQL keeps no cursor open."""
    last = 0
    query = select(SealedFile).options(selectinload(SealedFile.keys)).order_by(SealedFile.id).limit(500)
    while files := session.scalars(query.where(SealedFile.id > last)).all():
        yield from files
        last = files[-1].id


def _check_phase_task(session: Session, phase_task: PhaseTask) -> list[Checked]:
    """Check the gold in use and every version not yet in use."""
    place, versions = place_of(phase_task), list_gold(session, phase_task)
    in_use = [version for version in versions if version.published_at is not None][-1:]
    found = [_check(phase_task, f"{place}: gold version {one.number}", partial(_open, session, one)) for one in in_use]
    if not in_use and phase_task.gold is not None:
        found = [_check(phase_task, f"{place}: plain gold {phase_task.gold}", partial(_open_plain, phase_task.gold))]
    if not in_use and phase_task.gold is None:
        found = [Checked(f"{place}: no gold yet" if not versions else f"{place}: no gold in use", None)]
    waiting = [version for version in versions if version.published_at is None]
    return found + [
        _check(phase_task, f"{place}: gold version {one.number}, not in use", partial(_open, session, one))
        for one in waiting
    ]


def _check(phase_task: PhaseTask, what: str, opening: Callable[[AnyTask, Options], OpenGold]) -> Checked:
    """Read gold as for scoring, compare it with the blind items, and return the result with all problems in full."""
    try:
        task = get_task(phase_task.task.task_type)
        options = read_options(task, phase_task.options_of(phase_task.task))
        opened = opening(task, options)
        problems = items_misfits(task, options, opened, phase_task.items_sha256)
    except (ScoringError, GoldNotFound, SealBroken, StorageAway, StorageDamaged, OSError) as error:
        return Checked(what, str(error))
    if problems:
        return Checked(what, "; ".join(map(str, problems)))
    return Checked(f"{what}{_remarks(phase_task, opened)}", None)


def _open(session: Session, version: GoldVersion, task: AnyTask, options: Options) -> OpenGold:
    return read_sealed_gold(task, options, sealed_gold(session, version.id))


def _open_plain(name: str, task: AnyTask, options: Options) -> OpenGold:
    return OpenGold(read_gold(task, options, name), is_listed_public(gold_folder(), name), is_sealed=False)


def _remarks(phase_task: PhaseTask, opened: OpenGold) -> str:
    """Return remarks on gold that passed the check, in brackets; "" if there are none."""
    remarks = []
    if opened.is_sealed and opened.binding is None:
        remarks.append(
            "sealed by an older Evergold without a place, so it is always hidden; upload it again to bind it to one"
        )
    if phase_task.gold_is_public and not opened.is_public:
        remarks.append("declared public, but hidden here: items are not shown")
    return f" ({'; '.join(remarks)})" if remarks else ""


class GoldChanged(EvergoldError):
    """The version was resealed concurrently by somebody else."""

    status = 409
    code = "gold_changed"


@dataclass(frozen=True, slots=True)
class Revealed:
    """A gold version and its salt."""

    version: GoldVersion
    salt: bytes


def reveal(engine: Engine, place: str, number: int | None, write: Path | None, now: datetime) -> Revealed:
    """Return the salt that verifies a version's commitment. write: a new file for the content."""
    version, sealed = _find(engine, place, number)
    with open(os.devnull, "wb") if write is None else open(write, "xb", opener=_private) as content:
        salt = open_sealed_gold(sealed, content).salt
    with writing(engine) as session:
        audit.record(session, None, "gold.reveal", f"gold {place}", {"version": version.number}, now=now)
    return Revealed(version, salt)


def make_public(engine: Engine, place: str, number: int | None, now: datetime) -> None:
    """Reseal a version as public unless it already is. Raises SealBroken if its file has no binding."""
    version, sealed = _find(engine, place, number)
    with open(os.devnull, "wb") as nowhere:
        opened = open_sealed_gold(sealed, nowhere)
    if opened.binding is None:
        raise SealBroken(f"{place} was sealed by an older Evergold without a place: upload it again, with --public")
    if opened.binding.is_public:
        _show_all_scores(engine, version)
        return
    binding = replace(opened.binding, versions={sealed.place.phase: version.number}, is_public=True)
    storage = sealed_storage_of(get_settings())
    with reading(engine) as session:
        own = own_recipients(session, read_keys(key_file()))
    writer = SealingWriter(storage, UNLIMITED_BYTES, what=binding, recipients=own, salt=opened.salt)
    try:
        open_sealed_gold(sealed, writer)
        writer.finish()
    finally:
        writer.discard()
    try:
        with writing(engine) as session:
            _exchange(session, version, writer.sealed, place, now)
    except BaseException:
        forget_sealed(writer.sealed, storage)
        raise
    _show_all_scores(engine, version)


def _show_all_scores(engine: Engine, version: GoldVersion) -> None:
    """Bump the boards' versions and renew them with all decimals, because scores of public gold need no rounding."""
    with writing(engine) as session:
        boards_changed(session, [version.phase_task_id])
        session.get_one(GoldVersion, version.id).is_public = True
        session.flush()
        renew_all(session, [version.phase_task_id], only_outdated=True)


def _exchange(session: Session, version: GoldVersion, sealed: Sealed, place: str, now: datetime) -> None:
    """Replace the sealed file by the new one; delete the old one unless another phase uses it."""
    current = session.get_one(GoldVersion, version.id, with_for_update=True)
    if current.sealed_file_id != version.sealed_file_id or current.commitment != sealed.commitment:
        raise GoldChanged(f"{place}, version {version.number}, was just changed; please try again.")
    current.sealed_file_id = record_sealed(session, sealed, now)
    session.flush()
    used = select(GoldVersion.id).where(GoldVersion.sealed_file_id == version.sealed_file_id).limit(1)
    if session.scalar(used) is None:
        session.execute(delete(SealedKey).where(SealedKey.sealed_file_id == version.sealed_file_id))
        session.execute(delete(SealedFile).where(SealedFile.id == version.sealed_file_id))
    audit.record(session, None, "gold.make_public", f"gold {place}", {"version": version.number}, now=now)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _find(engine: Engine, place: str, number: int | None) -> tuple[GoldVersion, SealedGold]:
    parts = place.split("/")
    if len(parts) != 3:
        raise NotFound(f"'{place}' is not COMPETITION/PHASE/TASK.")
    with reading(engine) as session:
        versions = list_gold(session, find_phase_task(session, *parts))
        published = [one for one in versions if one.published_at is not None] or versions
        wanted = published[-1:] if number is None else [one for one in versions if one.number == number]
        if not wanted:
            raise NotFound(f"There is no sealed gold {place}{'' if number is None else f', version {number}'}.")
        return wanted[0], sealed_gold(session, wanted[0].id)


BATCH = 500


@dataclass(frozen=True, slots=True)
class Rotated:
    """The result of a rotation.

    newest: the only key still in use.
    files: number of files resealed.
    retired: keys that were retired.
    """

    newest: str
    files: int
    retired: list[str]


def rotate(session: Session, path: Path, now: datetime) -> Rotated:
    """Seal the key of every file to the newest key of this key file only. The caller commits, then calls `tidy`.

    Raises NoKeyForIt, without any change, if this file has no key in use, or none that opens some file.
    """
    keys = read_keys(path)
    announce(session, keys, now)
    # No sealed file can be recorded while these rows are locked, see `app.gold.recorded.record_sealed`.
    in_use = list(
        session.scalars(
            select(WorkerKey).where(WorkerKey.retired_at.is_(None)).order_by(WorkerKey.id).with_for_update()
        )
    )
    newest = _newest(in_use, keys)
    retired = [key.key_id for key in in_use if key is not newest]
    for key in in_use:
        if key is not newest:
            key.retired_at = now
    session.flush()
    return Rotated(newest.key_id, _seal_all_to(session, newest, keys), retired)


def tidy(path: Path, newest: str) -> Path | None:
    """Leave only the newest key in the file and move the others to a file next to it; return its path.

    The others are needed only for backups made before.
    """
    keys = read_keys(path)
    if set(keys) == {newest}:
        return None
    old = path.with_name(f"{path.name}.retired")
    write_keys(old, {**read_keys(old), **{key_id: key for key_id, key in keys.items() if key_id != newest}})
    write_keys(path, {newest: keys[newest]})
    return old


def _newest(in_use: list[WorkerKey], keys: Keys) -> WorkerKey:
    """Return the last key in the file that is in use."""
    by_id = {key.key_id: key for key in in_use}
    ours = [by_id[key_id] for key_id in keys if key_id in by_id]
    if not ours:
        raise NoKeyForIt("none of the keys in use is in this worker's key file")
    return ours[-1]


def _seal_all_to(session: Session, newest: WorkerKey, keys: Keys) -> int:
    """Seal all files to this key only; return the number of files changed."""
    box, last, changed = SealedBox(keys[newest.key_id].public_key), 0, 0
    while files := _next_files(session, last):
        for file_id, (name, sealed_keys) in files.items():
            if set(sealed_keys) == {newest.key_id}:
                continue
            file_key = _opened(name, sealed_keys, keys)
            session.execute(delete(SealedKey).where(SealedKey.sealed_file_id == file_id))
            row = {"sealed_file_id": file_id, "key_id": newest.key_id, "sealed_key": box.encrypt(file_key)}
            session.execute(insert(SealedKey).values(**row))
            changed += 1
        last = max(files)
    return changed


def _next_files(session: Session, last: int) -> dict[int, tuple[str, dict[str, bytes]]]:
    """Return the next files by id: the name for messages and the sealed keys."""
    found = session.execute(
        select(SealedFile.id, SealedFile.sha256, SealedFile.kind)
        .where(SealedFile.id > last)
        .order_by(SealedFile.id)
        .limit(BATCH)
    )
    files: dict[int, tuple[str, dict[str, bytes]]] = {
        file_id: (f"the sealed file {sha256[:12]}… ({kind})", {}) for file_id, sha256, kind in found
    }
    sealed = select(SealedKey.sealed_file_id, SealedKey.key_id, SealedKey.sealed_key)
    for file_id, key_id, sealed_key in session.execute(sealed.where(SealedKey.sealed_file_id.in_(files))):
        files[file_id][1][key_id] = sealed_key
    return files


def _opened(name: str, sealed_keys: dict[str, bytes], keys: Keys) -> bytes:
    try:
        return open_file_key(sealed_keys, keys)
    except NoKeyForIt as error:
        raise NoKeyForIt(f"{name} does not open: {error}") from None


ONE_LINER = (
    'python3 -c "import hashlib, sys; '
    "print(hashlib.sha256(bytes.fromhex(sys.argv[1]) + open(sys.argv[2], 'rb').read()).hexdigest())\""
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code; errors go to stderr."""
    options = _parser().parse_args(arguments)
    engine = get_engine(get_settings().database_address)
    try:
        if options.command == "keygen":
            return keygen(engine)
        if options.command == "rotate":
            return rotate_keys(engine)
        if options.command == "check":
            return check(engine)
        if options.command == "check-new":
            return check_new(engine, options.versions)
        return reveal_gold(engine, options.place, options.version, options.write, public=options.public)
    except EvergoldError as error:
        return _complain(error.message)
    except (KeyFileBroken, ScoringError, GoldNotFound, SealBroken) as error:
        return _complain(f"{error}.")
    except SQLAlchemyError as error:
        return _complain(f"The database cannot be used: {getattr(error, 'orig', None) or error}")
    except OSError as error:
        return _complain(f"{error.filename or ''}: {error.strerror or error}.")


def keygen(engine: Engine) -> int:
    """Generate a key, which is used from now on in addition to those in use."""
    before = read_keys(key_file())
    key_id = add_key(engine, key_file(), _now())
    with writing(engine) as session:
        audit.record(session, None, "gold.keygen", f"key {key_id}", now=_now())
    _say(f"Made key {key_id}, in {key_file()}.")
    if before:
        _say("From now on, gold is also sealed for it. Copy the file to every worker, then run `evergold gold rotate`.")
    else:
        _say(
            "Store a copy in a safe place, separate from backups: without it nobody, not even you, can open the "
            "gold again."
        )
    return 0


def rotate_keys(engine: Engine) -> int:
    """Seal everything to the newest key only, and report the result."""
    path = key_file()
    with writing(engine) as session:
        done = rotate(session, path, _now())
        details = {"newest": done.newest, "retired": done.retired, "files": done.files}
        audit.record(session, None, "gold.rotate", "the workers' keys", details, now=_now())
    old = tidy(path, done.newest)  # after the commit: until then the old keys are needed
    if not done.retired and not done.files:
        _say(
            f"Everything is already sealed for {done.newest} alone. For another key, run `evergold gold keygen` first."
        )
        return 0
    _say(f"{done.files} sealed files are now sealed for {done.newest} alone.")
    if done.retired:
        _say(f"Retired: {', '.join(done.retired)}.")
    if old:
        _say(f"The retired keys are in {old}. They open only backups made before now: store them separately.")
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
    """Check versions uploaded on this machine, if the key is here; results are stored in the database."""
    if read_keys(key_file()):
        for version_id in version_ids:
            check_version(engine, version_id)
    return 0


def reveal_gold(engine: Engine, place: str, number: int | None, write: Path | None, *, public: bool) -> int:
    """Print everything needed to verify a commitment.

    public: make the version public first, so that items of runs scored with it from now on may be shown.
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
    _say("\nOnce the content and the salt are public, anybody can check that the gold was never swapped:\n")
    _say(f"  {ONE_LINER} {salt} {write or version.filename}")
    if public:
        _say("\nIt is now sealed as public. If phases.yaml has `gold_is_public: true` for it, teams see the items of")
        _say("submissions scored from now on, and of earlier ones once they are rescored.")
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
