"""The golden case of idiom-detection, and files made from it, for the tests of its readers."""

from __future__ import annotations

from pathlib import Path

from evergold.scoring.tables.settings import Items
from evergold.scoring.tasks.idiom_detection import TASK, Options

GOLDEN = Path(__file__).parents[2] / "golden" / "idiom-detection"
HEADER = "ID,Language,Setting,Label\n"
SETTINGS = ("zero_shot", "one_shot")
OPTIONS = Options()
#: Enough items for the heuristics about wrong files: 60 EN, 40 PT.
MANY = Items(tuple(str(n) for n in range(1, 101)), ("EN",) * 60 + ("PT",) * 40)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def golden_items() -> Items:
    return TASK.read_items(GOLDEN / "items.csv", OPTIONS)


def rows(items: Items, label: str = "1", chosen: tuple[str, ...] = SETTINGS) -> list[str]:
    return [
        f"{id_},{language},{setting},{label}"
        for setting in chosen
        for id_, language in zip(items.ids, items.languages, strict=True)
    ]
