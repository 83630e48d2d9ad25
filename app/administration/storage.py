"""Storage of the whole server: files by competition and kind, free space, and unreferenced files."""

from __future__ import annotations

import shutil

from sqlalchemy import Engine, Select, func, literal, select
from sqlalchemy.orm import Session

from app.administration.operations_views import SpaceOut, StorageOut, StoredOut, UnownedOut
from app.base.config import Settings
from app.base.db import in_batches
from app.base.storage import ASIDE, aside_digest, digest_of, sealed_storage_of, storage_of
from app.competitions.organisers import declared_files
from app.models import (
    BlueprintFile,
    Competition,
    GoldVersion,
    Phase,
    PhaseTask,
    PublicFile,
    ScoringRun,
    SealedFile,
    Submission,
)
from app.operations.unowned import named_in_tables

_BATCH = 500
DRAFTS = ""


def storage_now(session: Session, settings: Settings) -> StorageOut:
    """Return sizes by competition and kind, and free space; `count_unowned` counts unreferenced files."""
    stored = [
        StoredOut(competition=name, kind=kind, files=files, size_bytes=int(size or 0))
        for kind, query in _kinds().items()
        for name, files, size in session.execute(query)
    ]
    stored.sort(key=lambda one: (-one.size_bytes, one.competition, one.kind))
    return StorageOut(stored=stored, space=space_of(settings), unowned=None)


def count_unowned(engine: Engine, settings: Settings) -> UnownedOut:
    """Return the number and size of stored files that no row references, which lists the whole storage. Raises
    StorageAway.
    """
    files = size = aside_files = aside_size = 0
    for storage in (storage_of(settings), sealed_storage_of(settings)):
        found = ((digest, kept) for kept in storage.listed() if (digest := digest_of(kept.name)))
        for batch in in_batches(found, _BATCH):
            named = named_in_tables(engine, [digest for digest, _ in batch])
            for digest, kept in batch:
                if digest not in named:
                    files, size = files + 1, size + kept.size_bytes
        for kept in storage.listed(f"{ASIDE}/"):
            if aside_digest(kept.name):
                aside_files, aside_size = aside_files + 1, aside_size + kept.size_bytes
    return UnownedOut(
        files=files + aside_files, size_bytes=size + aside_size, aside_files=aside_files, aside_bytes=aside_size
    )


def space_of(settings: Settings) -> list[SpaceOut]:
    """Return the space of each file system, once if several folders share it; none for a bucket."""
    spaces, seen = [], set()
    for name, folder in (("data", settings.data_dir), ("files", settings.storage_dir), ("gold", settings.sealed_dir)):
        if not folder.is_dir() or (device := folder.stat().st_dev) in seen:
            continue
        seen.add(device)
        usage = shutil.disk_usage(folder)
        spaces.append(SpaceOut(folder=name, free_bytes=usage.free, total_bytes=usage.total))
    return spaces


def _kinds() -> dict[str, Select[str, int, int]]:
    of_phase = select(Competition.name, func.count()).join(Phase, Phase.competition_id == Competition.id)
    of_task = of_phase.join(PhaseTask, PhaseTask.phase_id == Phase.id)
    sent = of_task.join(Submission, Submission.phase_task_id == PhaseTask.id)
    items = sent.join(ScoringRun, ScoringRun.submission_id == Submission.id)
    revised = declared_files().subquery()
    return {
        "submissions": sent.add_columns(func.sum(Submission.size_bytes))
        .where(Submission.file_cleared_at.is_(None))
        .group_by(Competition.name),
        "files to download": of_task.join(PublicFile, PublicFile.phase_task_id == PhaseTask.id)
        .add_columns(func.sum(PublicFile.size_bytes))
        .group_by(Competition.name),
        "sealed gold": of_task.join(GoldVersion, GoldVersion.phase_task_id == PhaseTask.id)
        .join(SealedFile, SealedFile.id == GoldVersion.sealed_file_id)
        .add_columns(func.sum(SealedFile.size_bytes))
        .group_by(Competition.name),
        "sealed item scores": items.join(SealedFile, SealedFile.id == ScoringRun.outcomes_id)
        .add_columns(func.sum(SealedFile.size_bytes))
        .group_by(Competition.name),
        "declarations": select(Competition.name, func.count(), func.sum(revised.c.size_bytes))
        .join(revised, revised.c.competition_id == Competition.id)
        .group_by(Competition.name),
        "drafts": select(literal(DRAFTS), func.count(), func.sum(BlueprintFile.size_bytes)).having(func.count() > 0),
    }
