"""Per-item outcomes of runs, for confidence intervals and paired tests; sealed, since they would reveal gold.

Stored as compressed JSON of the task type's `outcomes`. Only workers can open them, and nothing serves them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, selectinload

from app.base.config import get_settings
from app.base.db import reading
from app.base.errors import StorageAway, StorageFull
from app.base.logs import log
from app.base.packing import packed, unpacked
from app.base.storage import local_file, sealed_storage_of
from app.gold.sealing import Sealed, forget_sealed, seal_packed_outcomes
from app.models import ScoringRun, SealedFile, SealedKind
from evergold.scoring.halves import Half
from workers.keys import Keys, key_file, own_recipients, read_keys
from workers.sealed import opened_bytes

#: Key for the outcomes of both parts of divided items; no task type uses it for its own.
_PARTS = "parts"


def seal_outcomes(engine: Engine, outcomes: dict[str, Any] | None) -> Sealed | None:
    """Store the outcomes; None if there are none, or no key to seal them with.

    They are sealed to keys of this worker's own file that are in use: others in the database might be anybody's. Keys
    once found in use are cached until recording fails with KeysChanged, see `ask_for_keys`. If the outcomes cannot be
    stored, the team still gets its scores: the error is logged, and the run has no outcomes.
    """
    if outcomes is None:
        return None
    own = read_keys(key_file())
    recipients = _recipients(engine, own)
    if not recipients:
        log.warning("outcomes_not_sealed", reason="no key of this worker is in use", keys=list(own))
        return None
    kept = packed(outcomes)
    try:
        return seal_packed_outcomes(kept, sealed_storage_of(get_settings()), recipients)
    except (OSError, StorageFull, StorageAway) as error:
        log.error("outcomes_not_stored", error=str(error))
        return None


def ask_for_keys() -> None:
    """Clear the cache of keys in use."""
    _in_use.clear()


#: This worker's own keys that were in use at the last look-up.
_in_use: set[str] = set()


def _recipients(engine: Engine, own: Keys) -> dict[str, bytes]:
    if own.keys() <= _in_use:
        return {key_id: bytes(key.public_key) for key_id, key in own.items()}
    with reading(engine) as session:
        recipients = own_recipients(session, own)
    _in_use.update(recipients)
    return recipients


def in_parts(public: dict[str, Any] | None, private: dict[str, Any] | None) -> dict[str, Any] | None:
    """Combine the outcomes of both parts of the items; None if the task type has none."""
    return None if public is None or private is None else {_PARTS: {Half.PUBLIC: public, Half.PRIVATE: private}}


def forget_outcomes(sealed: Sealed | None) -> None:
    """Delete outcomes that no run references."""
    if sealed is not None:
        forget_sealed(sealed, sealed_storage_of(get_settings()))


def read_outcomes(session: Session, run_id: int, of: Half = Half.PUBLIC) -> dict[str, Any] | None:
    """Return the outcomes of a run.

    None if none are stored, or for the private part of items that were not divided. Raises NoKeyForIt, SealBroken,
    OSError.
    """
    query = (
        select(SealedFile)
        .join(ScoringRun, ScoringRun.outcomes_id == SealedFile.id)
        .where(ScoringRun.id == run_id)
        .options(selectinload(SealedFile.keys))
    )
    file = session.scalar(query)
    if file is None:
        return None
    sealed_keys = {key.key_id: key.sealed_key for key in file.keys}
    path = local_file(sealed_storage_of(get_settings()), file.sha256)
    kept = opened_bytes(path, SealedKind.OUTCOMES, sealed_keys, read_keys(key_file()))
    outcomes: dict[str, Any] = unpacked(kept)
    parts: dict[str, dict[str, Any]] = outcomes.get(_PARTS, {Half.PUBLIC: outcomes})
    return parts.get(of)
