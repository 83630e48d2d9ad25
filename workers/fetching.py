"""Fetching of all that a run reads from storage to the local disk before it starts: during the run it has no network.

Nothing to do if files are in a local folder. Missing files are ignored here; reading them reports the error.
"""

from __future__ import annotations

from contextlib import suppress

from app.base.config import get_settings
from app.base.storage import Storage, check_name, sealed_storage_of, storage_of, stored_name
from app.runs.claims import Claim, SealedGold
from app.runs.validations import CheckClaim


def fetch(claim: Claim | CheckClaim) -> None:
    """Fetch the file, blind items and sealed gold of a claim. Raises StorageAway, StorageDamaged."""
    name = check_name(claim.validation_id) if isinstance(claim, CheckClaim) else stored_name(claim.sha256)
    _fetch(storage_of(get_settings()), name, claim.sha256)
    fetch_gold(claim.sealed_gold, claim.items_sha256)


def fetch_gold(sealed: SealedGold | None, items_sha256: str | None) -> None:
    """Fetch a gold version and the blind items that it has to match."""
    if items_sha256 is not None:
        _fetch(storage_of(get_settings()), stored_name(items_sha256), items_sha256)
    if sealed is not None:
        _fetch(sealed_storage_of(get_settings()), stored_name(sealed.sha256), sealed.sha256)


def _fetch(storage: Storage, name: str, sha256: str) -> None:
    with suppress(FileNotFoundError):
        storage.path(name, sha256)
