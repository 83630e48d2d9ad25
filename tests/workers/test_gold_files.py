"""Gold as task types read it: what is unpacked, and what is refused."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from evergold.scoring.errors import InvalidGold, Problem
from workers.gold import laid_out


def test_gold_in_an_empty_archive_is_refused_as_gold(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    with tarfile.open(path, "w") as archive:
        folder = tarfile.TarInfo(".")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)

    def read(_: Path) -> None:
        raise InvalidGold([Problem("missing-file", "There is no gold here.")])

    with pytest.raises(InvalidGold, match="There is no gold here"):
        laid_out(path, read)
