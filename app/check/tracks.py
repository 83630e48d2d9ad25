"""Tracks that boards and baselines name: whether they are declared, and whether every track has a board to stand on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.findings import Findings, did_you_mean, listed
from app.yaml_lines import Node


def check_tracks(tracks: Sequence[Node], *, boards: Sequence[Node], baselines: Iterable[Node], found: Findings) -> None:
    """tracks, boards, baselines: as declared; what has the wrong shape is told elsewhere."""
    names = [name for track in tracks if (name := _text(track, "name")) is not None]
    for node in (*boards, *baselines):
        _check_known(node, names, found)
    shown = {_text(board, "track") for board in boards}
    for track in tracks:
        name = _text(track, "name")
        if name is not None and boards and not shown & {name, None}:
            found.warning(track, f"no board shows the track '{name}': its submissions stand nowhere")


def _check_known(node: Node, names: Sequence[str], found: Findings) -> None:
    name = _text(node, "track")
    if name is None or name in names:
        return
    known = f"the tracks are {listed(names)}" if names else "the competition has no tracks"
    found.error(node.entries["track"], f"there is no track '{name}'{did_you_mean(name, names)}; {known}")


def _text(node: Node, key: str) -> str | None:
    inside = node.entries.get(key)
    return inside.text if inside else None
