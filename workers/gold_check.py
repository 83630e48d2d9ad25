"""Whether everything that is sealed, and every gold that phases need, can be opened and read by this worker."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from app.base.config import get_settings
from app.base.storage import stored_path
from app.gold.plain import is_listed_public
from app.gold.versions import list_gold, place_of
from app.models import Phase, PhaseTask, SealedFile, WorkerKey
from app.runs.claims import sealed_gold
from evergold.scoring.errors import ScoringError
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task
from workers.gold import OpenGold, gold_folder, read_gold, read_sealed_gold
from workers.gold_errors import GoldNotFound, SealBroken
from workers.keys import KeyFileBroken, Keys, NoKeyForIt, open_file_key, read_keys


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at; fault: None where it is in order."""

    what: str
    fault: str | None


def check_gold(session: Session, path: Path) -> list[Checked]:
    """The key file, every sealed file's key, and the gold of every task in every phase, read as for scoring."""
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
    return found + [_check_phase_task(session, phase_task) for phase_task in session.scalars(query)]


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
    """Every sealed file is there, and its key opens; what is in it is read only where a phase needs it."""
    total, faults = 0, []
    query = select(SealedFile).options(selectinload(SealedFile.keys)).execution_options(yield_per=500)
    for file in session.scalars(query):
        total += 1
        try:
            open_file_key({key.key_id: key.sealed_key for key in file.keys}, keys)
        except NoKeyForIt as error:
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", str(error)))
            continue
        if foreign := [key.key_id for key in file.keys if key.key_id not in keys]:
            whose = f"also sealed to {', '.join(foreign)}, which this worker's key file does not have: whose is it?"
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", whose))
        if not stored_path(get_settings().sealed_dir, file.sha256).is_file():
            faults.append(Checked(f"sealed file {file.sha256[:12]}… ({file.kind})", "the file is not there"))
    return [*faults, Checked(f"{total} sealed files", None)] if total else []


def _check_phase_task(session: Session, phase_task: PhaseTask) -> Checked:
    place = place_of(phase_task)
    published = [version for version in list_gold(session, phase_task) if version.published_at is not None]
    if not published and phase_task.gold is None:
        return Checked(f"{place}: no gold yet", None)
    what = f"gold version {published[-1].number}" if published else f"plain gold {phase_task.gold}"
    try:
        task = get_task(phase_task.task.task_type)
        options = read_options(task, {**phase_task.task.options, **phase_task.options})
        if published:
            opened = read_sealed_gold(task, options, sealed_gold(session, published[-1].id))
        else:
            name = phase_task.gold or ""
            opened = OpenGold(read_gold(task, options, name), is_listed_public(gold_folder(), name))
    except (ScoringError, GoldNotFound, SealBroken, OSError) as error:
        return Checked(f"{place}: {what}", str(error))
    return Checked(f"{place}: {what}{_remarks(phase_task, opened, is_sealed=bool(published))}", None)


def _remarks(phase_task: PhaseTask, opened: OpenGold, *, is_sealed: bool) -> str:
    """What is in order, and worth knowing."""
    remarks = []
    if is_sealed and not opened.is_bound:
        remarks.append("sealed by an older Evergold for no certain place, always hidden; put it again to bind it")
    if phase_task.gold_is_public and not opened.is_public:
        remarks.append("declared public, but hidden here: items are not shown")
    return f" ({'; '.join(remarks)})" if remarks else ""
