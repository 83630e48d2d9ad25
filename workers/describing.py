"""Reports the columns of sealed gold to organisers whose browser runs no script that reads them: names, counts, few
values.

Only gold whose binding allows it is described: the uploader's choice is fixed when the file is sealed, so that write
access to the database does not suffice to have other gold described.
"""

from __future__ import annotations

from app.declarations.setup.columns import description_of
from app.gold.binding import LINE_BYTES, read_binding
from app.runs.claims import SealedGold
from workers.gold import open_sealed_gold, private_folder, sealed_path


def described(sealed: SealedGold) -> str | None:
    """Return the columns of a version as JSON; None if its binding does not allow it, or it is not a table.

    Raises the errors of opening gold.
    """
    path = sealed_path(sealed)
    with path.open("rb") as file:
        claimed = read_binding(file.readline(LINE_BYTES))
    if claimed is None or not claimed.is_described:
        return None
    with private_folder(path.stat().st_size) as folder:
        with (folder / "gold").open("wb") as clear:
            opened = open_sealed_gold(sealed, clear)
        if opened.binding is None or not opened.binding.is_described:
            return None
        return description_of((folder / "gold").read_bytes())
