"""A small program of organisers', its competition, gold, and files of teams: good, bad and hostile ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests import bubblewrap
from tests.processes import missing

COMPETITION, PHASE, TASK = "forms", "evaluation", "reinflection"
#: Counts right answers; says what it saw; fails, or does worse, where the first answer asks for it.
SCORE = """\
import csv, json, os, sys, time

given, output = sys.argv[1:]
gold = {row["id"]: row["form"] for row in csv.DictReader(open(given + "/ref/gold.csv"))}
rows = list(csv.DictReader(open(given + "/res/answers.csv")))
print("seen", sorted(os.listdir(given + "/ref")), sorted(os.listdir(given + "/res")))
first = rows[0]["form"]
if first == "crash":
    sys.exit("KeyError: the gold form is " + gold["1"])
if first == "sleep":
    time.sleep(600)
right = [gold[row["id"]] == row["form"] for row in rows]
scores = {"accuracy": sum(right) / len(gold), "covered": len(right), "secret": gold["2"]}
if first == "nan":
    scores["accuracy"] = float("nan")
if first == "far":
    scores["covered"] = 1000
json.dump(scores, open(output + "/scores.json", "w"))
open(output + "/detailed_results.html", "w").write("<script>alert(1)</script><p>" + str(sum(right)) + " right</p>")
"""
METADATA = "command: python3 $program/score.py $input $output\n"
REQUIREMENTS = "# Python alone\n"
GOLD = "id,form\n1,walked\n2,sang\n3,went\n4,put\n"
#: Three of four are right.
GOOD = "id,form\n1,walked\n2,sang\n3,goed\n4,put\n"
OPTIONS: Mapping[str, Any] = {
    "limits": {"seconds": 20, "processor_seconds": 10, "memory": 200 << 20, "processes": 16, "written": 16 << 20},
    "files": {"required": ["answers.csv"], "allowed": ["*.csv"], "largest": 100_000},
    "tables": {"answers.csv": ["id", "form"]},
    "metrics": [
        {"name": "accuracy", "title": "Accuracy", "minimum": 0, "maximum": 1},
        {"name": "covered", "title": "Answers", "minimum": 0, "maximum": 100, "decimals": 0},
        {"name": "both", "title": "Both", "mean_of": ["accuracy", "covered"]},
    ],
}


def document(**options: Any) -> dict[str, Any]:
    """Return the declaration as a document. options: what differs from the usual options of the task."""
    return {
        "name": COMPETITION,
        "title": "Forms",
        "tasks": [
            {
                "name": TASK,
                "type": "program",
                "title": "Reinflection",
                "program": "programs/forms",
                "options": {**OPTIONS, **options},
            }
        ],
        "boards": [
            {
                "name": "forms",
                "title": "Forms",
                "task": TASK,
                "columns": [{"metric": "accuracy", "split": "all"}, {"metric": "covered", "split": "all"}],
            }
        ],
        "phases": [
            {
                "name": PHASE,
                "title": "Evaluation",
                "start": "2026-01-01 00:00 UTC",
                "limits": {"per_day": 100, "total": 100},
                "visibility": {"precision": "full", "slices": "all"},
                "tasks": {TASK: {}},
            }
        ],
    }


def files_of(program: str = SCORE) -> dict[str, str]:
    """Return the files of the program."""
    return {"score.py": program, "metadata.yaml": METADATA, "requirements.txt": REQUIREMENTS}


def write_competition(folder: Path, said: Mapping[str, Any] | None = None, program: str = SCORE) -> Path:
    """Write the declaration and its program below this folder; return the main file."""
    from app.declarations.edits.texts import declaration_text

    place = folder / "programs" / "forms"
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files_of(program).items():
        (place / name).write_text(text, encoding="utf-8")
    main = folder / "competition.yaml"
    main.write_text(declaration_text(dict(said or document())), encoding="utf-8")
    return main


def zipped(files: Mapping[str, str | bytes], outer: str = "") -> bytes:
    """Return a zip of these files, in a folder if one is named."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{outer}{name}", content)
    return target.getvalue()


def answers(first: str) -> str:
    """Return a file of answers, of which the first is this one."""
    return GOOD.replace("walked", first)


def bare_environment() -> Iterator[Path]:
    """Yield an environment without packages; skips the test if there is no bubblewrap."""
    if bubblewrap.find_bubblewrap() is None:
        missing(bubblewrap.ABSENT)
    with bubblewrap.bare_environment() as folder:
        yield folder
