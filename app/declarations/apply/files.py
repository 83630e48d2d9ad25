"""Public files of a task in a phase: copied into storage under their sha256 and listed for download.

These are the declared files, followed by a template generated from the items if the organisers declare none. Files that
phases.yaml no longer declares are removed if nothing was ever submitted, and otherwise kept.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from sqlalchemy import delete, select

from app.base.storage import Storage, StoredFile, keep_young, store_file, store_upload, stored_name
from app.boards.statistics_work import forget_statistics
from app.declarations.apply.changes import Work
from app.declarations.downloads import declared_downloads
from app.declarations.model import CompetitionDeclaration, DownloadDeclaration, PhaseTaskDeclaration
from app.declarations.values import START
from app.models import (
    Allowance,
    Audience,
    Board,
    BoardStatistics,
    Competition,
    CompetitionTask,
    EntryChoice,
    GoldPower,
    HistoricRow,
    KeptBoard,
    Phase,
    PhaseTask,
    PublicFile,
    Snapshot,
    StatisticsWork,
    Submission,
    Tally,
    WebhookBoard,
)
from app.standings.renew import forget_board
from evergold.scoring.errors import ScoringError
from evergold.scoring.program.packing import pack
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

TITLE = "Submission template"
#: A declared download with this word in its file name or title counts as a template: then none is generated.
WORD = "template"
#: Maximum size of items from which a template is generated: `apply` stays quick, and teams with larger data use
#: programs.
ITEMS_LIMIT_BYTES = 16 * 1024 * 1024
#: Maximum size of a template: with settings and levels it is longer than the items.
TEMPLATE_LIMIT_BYTES = 4 * ITEMS_LIMIT_BYTES


def made_template(
    phase_task: PhaseTask, task: CompetitionTask, declared: PhaseTaskDeclaration, folder: Path
) -> tuple[str, bytes] | None:
    """Return file name and content of the template; None if none has to be generated."""
    type_ = TASKS[task.task_type]
    if declared.items is None or type_.template_name is None or any(_is_template(one) for one in declared.downloads):
        return None
    path = folder / declared.items
    if path.stat().st_size > ITEMS_LIMIT_BYTES:
        return None
    try:
        options = read_options(type_, phase_task.options_of(task))
        text = type_.template(type_.read_items(path, options), options)
    except ScoringError:  # `check` reports it; an edit that is applied again may be older than this version of the task
        return None
    content = (text or "").encode()
    return (type_.template_name, content) if 0 < len(content) <= TEMPLATE_LIMIT_BYTES else None


def _is_template(download: DownloadDeclaration) -> bool:
    return WORD in f"{PurePosixPath(download.file).name} {download.title}".lower()


_UNUSED = "nothing was ever submitted to it"
_USED = "is no longer declared but has submissions"


def note_missing_competitions(work: Work, declared: set[str]) -> None:
    """Note competitions that are no longer declared.

    They are never removed, because their file may be missing only temporarily. Competitions with an owner never had a
    file.
    """
    from_files = select(Competition.name).where(Competition.owner_id.is_(None))
    for name in work.session.scalars(from_files.order_by(Competition.position, Competition.id)):
        if name not in declared:
            work.changes.note(f"left alone: competition '{name}' is no longer declared")


def handle_removed(work: Work, competition: Competition, declared: CompetitionDeclaration) -> None:
    """Handle phase tasks, phases, boards and tasks that are no longer declared."""
    _settle_phase_tasks(work, competition, declared)
    _settle_phases(work, competition, {phase.name for phase in declared.phases})
    used = _settle_tasks(work, competition, {task.name for task in declared.tasks})
    _settle_boards(work, competition, {board.name for board in declared.boards}, used)
    work.session.flush()
    for task in work.session.scalars(select(CompetitionTask).where(CompetitionTask.competition_id == competition.id)):
        if task.id not in used:
            work.session.delete(task)
            work.changes.add(f"removed task '{task.name}' of '{competition.name}': {_UNUSED}")
    work.session.flush()


def _settle_phase_tasks(work: Work, competition: Competition, declared: CompetitionDeclaration) -> None:
    wanted = {(phase.name, task) for phase in declared.phases for task in phase.tasks}
    rows = work.session.execute(
        select(PhaseTask, Phase.name, CompetitionTask.name)
        .join(Phase, Phase.id == PhaseTask.phase_id)
        .join(CompetitionTask, CompetitionTask.id == PhaseTask.task_id)
        .where(Phase.competition_id == competition.id)
        .order_by(PhaseTask.id)
    ).all()
    for phase_task, phase, task in rows:
        what = f"'{task}' in phase '{phase}' of '{competition.name}'"
        if (phase, task) in wanted:
            continue
        if work.session.scalar(select(Submission.id).where(Submission.phase_task_id == phase_task.id).limit(1)):
            work.changes.note(f"left alone: {what} {_USED}")
            continue
        work.session.execute(delete(PublicFile).where(PublicFile.phase_task_id == phase_task.id))
        for table in (KeptBoard, Tally, BoardStatistics, GoldPower, StatisticsWork):
            work.session.execute(delete(table).where(table.phase_task_id == phase_task.id))
        work.session.delete(phase_task)
        work.changes.add(f"removed task {what}: {_UNUSED}")
    work.session.flush()


def _settle_phases(work: Work, competition: Competition, declared: set[str]) -> None:
    used = select(PhaseTask.phase_id).join(Phase, Phase.id == PhaseTask.phase_id)
    used_ids = set(work.session.scalars(used.where(Phase.competition_id == competition.id)))
    for phase in work.session.scalars(select(Phase).where(Phase.competition_id == competition.id)):
        what = f"phase '{phase.name}' of '{competition.name}'"
        if phase.name in declared:
            continue
        if phase.id in used_ids:
            work.changes.note(f"left alone: {what} {_USED}")
            continue
        work.session.refresh(phase, with_for_update=True)  # so that no webhook notes one of its boards any more
        for table in (HistoricRow, Allowance, WebhookBoard):
            work.session.execute(delete(table).where(table.phase_id == phase.id))
        work.session.delete(phase)
        work.changes.add(f"removed {what}: {_UNUSED}")


def _settle_tasks(work: Work, competition: Competition, declared: set[str]) -> dict[int, bool]:
    """Return the tasks that stay, by id: True if declared, False if only still in use.

    The caller removes the others, after their boards.
    """
    in_use = set(work.session.scalars(select(PhaseTask.task_id)))
    tasks = work.session.scalars(select(CompetitionTask).where(CompetitionTask.competition_id == competition.id)).all()
    for task in tasks:
        if task.name not in declared and task.id in in_use:
            work.changes.note(f"left alone: task '{task.name}' of '{competition.name}' {_USED}")
    return {task.id: task.name in declared for task in tasks if task.name in declared or task.id in in_use}


def _settle_boards(work: Work, competition: Competition, declared: set[str], tasks: dict[int, bool]) -> None:
    """Remove boards that are no longer declared, unless the whole task is kept or they have official results."""
    for board in work.session.scalars(select(Board).where(Board.competition_id == competition.id)).all():
        what = f"board '{board.name}' of '{competition.name}'"
        if board.name in declared:
            continue
        if tasks.get(board.task_id) is False:
            work.changes.note(f"left alone: {what}, because its task is")
            continue
        if work.session.scalar(select(Snapshot.id).where(Snapshot.board_id == board.id).limit(1)):
            work.changes.note(f"left alone: {what} is no longer declared but has official results")
            continue
        work.session.refresh(board, with_for_update=True)  # so that no webhook notes it any more
        for table in (EntryChoice, WebhookBoard):
            work.session.execute(delete(table).where(table.board_id == board.id))
        forget_board(work.session, board.id)
        forget_statistics(work.session, board.id)
        work.session.execute(delete(HistoricRow).where(HistoricRow.board_id == board.id))
        work.session.delete(board)
        work.changes.add(f"removed {what}")


@dataclass(frozen=True, slots=True)
class _Offered:
    """A download.

    available: "now" or a time as text, None for the start of the phase; audience: as declared; origin: text appended to
    the reported change.
    """

    name: str
    title: str
    file: StoredFile
    available: str | None = None
    audience: Audience | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class DeclaredPhaseTask:
    """A task in a phase with its declaration, the folder of its files, and its name in reported changes (`what`)."""

    row: PhaseTask
    task: CompetitionTask
    declared: PhaseTaskDeclaration
    folder: Path
    what: str


def apply_public_files(work: Work, here: DeclaredPhaseTask) -> None:
    """Apply the blind file with which predictions are checked, all downloads, and a template."""
    downloads, items = declared_downloads(here.declared), here.declared.items
    stored = {download.file: keep(work, here.folder / download.file) for download in downloads}
    _apply_items(work, here, stored[items].sha256 if items else None)
    offered = [_offered(one, stored[one.file]) for one in downloads]
    offered += _made(work, here, offered)
    query = select(PublicFile).where(PublicFile.phase_task_id == here.row.id)
    existing = {row.name: row for row in work.session.scalars(query)}
    for position, one in enumerate(offered):
        _apply_download(work, here, existing.pop(one.name, None), one, position)
    for name, row in existing.items():
        work.session.delete(row)
        work.changes.add(f"removed download '{name}' of {here.what}")
    _apply_access(work, here, offered)


def _offered(declared: DownloadDeclaration, file: StoredFile) -> _Offered:
    return _Offered(
        PurePosixPath(declared.file).name, declared.title, file, _available(declared.available_from), declared.audience
    )


def _available(declared: datetime | str | None) -> str | None:
    """Return the time, or the name of a time, from which files are available; None: from the start."""
    return declared.isoformat() if isinstance(declared, datetime) else None if declared == START else declared


def _apply_access(work: Work, here: DeclaredPhaseTask, offered: Sequence[_Offered]) -> None:
    """Update availability and audience of the files that declare them."""
    values = {
        "files_from": {one.name: one.available for one in offered if one.available},
        "files_for": {one.name: one.audience.value for one in offered if one.audience},
    }
    work.changes.update(here.row, here.what, values)


def keep(work: Work, path: Path) -> StoredFile:
    """Store a declared file and return it, reading it only once even if several names refer to it; a plan stores
    nothing.
    """
    if path not in work.kept:
        work.kept[path] = _looked_at(path) if work.is_plan else keep_file(path, work.storage)
    return work.kept[path]


def keep_declared(work: Work, folder: Path, path: str, programs: Collection[str]) -> StoredFile:
    """Store a file that a declaration names, and return it; a program in a folder or zip is stored as one file."""
    return keep_program(work, folder / path) if path in programs else keep(work, folder / path)


def keep_program(work: Work, path: Path) -> StoredFile:
    """Store a program and return its file; the same files always yield the same package. A plan stores nothing."""
    if path not in work.kept:
        with tempfile.TemporaryDirectory(prefix="evergold-program-") as folder:
            packed = Path(folder, "program.zip")
            pack(path, packed)
            work.kept[path] = _looked_at(packed) if work.is_plan else keep_file(packed, work.storage)
    return work.kept[path]


def keep_file(path: Path, storage: Storage) -> StoredFile:
    """Store a file as `store_file` does and return it, but skip stored files, so that applying again is quick."""
    file = _looked_at(path)
    return file if _is_kept(file, storage) else store_file(path, storage)


def _is_kept(file: StoredFile, storage: Storage) -> bool:
    kept = storage.find(stored_name(file.sha256))
    return kept is not None and kept.size_bytes == file.size_bytes and keep_young(storage, file.sha256)


def _looked_at(path: Path) -> StoredFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return StoredFile(sha256, path.stat().st_size)


def _made(work: Work, here: DeclaredPhaseTask, offered: list[_Offered]) -> Iterator[_Offered]:
    """Yield the generated template, unless a declared file has its name or content."""
    if (made := made_template(here.row, here.task, here.declared, here.folder)) is None:
        return
    name, content = made
    file = StoredFile(hashlib.sha256(content).hexdigest(), len(content))
    if any(one.name == name or one.file == file for one in offered):
        return
    if not work.is_plan and not _is_kept(file, work.storage):
        store_upload([content], work.storage, limit_bytes=len(content))
    items = next(one for one in offered if one.name == PurePosixPath(here.declared.items or "").name)
    yield _Offered(name, TITLE, file, items.available, items.audience, ", made from the items")


def _apply_items(work: Work, here: DeclaredPhaseTask, sha256: str | None) -> None:
    phase_task = here.row
    if phase_task.items_sha256 == sha256:
        return
    verb = "replaced" if sha256 and phase_task.items_sha256 else "set" if sha256 else "took away"
    phase_task.items_sha256 = sha256
    has_submissions = select(Submission.id).where(Submission.phase_task_id == phase_task.id).limit(1)
    stay = "; submissions that were scored stay as they are" if work.session.scalar(has_submissions) else ""
    work.changes.add(f"{verb} the items of {here.what}{stay}")


def _apply_download(
    work: Work, here: DeclaredPhaseTask, row: PublicFile | None, offered: _Offered, position: int
) -> None:
    """Add the download, or change its row. row: the one of this name, if there is one."""
    name, title, file = offered.name, offered.title, offered.file
    if row is None:
        work.session.add(
            PublicFile(
                phase_task_id=here.row.id,
                name=name,
                title=title,
                sha256=file.sha256,
                size_bytes=file.size_bytes,
                position=position,
            )
        )
        work.changes.add(f"added download '{name}' to {here.what}{offered.origin}")
        return
    if row.sha256 != file.sha256:
        row.sha256, row.size_bytes = file.sha256, file.size_bytes
        work.changes.add(f"replaced download '{name}' of {here.what}{offered.origin}")
    work.changes.update(row, f"download '{name}' of {here.what}", {"title": title, "position": position})
