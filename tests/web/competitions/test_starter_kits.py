"""The starter kit: offered where data are, and run as it is, script and notebook: its file is valid and scored."""

from __future__ import annotations

import io
import json
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.models import CompetitionTask, PhaseTask, PublicFile
from evergold.baselines.catalogue import BASELINES
from evergold.baselines.starter_kit import StarterTask, starter_kit, starter_notebook, starter_script
from evergold.client import Client, Submission
from evergold.scoring import validate
from tests.web.site import BROWSER, Person, Site

GOLDEN = Path(__file__).parents[2] / "golden"
PLACE = "/api/v1/competitions/idioms/phases/evaluation/tasks/detection"
KIT = f"{PLACE}/starter-kit.zip"


@pytest.fixture
def with_items(site: Site) -> Site:
    """The task's blind file is that of the golden case, for everybody to download."""
    content = (GOLDEN / "idiom-detection" / "items.csv").read_bytes()
    site.add_file("blind.csv", content, "Blind input")
    with writing(site.engine) as session:
        sha256 = session.query(PublicFile.sha256).filter(PublicFile.name == "blind.csv").scalar()
        session.execute(update(PhaseTask).values(items_sha256=sha256))
        session.execute(update(CompetitionTask).values(title='Idioms """ and \\ such'))
    return site


