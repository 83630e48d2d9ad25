"""Check that this worker can open and read everything sealed and all gold that phases need."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from app.base.config import get_settings
from app.base.errors import StorageAway, StorageDamaged
from app.base.storage import has_file, sealed_storage_of
from app.gold.plain import is_listed_public
from app.gold.versions import list_gold, place_of
from app.models import GoldVersion, Phase, PhaseTask, SealedFile, WorkerKey
from app.runs.claims import sealed_gold
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import get_task
from workers.gold import OpenGold, gold_folder, read_gold, read_sealed_gold
from workers.gold_errors import GoldNotFound, SealBroken
from workers.gold_fit import items_misfits
from workers.keys import KeyFileBroken, Keys, NoKeyForIt, open_file_key, read_keys


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of one check; fault: None if it passed."""

    what: str
    fault: str | None


def check_gold(session: Session, path: Path) -> list[Checked]:
    """Check the key file, the key of every sealed file, and the gold of every phase's tasks, read as for scoring."""
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
        fault = None if key.key_id in keys else "not in this worker's key file: whose is it? New gold is sealed to it"
        found.append(Checked(f"key {key.key_id}", fault))
    return found


def _check_sealed(session: Session, keys: Keys) -> list[Checked]:
    """Check that every sealed file exists and that its key opens; contents are read only where a phase needs them."""
    total, faults = 0, []
    for file in _sealed_files(session):
        total += 1
        try:
            open_file_key({key.key_id: key.sealed_key for key in file.keys}, keys)
        except NoKeyForIt as error:
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", str(error)))
            continue
        if foreign := [key.key_id for key in file.keys if key.key_id not in keys]:
            whose = f"also sealed to {', '.join(foreign)}, which this worker's key file does not have: whose is it?"
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", whose))
        if not has_file(sealed_storage_of(get_settings()), file.sha256):
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", "the file is not there"))
    return [*faults, Checked(f"{total} sealed files", None)] if total else []


def _sealed_files(session: Session) -> Iterator[SealedFile]:
    """Yield all sealed files with their keys, in batches: without a transaction, PostgreSQL keeps no cursor open."""
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
    """Read gold as for scoring, compare it with the blind items, and report problems in full."""
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
    """Format remarks on gold that passed."""
    remarks = []
    if opened.is_sealed and opened.binding is None:
        remarks.append("sealed by an older Evergold for no certain place, always hidden; put it again to bind it")
    if phase_task.gold_is_public and not opened.is_public:
        remarks.append("declared public, but hidden here: items are not shown")
    return f" ({'; '.join(remarks)})" if remarks else ""
