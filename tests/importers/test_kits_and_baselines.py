"""Every imported competition has baselines on its boards, and a starter kit on its Data tab that runs unchanged."""

from __future__ import annotations

import io
import sys
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine

from app.base import api_links
from app.declarations.check import load_competitions
from app.importers.astitch import import_astitch
from app.importers.ncimp import import_ncimp
from app.importers.parseme import import_parseme
from app.importers.parseme_paraphrase import import_parseme_paraphrase
from app.importers.semeval2022 import import_semeval2022
from evergold.scoring import validate
from tests import official_shapes
from tests.whole import open_competition, page, site_of, taking_part

PARAPHRASES = official_shapes.GOLDEN / "mwe-paraphrase" / "gold"


@pytest.fixture(params=[("1.2",), pytest.param(("1.1", "1.2", "2.0"), marks=pytest.mark.soak)], ids=",".join)
def phases(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return all of them for one server, from small folders of their forms; the editions of PARSEME are made alike."""
    gold = tmp_path / "gold"

    def folder(name: str) -> Path:
        return tmp_path / "competitions" / name

    import_semeval2022(official_shapes.semeval2022(tmp_path / "semeval"), folder("semeval"), gold)
    import_astitch(official_shapes.astitch(tmp_path / "astitch"), folder("astitch"), gold)
    import_ncimp(official_shapes.ncimp(tmp_path / "ncimp"), folder("ncimp"), gold)
    parseme = official_shapes.parseme(tmp_path / "parseme")
    for edition in request.param:
        import_parseme(parseme, folder(f"parseme-{edition}"), gold, edition)
    import_parseme_paraphrase(PARAPHRASES, folder("paraphrase"), gold)
    phases = tmp_path / "phases.yaml"
    phases.write_text('version: 1\ninclude: ["competitions/*/competition.yaml"]\n', encoding="utf-8")
    return phases


@pytest.mark.usefixtures("cheap_passwords")
def test_every_task_of_every_phase_has_a_baseline_and_a_kit_that_writes_a_valid_file(
    phases: Path, sqlite_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["starter.py"])
    ran = set[str]()  # kits of one type differ in names alone: each type is run once
    declared = [loaded.declaration for loaded in load_competitions(phases)]
    assert len(declared) >= 5
    with site_of(sqlite_engine) as site:
        open_competition(site, phases, tmp_path / "gold", monkeypatch)
        shown = cache(lambda name: page(site, f"/competitions/{name}/data"))
        with taking_part(site) as (ada, _):
            monkeypatch.setenv("EVERGOLD_TOKEN", ada.client.headers["Authorization"].removeprefix("Bearer "))
            for competition in declared:
                types = {task.name: task.type for task in competition.tasks}
                for phase in competition.phases:
                    for task, asked in phase.tasks.items():
                        kit = api_links.starter_kit(competition.name, phase.name, task)
                        assert asked.baselines, kit
                        assert f'href="{kit}"' in shown(competition.name), kit
                        if types[task] in ran:
                            continue
                        ran.add(types[task])
                        place = tmp_path / "home" / task
                        place.mkdir(parents=True)
                        monkeypatch.chdir(place)
                        namespace = executed(ada.client.get(kit).content)
                        assert namespace["items"].is_file(), "it was downloaded"
                        validate(types[task], namespace["items"], namespace["submission"], namespace["OPTIONS"])


def executed(kit: bytes) -> dict[str, Any]:
    """The names that the kit's script leaves."""
    with ZipFile(io.BytesIO(kit)) as archive:
        script = archive.read("starter-kit/starter.py").decode()
    namespace: dict[str, Any] = {}
    exec(compile(script, "starter", "exec"), namespace)  # noqa: S102 - our own text
    return namespace