def kit_of(site: Site) -> dict[str, str]:
    with site.client() as anonymous:
        response = anonymous.get(KIT)
    assert response.status_code == 200, response.text
    with ZipFile(io.BytesIO(response.content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def cells(notebook: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]


def execute(programs: list[str]) -> dict[str, Any]:
    """Run the programs one after the other in one namespace, as notebooks do, and return the namespace."""
    namespace: dict[str, Any] = {}
    for program in programs:
        exec(compile(program, "starter", "exec"), namespace)  # noqa: S102 - our own text
    return namespace


@pytest.fixture
def at_home(with_items: Site, ada: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which Ada is logged in; there is no worker, so that submitting does not
    wait for one.
    """
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("EVERGOLD_TOKEN", ada.client.headers["Authorization"].removeprefix("Bearer "))
    monkeypatch.setattr(Client, "submit", partialmethod(Client.submit, wait=False))
    return home


def test_kit_is_offered_on_the_data_tab(with_items: Site) -> None:
    with with_items.client() as anonymous:
        assert f'href="{KIT}"' in anonymous.get("/competitions/idioms/data", headers=BROWSER).text
        tag = anonymous.get(KIT).headers["ETag"]
        assert anonymous.get(KIT, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(("options", "has_kit"), [({}, False), ({"labels": ["a", "b"]}, True)])
def test_labels_that_nobody_declared_are_why_there_is_no_kit(
    with_items: Site, options: dict[str, Any], has_kit: bool
) -> None:
    with writing(with_items.engine) as session:
        session.execute(update(CompetitionTask).values(task_type="table", options=options))
    with with_items.client() as anonymous:
        shown = anonymous.get("/competitions/idioms/data", headers=BROWSER).text
        assert anonymous.get(KIT).status_code == (200 if has_kit else 404)
    assert (f'href="{KIT}"' in shown) is has_kit
    assert ("No starter kit: the task does not declare its labels." in shown) is not has_kit


def test_script_loads_predicts_and_checks_and_submits_only_if_told_to(
    with_items: Site, at_home: Path, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = kit_of(with_items)["starter-kit/starter.py"]
    monkeypatch.setattr(sys, "argv", ["starter.py"])
    assert "result" not in execute([script])
    assert sorted(path.name for path in at_home.iterdir()) == ["blind.csv", "submission.csv"]
    assert ada.client.get("/api/v1/submissions").json()["submissions"] == []
    monkeypatch.setattr(sys, "argv", ["starter.py", "--submit"])
    assert execute([script])["result"].status == "queued"
    (sent,) = ada.client.get("/api/v1/submissions").json()["submissions"]
    assert sent["filename"] == "submission.csv"


def test_notebook_runs_cell_by_cell(with_items: Site, at_home: Path) -> None:
    notebook = kit_of(with_items)["starter-kit/starter.ipynb"]
    execute(cells(notebook))
    submission = at_home / "submission.csv"
    assert validate("idiom-detection", at_home / "blind.csv", submission, {"languages": ["en", "pt"]}) == ()
    document = json.loads(notebook)
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("task_type", BASELINES)
def test_kit_of_every_task_type_writes_a_valid_file(
    task_type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that with the blind file at hand nothing is downloaded; a zip where items are folders."""
    items = tmp_path / "items.csv"
    folder = GOLDEN / task_type / ("gold" if task_type == "mwe-identification" else "items")
    if folder.is_dir():
        items = tmp_path / "items.zip"
        with ZipFile(items, "w") as archive:
            for path in sorted(folder.rglob("test.blind.*")):
                archive.write(path, path.relative_to(folder).as_posix())
    else:
        [golden] = (GOLDEN / task_type).glob("items.*")
        items.write_bytes(golden.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["starter.py"])
    options = {"labels": ["a", "b", "c"]} if task_type == "table" else {}
    task = StarterTask("https://scores.example.org", "c", "p", "t", "A title", task_type, options, items.name)
    for programs in ([starter_script(task)], cells(starter_notebook(task))):
        namespace = execute(programs)
        assert namespace["submission"].stat().st_size > 0
        namespace["submission"].unlink()
    assert starter_kit(task) == starter_kit(task)


BLIND = {
    "items.tsv": "id\ttext\n1\tone, two\n2\tthree\n",
    "items.jsonl": '{"id": "1", "text": "one, two"}\n{"id": "2", "text": "three"}\n',
    "items.conll": "# doc = 1\none _\n\ntwo\t_\n\t\nthree _",
    "test.blind.cupt": (GOLDEN / "mwe-identification" / "gold" / "FR" / "test.blind.cupt").read_text(),
    "test.blind.json": (GOLDEN / "mwe-paraphrase" / "items" / "EN" / "test.blind.json").read_text(),
}
LABELS = {"labels": ["a", "b"]}


@pytest.mark.parametrize(
    ("task_type", "name", "options", "answer", "written"),
    [
        ("table", "items.tsv", LABELS, "b", "id,label\n1,b\n2,b\n"),
        ("table", "items.jsonl", LABELS, "b", "id,label\n1,b\n2,b\n"),
        ("table", "items.tsv", {"metrics": ["pearson"], "value": "n", "minimum": 1}, 2.5, "id,n\n1,2.5\n2,2.5\n"),
        ("text-generation", "items.tsv", {"value": "t"}, "Yes, so.", 'id,t\n1,"Yes, so."\n2,"Yes, so."\n'),
        ("multi-label", "items.tsv", {"separator": "/"}, ["x", "y"], "id,labels\n1,x/y\n2,x/y\n"),
        ("sequence-labelling", "items.conll", {}, ["B-X"], "one\tB-X\n\ntwo\tB-X\n\nthree\tB-X\n\n"),
        ("sequence-labelling", "items.jsonl", {}, [[0, 3, "X"]], '{"id": "1", "spans": [[0, 3, "X"]]}\n'),
        ("mwe-identification", "test.blind.cupt", {}, None, "1\tIl\til\tPRON\t*\n"),
        ("mwe-paraphrase", "test.blind.json", {}, "He died.", '"prediction": "He died."'),
    ],
)
def test_what_predict_returns_is_what_is_written(
    task_type: str,
    name: str,
    options: dict[str, Any],
    answer: object,
    written: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(BLIND[name])
    task = StarterTask("https://scores.example.org", "c", "p", "t", "A title", task_type, options, name)
    programs = cells(starter_notebook(task))
    (predicting,) = (number for number, cell in enumerate(programs) if "def predict(" in cell)
    replaced = [] if answer is None else [f"def predict(item):\n    return {answer!r}"]
    namespace = execute([*programs[: predicting + 1], *replaced, *programs[predicting + 1 :]])
    assert written in namespace["submission"].read_text()


def test_kit_prints_score_rank_and_address(with_items: Site, capsys: pytest.CaptureFixture[str]) -> None:
    script = kit_of(with_items)["starter-kit/starter.py"]
    (step,) = (part for part in script.split("\n\n") if "client.submit(" in part)
    standing = {"board": "all", "metric": "macro_f1", "value": 0.75, "rank": 2, "of": 9}
    links = {"page": "/submissions/1"}
    hidden = {**standing, "board": "dev", "rank": None}
    document = {"id": "1", "status": "scored", "message": "Scored.", "standings": [standing, hidden], "links": links}
    result = Submission.of(document, "https://scores.example.org")
    printing = step[step.index("    print(result.status") :]
    capsys.readouterr()
    exec(compile(f"if True:\n{printing}", "printing", "exec"), {"result": result})  # noqa: S102 - our own text
    assert capsys.readouterr().out.splitlines() == [
        "scored Scored.",
        "all: macro_f1 0.75, rank 2 of 9",
        "dev: macro_f1 0.75",
        "https://scores.example.org/submissions/1",
    ]


def test_readme_names_the_server_and_the_task(with_items: Site) -> None:
    readme = kit_of(with_items)["starter-kit/README.md"]
    for words in ("idioms/evaluation/detection", "/wheels/ 'evergold[metrics]'", "`predict`", "/competitions/idioms\n"):
        assert words in readme, words
    assert readme.partition("\n")[0].endswith("and   such: starter kit")


def test_task_without_a_blind_file_has_no_kit(site: Site) -> None:
    with site.client() as anonymous:
        assert anonymous.get(KIT).status_code == 404
        assert "starter-kit" not in anonymous.get("/competitions/idioms/data", headers=BROWSER).text
