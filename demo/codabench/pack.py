"""Packs the folders `results` and `tracks` into the zips beside them: `python -m demo.codabench.pack`.

The same files give the same zips, so that a test can compare them.
"""

from __future__ import annotations

from pathlib import Path

from app.importers.bundles.archive import pack_folder

HERE = Path(__file__).resolve().parent
BUNDLES = ("results", "tracks")


def pack(into: Path) -> list[Path]:
    """Write both zips below a folder."""
    return [pack_folder(HERE / name, into / f"{name}.zip") for name in BUNDLES]


if __name__ == "__main__":
    pack(HERE)
