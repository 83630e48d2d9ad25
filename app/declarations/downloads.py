"""What a declaration offers for download: what is listed, after the items where these are not among it."""

from __future__ import annotations

from app.declarations.model import DownloadDeclaration, PhaseTaskDeclaration

#: The title of the blind file, unless it is listed under downloads with a title of its own.
ITEMS_TITLE = "Items"


def declared_downloads(declared: PhaseTaskDeclaration) -> list[DownloadDeclaration]:
    """The declared downloads, after the items where these are not among them."""
    downloads = list(declared.downloads)
    if declared.items and all(download.file != declared.items for download in downloads):
        downloads.insert(0, DownloadDeclaration(file=declared.items, title=ITEMS_TITLE))
    return [_with_items_access(one, declared) if one.file == declared.items else one for one in downloads]


def _with_items_access(download: DownloadDeclaration, declared: PhaseTaskDeclaration) -> DownloadDeclaration:
    """The items under a title of their own are still the items: what is said there comes first, then what is said of
    them."""
    return download.model_copy(
        update={
            "available_from": download.available_from or declared.items_from,
            "audience": download.audience or declared.items_for,
        }
    )
