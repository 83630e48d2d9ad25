"""Everything that a run reads from storage, on this machine's disk before the run begins: there it has no network.

Where files lie in a folder there is nothing to do. What is not there is no matter here: whoever reads it says so.
"""

from __future__ import annotations

from contextlib import suppress

from app.base.config import get_settings
from app.base.storage import Storage, check_name, sealed_storage_of, storage_of, stored_name
from app.runs.claims import Claim, SealedGold
from app.runs.validations import CheckClaim


def fetch(claim: Claim | CheckClaim) -> None:
    """The file, the blind items and the sealed gold of a claim. Raises StorageAway, StorageDamaged."""
    name = check_name(claim.validation_id) if isinstance(claim, CheckClaim) else stored_name(claim.sha256)
    _fetch(storage_of(get_settings()), name, claim.sha256)
    fetch_gold(claim.sealed_gold, claim.items_sha256)


def fetch_gold(sealed: SealedGold | None, items_sha256: str | None) -> None:
    """A version of gold, and the blind items that it has to fit."""
    if items_sha256 is not None:
        _fetch(storage_of(get_settings()), stored_name(items_sha256), items_sha256)
    if sealed is not None:
        _fetch(sealed_storage_of(get_settings()), stored_name(sealed.sha256), sealed.sha256)


def _fetch(storage: Storage, name: str, sha256: str) -> None:
    with suppress(FileNotFoundError):
        storage.path(name, sha256)
