"""Which plain gold anybody may have: a list in the workers' gold folder, which neither database nor web can write.

`public-gold.txt` names files and folders of that folder, one a line; a folder stands for all in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

PUBLIC_LIST = "public-gold.txt"
_HEAD = (
    "# Gold in this folder that anybody may have, a name a line: where phases.yaml says so, too, teams see its items.\n"
)


def is_listed_public(folder: Path, name: str) -> bool:
    """Whether the list of this gold folder names this gold, or a folder that it lies in."""
    parts = PurePosixPath(name).parts
    listed = (PurePosixPath(entry).parts for entry in _entries(folder))
    return any(entry and parts[: len(entry)] == entry for entry in listed)


def list_as_public(folder: Path, names: Iterable[str]) -> None:
    """Add these names to the list, unless it has them."""
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
