"""The list of public plain gold in the workers' gold folder, which neither the database nor the web can write.

`public-gold.txt` names files and folders of that folder, one per line; a folder includes its contents.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

PUBLIC_LIST = "public-gold.txt"
_HEAD = "# Gold in this folder that is public, a name a line: where phases.yaml allows it, teams see its items.\n"


def is_listed_public(folder: Path, name: str) -> bool:
    """Return whether the list of this folder names this gold or a folder that contains it."""
    parts = PurePosixPath(name).parts
    listed = (PurePosixPath(entry).parts for entry in _entries(folder))
    return any(entry and parts[: len(entry)] == entry for entry in listed)


def list_as_public(folder: Path, names: Iterable[str]) -> None:
    """Add the names that the list does not cover yet."""
    missing = [name for name in names if not is_listed_public(folder, name)]
    if not missing:
        return
    path = folder / PUBLIC_LIST
    before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(before.rstrip("\n") + "\n" + "".join(f"{name}\n" for name in missing), encoding="utf-8")


def _entries(folder: Path) -> list[str]:
    try:
        lines = (folder / PUBLIC_LIST).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [text for line in lines if (text := line.partition("#")[0].strip())]
