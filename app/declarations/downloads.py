"""The downloads of a declaration: the listed ones, preceded by the items if these are not listed."""

from __future__ import annotations

from app.declarations.model import DownloadDeclaration, PhaseTaskDeclaration

#: Title of the blind file, unless it is listed under downloads with its own title.
ITEMS_TITLE = "Items"


def declared_downloads(declared: PhaseTaskDeclaration) -> list[DownloadDeclaration]:
    """Return the declared downloads, preceded by the items if these are not among them."""
    downloads = list(declared.downloads)
    if declared.items and all(download.file != declared.items for download in downloads):
        downloads.insert(0, DownloadDeclaration(file=declared.items, title=ITEMS_TITLE))
    return [_with_items_access(one, declared) if one.file == declared.items else one for one in downloads]


def _with_items_access(download: DownloadDeclaration, declared: PhaseTaskDeclaration) -> DownloadDeclaration:
    """Return a listed download of the items with their access settings, unless it has its own."""
    return download.model_copy(
        update={
            "available_from": download.available_from or declared.items_from,
            "audience": download.audience or declared.items_for,
        }
    )
