"""Keys and sealed gold for tests, by short calls."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from nacl.public import PrivateKey
from sqlalchemy import Engine, select
from sqlalchemy.orm import selectinload

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import UNLIMITED_BYTES, FolderStorage, stored_path
from app.competitions.find import find_phase_task
from app.gold.binding import Binding, options_digest
from app.gold.checks import record_valid_gold
from app.gold.recorded import current_keys
from app.gold.sealing import Sealed, SealingWriter, key_id_of, write_content
from app.gold.versions import bind_gold, put_gold
from app.models import GoldCheck, GoldVersion, PhaseTask, ScoringRun, SealedFile, SealedKind
from tests.world import COMPETITION, NOW, PHASE, TASK
from workers.keys import add_key, key_file

PLACE = f"{COMPETITION}/{PHASE}/{TASK}"


def a_key() -> tuple[str, PrivateKey]:
    """Return a private key and its id."""
    key = PrivateKey.generate()
    return key_id_of(bytes(key.public_key)), key


BINDING = Binding(COMPETITION, TASK, "idiom-detection", {PHASE: 1}, {PHASE: options_digest({})})


def sealed_in(
    folder: Path, content: bytes, *keys: PrivateKey, what: Binding | Literal[SealedKind.OUTCOMES] = BINDING
) -> Sealed:
    """Return content sealed for these keys."""
    recipients = {key_id_of(bytes(key.public_key)): bytes(key.public_key) for key in keys}
    writer = SealingWriter(FolderStorage(folder), UNLIMITED_BYTES, what=what, recipients=recipients)
    writer.write(content)
    writer.finish()
    return writer.sealed


def make_key(engine: Engine) -> str:
    """Do what `evergold gold keygen` does."""
    return add_key(engine, key_file(), NOW)


def seal_gold(
    engine: Engine,
    content: bytes | Path,
    *,
    publish: bool | None = None,
    public: bool = False,
    checked: bool = True,
    places: Sequence[str] = (PLACE,),
    reader: str | None = None,
    described: bool = False,
) -> GoldVersion:
    """Do what `evergold gold put` does; return the last place's version. checked: True if a worker has found it right,
    whatever it contains.
    """
    folder = get_settings().sealed_dir
    with reading(engine) as session:
        keys = current_keys(session)
        asked = [find_phase_task(session, *place.split("/")) for place in places]
        binding = replace(bind_gold(session, asked, is_public=public), reader=reader, is_described=described)
    writer = SealingWriter(FolderStorage(folder), UNLIMITED_BYTES, what=binding, recipients=keys)
    if isinstance(content, Path):
        write_content(content, writer)
    else:
        writer.write(content)
    writer.finish()
    with writing(engine) as session:
        found: list[PhaseTask] = [find_phase_task(session, *place.split("/")) for place in places]
        versions = put_gold(session, found, writer.sealed, filename="gold.csv", publish=publish, user=None, now=NOW)
    if checked:
        call_right(engine, *(version.id for version in versions))
    with reading(engine) as session:
        return session.get_one(GoldVersion, versions[-1].id)


def call_right(engine: Engine, *version_ids: int) -> None:
    """Accept these versions, or all that wait, as a worker does that found nothing wrong with them."""
    with writing(engine) as session:
        waiting = select(GoldVersion.id).where(GoldVersion.check_state == GoldCheck.WAITING)
        for version_id in version_ids or session.scalars(waiting.order_by(GoldVersion.id)).all():
            record_valid_gold(session, version_id, NOW)


def version_of(engine: Engine, run_id: int) -> int | None:
    """Return the number of the gold version against which a run was scored."""
    query = select(GoldVersion.number).join(ScoringRun, ScoringRun.gold_version_id == GoldVersion.id)
    with reading(engine) as session:
        return session.scalar(query.where(ScoringRun.id == run_id))


def file_and_keys(engine: Engine, sha256: str) -> tuple[Path, dict[str, bytes]]:
    """Return the path of a sealed file, and its key as sealed for each of the workers' keys."""
    with reading(engine) as session:
        query = select(SealedFile).where(SealedFile.sha256 == sha256).options(selectinload(SealedFile.keys))
        file = session.scalars(query).one()
        return stored_path(get_settings().sealed_dir, sha256), {key.key_id: key.sealed_key for key in file.keys}


def files_with(folder: Path, planted: bytes) -> list[str]:
    """Return the path of every file below a folder that contains these bytes."""
    found = []
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            with suppress(FileNotFoundError):  # of tests beside this one, in /dev/shm
                if path.is_file() and planted in path.read_bytes():
                    found.append(os.fspath(path.relative_to(folder)))
    return sorted(found)
