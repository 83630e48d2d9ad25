"""Images in texts of a competition: re-encoded from the declared files and then shown.

They are not part of the declaration, like templates: its history and exports have the original files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import delete

from app.base.storage import store_upload
from app.declarations.apply.changes import Work
from app.declarations.apply.files import keep
from app.declarations.images.making import InvalidImage, make_image
from app.declarations.images.texts import declared_images
from app.declarations.model import CompetitionDeclaration
from app.models import Competition, ImageFile


def apply_images(work: Work, row: Competition, declared: CompetitionDeclaration, folder: Path) -> None:
    """Create missing images. Raises InvalidImage with the name of the file."""
    shown = {path: _shown(work, row, folder, path) for path in declared_images(declared)}
    if shown == row.images:
        return
    for path in shown.keys() - row.images.keys():
        work.changes.add(f"added the image '{path}' of '{declared.name}'")
    for path in row.images.keys() - shown.keys():
        work.changes.add(f"removed the image '{path}' of '{declared.name}'")
    for path in shown.keys() & row.images.keys():
        if shown[path] != row.images[path]:
            work.changes.add(f"replaced the image '{path}' of '{declared.name}'")
    row.images = shown
    work.session.execute(delete(ImageFile).where(ImageFile.competition_id == row.id))
    named = {one["sha256"] for one in shown.values()}
    work.session.add_all(ImageFile(competition_id=row.id, sha256=sha256) for sha256 in sorted(named))


def _shown(work: Work, row: Competition, folder: Path, path: str) -> dict[str, Any]:
    """Return the entry for `Competition.images`."""
    source = keep(work, folder / path).sha256
    there: dict[str, Any] = row.images.get(path, {})
    if there.get("source") == source:
        return there
    try:
        made = make_image(folder / path)
    except InvalidImage as invalid:
        raise InvalidImage(f"The image {path} cannot be shown. {invalid.message}") from None
    sha256 = source
    if not work.is_plan:
        sha256 = store_upload([made.content], work.storage, limit_bytes=len(made.content)).sha256
    said = {"type": made.media_type, "width": made.width, "height": made.height}
    return {"source": source, "sha256": sha256, **said}
