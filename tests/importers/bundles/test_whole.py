"""Whole imports of bundles in which every key is used: the declaration and IMPORT.md, as people have looked at them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.importers.bundles.imported import Imported, Target
from app.importers.bundles.moments import Assumed
from app.importers.codabench.importing import import_codabench
from app.importers.evalai.importing import import_evalai
from tests.importers.bundles import made, rich

GOLDEN = Path(__file__).resolve().parent / "golden"
Import = Callable[[Path, Target], Imported]
NOTHING = Assumed()
IMPORTS: dict[str, tuple[str, str, Import]] = {
    "version-2": (rich.VERSION_2, "competition.yaml", partial(import_codabench, assumed=NOTHING, takes_results=False)),
    "version-2-results": (
        rich.SWITCHED_2,
        "competition.yaml",
        partial(import_codabench, assumed=NOTHING, takes_results=True),
    ),
    "version-15": (
        rich.VERSION_15,
        "competition.yaml",
        partial(import_codabench, assumed=NOTHING, takes_results=False),
    ),
    "evalai": (rich.EVALAI, "challenge_config.yaml", partial(import_evalai, assumed=NOTHING)),
}


@pytest.mark.parametrize("name", list(IMPORTS))
def test_a_whole_import_is_as_it_was_looked_at(tmp_path: Path, name: str) -> None:
    """Compare everything that an import yields, so that changes of an importer show their whole effect."""
    main, main_name, bring = IMPORTS[name]
    bundle = made.written(tmp_path / "bundle.zip", dict(rich.files(main, main_name)))
    found = bring(bundle, Target(tmp_path / "to", tmp_path / "gold"))
    told = {
        "competition.yaml": yaml.safe_dump(_declared(tmp_path / "to"), sort_keys=False, allow_unicode=True, width=120),
        "IMPORT.md": _report(tmp_path / "to"),
        "files.txt": "".join(f"{one}\n" for one in _files(tmp_path)),
    }
    assert set(found.written.gold.values()) <= set((tmp_path / "gold").rglob("*"))
    assert told == {file: (GOLDEN / name / file).read_text(encoding="utf-8") for file in told}


def test_leaderboards_of_the_same_split_have_names_of_their_own(tmp_path: Path) -> None:
    main, main_name, bring = IMPORTS["evalai"]
    bring(made.written(tmp_path / "b.zip", dict(rich.files(main, main_name))), Target(tmp_path / "to", tmp_path / "g"))
    (competition,) = yaml.safe_load((tmp_path / "to/competition.yaml").read_text(encoding="utf-8"))["competitions"]
    names = [one["name"] for one in competition["boards"]]
    assert {"task-1-seen", "task-1-seen-2"} <= set(names)
    assert len(set(names)) == len(names)


def _declared(folder: Path) -> Any:
    """The declaration, but for environments, which depend on the machine's Pythons."""
    document = yaml.safe_load((folder / "competition.yaml").read_text(encoding="utf-8"))
    for competition in document["competitions"]:
        competition.pop("confirm_scores", None)
        for task in competition["tasks"]:
            for key in ("environment", "python", "packages"):
                task["options"].pop(key, None)
    return document


def _report(folder: Path) -> str:
    lines = (folder / "IMPORT.md").read_text(encoding="utf-8").splitlines(keepends=True)
    return re.sub(r"sha256 `[0-9a-f]{64}`", "sha256 `…`", "".join(one for one in lines if "environment of" not in one))


def _files(folder: Path) -> list[str]:
    return sorted(
        one.relative_to(folder).as_posix()
        for place in ("to", "gold")
        for one in (folder / place).rglob("*")
        if one.is_file()
    )
