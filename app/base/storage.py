"""Storage of uploads, public and sealed files: a folder, unless settings name a bucket (decision 053).

Nothing for buckets is imported here, so that servers with a folder do not load it.
"""

from __future__ import annotations

from app.base.stores.folder import (
    CHUNK_BYTES as CHUNK_BYTES,
    INTERRUPTED_SECONDS as INTERRUPTED_SECONDS,
    UNLIMITED_BYTES as UNLIMITED_BYTES,
    FolderStorage as FolderStorage,
    UploadWriter as UploadWriter,
    clear_interrupted_uploads as clear_interrupted_uploads,
    has_file as has_file,
    keep_young as keep_young,
    lent_file as lent_file,
    local_file as local_file,
    remove_file as remove_file,
    sha256_of as sha256_of,
    store_file as store_file,
    store_upload as store_upload,
    stored_path as stored_path,
)
from app.base.stores.interface import (
    ASIDE as ASIDE,
    CHECKS as CHECKS,
    Kept as Kept,
    Storage as Storage,
    StoredFile as StoredFile,
    aside_digest as aside_digest,
    aside_name as aside_name,
    check_name as check_name,
    digest_of as digest_of,
    stored_name as stored_name,
)
from app.base.stores.places import (
    sealed_storage_of as sealed_storage_of,
    storage_of as storage_of,
)
