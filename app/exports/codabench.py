"""Export of a competition as a bundle of Codabench, version 2.

Each task in a phase becomes a Codabench task, with the organisers' program, or one that calls `evergold score`. The
bundle also contains the declaration itself, because Codabench lacks keys for parts of it, so that an import here loses
nothing.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from app.base.storage import Storage
from app.declarations.bundled import FOLDER, GOLD, marked
from app.declarations.edits.export import export_folder
from app.declarations.images.texts import declared_images
from app.declarations.model import (
    BoardDeclaration,
    ColumnDeclaration,
    CompetitionDeclaration,
    PhaseDeclaration,
    PhaseTaskDeclaration,
    TaskDeclaration,
)
from app.models import EntryRule, OwnScores, RegistrationMode, Revision
from evergold.scoring.program.packing import METADATA, unpack
from evergold.scoring.task import read_options
from evergold.scoring.tasks import TASKS

_EARLIEST = (1980, 1, 1, 0, 0, 0)
_KEY_CHARACTERS = 36
_RULES = {EntryRule.LAST: "Force_Last", EntryRule.BEST: "Force_Best", EntryRule.ALL: "Add_And_Delete_Multiple"}
_KINDS = {"text": "text", "number": "text", "choice": "select", "yes_no": "checkbox"}
#: Limits for phases without any, because Codabench requires limits.
_PER_DAY, _TOTAL = 100, 1_000
_SCORE = '''"""Scores a submission by `evergold score`: the container has the package evergold."""

import json
import os
import subprocess
import sys

TASK, OPTIONS, COLUMNS = json.loads(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "task.json")).read())
source, output = sys.argv[1:3]


def only(folder):
    """Return the one file of a folder, or the folder."""
    names = [name for name in os.listdir(folder) if not name.startswith((".", "__MACOSX"))]
    return os.path.join(folder, names[0]) if len(names) == 1 else folder


command = [sys.executable, "-m", "evergold.cli", "score", TASK, "--format", "json"]
command += ["--gold", only(os.path.join(source, "ref")), "--prediction", only(os.path.join(source, "res"))]
for name, value in OPTIONS.items():
    command += ["--option", name + "=" + (value if isinstance(value, str) else json.dumps(value))]
done = subprocess.run(command, stdout=subprocess.PIPE)
if done.returncode:
    sys.exit(done.returncode)
found = {one["metric"] + " " + one["split"]: one["value"] for one in json.loads(done.stdout)["scores"]}
scores = {key: found[place] for key, place in COLUMNS.items() if found.get(place) is not None}
with open(os.path.join(output, "scores.json"), "w") as file:
    json.dump(scores, file)
'''


@dataclass(slots=True)
class _Bundle:
    """A bundle in progress. folder: of its files; remarks: on what does not work in Codabench."""

    folder: Path
    declared: CompetitionDeclaration
    remarks: list[str] = field(default_factory=list)

    @property
    def source(self) -> Path:
        """The folder of the competition's own files in the bundle."""
        return self.folder / FOLDER

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file and return its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name


def export_bundle(
    revision: Revision, competition: str, storage: Storage, target: Path, gold: Path | None = None
) -> list[str]:
    """Write the bundle and return remarks on what is missing or does not work in Codabench.

    gold: a folder of plain gold, as workers have it. Raises ExportImpossible, OSError.
    """
    with tempfile.TemporaryDirectory(prefix="evergold-bundle-") as name:
        declared = CompetitionDeclaration.model_validate(revision.document)
        bundle = _Bundle(Path(name) / "bundle", declared)
        export_folder(revision, competition, storage, bundle.source)
        main = _main(bundle, gold)
        text = yaml.safe_dump(marked(main), sort_keys=False, allow_unicode=True, width=110)
        bundle.write("competition.yaml", text)
        _pack(bundle.folder, target)
        return bundle.remarks


def _main(bundle: _Bundle, gold: Path | None) -> dict[str, Any]:
    declared = bundle.declared
    places = [(phase, name, declaration) for phase in declared.phases for name, declaration in phase.tasks.items()]
    _note_times(bundle)
    return {
        "version": "2",
        "title": declared.title,
        "description": declared.summary or declared.title,
        "image": _image(bundle),
        "registration_auto_approve": declared.registration_mode is not RegistrationMode.APPROVAL,
        "terms": bundle.write("terms.md", declared.registration.terms or "There are no terms.\n"),
        "pages": [{"title": "Overview", "file": bundle.write("overview.md", declared.description or declared.title)}],
        **({"contact_email": declared.contact} if "@" in declared.contact else {}),
        **({"fact_sheet": _fact_sheet(declared)} if declared.method_card.fields else {}),
        "tasks": [_task(bundle, index, place, gold) for index, place in enumerate(places)],
        "phases": [
            _phase(bundle, index, phase, [at for at, place in enumerate(places) if place[0] is phase])
            for index, phase in enumerate(declared.phases)
        ],
        "leaderboards": [_leaderboard(bundle, board) for board in declared.boards],
        "solutions": list(_solutions(places)),
    }


def _image(bundle: _Bundle) -> str:
    """Return the name of the logo, which Codabench requires: the first image in the texts, or a plain one."""
    for name in declared_images(bundle.declared):
        shutil.copyfile(bundle.source / name, bundle.folder / f"logo{Path(name).suffix.lower()}")
        return f"logo{Path(name).suffix.lower()}"
    plain = io.BytesIO()
    Image.new("RGB", (200, 200), (44, 62, 80)).save(plain, "PNG")
    return bundle.write("logo.png", plain.getvalue())


def _fact_sheet(declared: CompetitionDeclaration) -> dict[str, Any]:
    return {
        one.name: {
            "key": one.name,
            "type": _KINDS[one.kind.value],
            "title": one.title,
            "selection": ["", *one.choices] if one.choices else "",
            "is_required": str(one.required).lower(),
            "is_on_leaderboard": str(one.on_board).lower(),
        }
        for one in declared.method_card.fields
    }


# ---------------------------------------------------------------------------------------------------------------- tasks

_Place = tuple[PhaseDeclaration, str, PhaseTaskDeclaration]


def _task(bundle: _Bundle, index: int, place: _Place, gold: Path | None) -> dict[str, Any]:
    phase, name, declaration = place
    task = next(one for one in bundle.declared.tasks if one.name == name)
    found = None if gold is None else _gold(gold, bundle.declared.name, place)
    kept: dict[str, Any] = {}
    if found is not None:
        target = bundle.folder / GOLD / phase.name / name
        if found.is_dir():
            shutil.copytree(found, target)
        else:
            target.mkdir(parents=True)
            shutil.copyfile(found, target / found.name)
        kept = {"reference_data": f"{GOLD}/{phase.name}/{name}"}
    else:
        bundle.remarks.append(
            f"the gold of {name} in {phase.name} is not in the bundle: add it as reference_data of task {index}"
        )
    return {
        "index": index,
        "name": f"{task.title} ({phase.title})",
        "description": task.description or task.title,
        "scoring_program": _program(bundle, task, phase.name, declaration),
        **kept,
    }


def _gold(folder: Path, competition: str, place: _Place) -> Path | None:
    """Return the plain gold of a task in a phase, by its declared name, or else as an import stores it; None if there
    is none.
    """
    phase, name, declaration = place
    named = [folder / declaration.gold] if declaration.gold and declaration.gold != "sealed" else []
    return next((path for path in [*named, folder / competition / phase.name / name] if path.exists()), None)


def _program(bundle: _Bundle, task: TaskDeclaration, phase: str, declaration: PhaseTaskDeclaration) -> str:
    options = {**task.options, **declaration.options}
    if not task.program:
        return _scoring_by_evergold(bundle, task, phase, options)
    source, target = bundle.source / task.program, bundle.folder / "scoring" / task.name
    if not target.exists():
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.mkdir(parents=True)
            unpack(source, target)
        if command := options.get("command"):
            for name in METADATA:
                (target / name).unlink(missing_ok=True)
            (target / METADATA[0]).write_text(yaml.safe_dump({"command": command}), encoding="utf-8")
        if options.get("contract") == "evalai":
            bundle.remarks.append(f"the program of {task.name} is a package of EvalAI, which Codabench does not run")
    return target.relative_to(bundle.folder).as_posix()


def _scoring_by_evergold(bundle: _Bundle, task: TaskDeclaration, phase: str, options: Mapping[str, Any]) -> str:
    """Write a program that calls `evergold score` with the options of this phase; return its folder."""
    folder = f"scoring/{phase}-{task.name}"
    type_ = TASKS[task.type]
    columns = type_.columns(read_options(type_, options))
    places = {_key(bundle, one.metric, one.split): f"{one.metric} {one.split}" for one in columns}
    bundle.write(f"{folder}/score.py", _SCORE)
    bundle.write(f"{folder}/task.json", json.dumps([task.type, options, places], indent=1))
    bundle.write(f"{folder}/requirements.txt", "evergold\n")
    bundle.write(f"{folder}/metadata.yaml", "command: python3 score.py $input $output\n")
    remark = f"scoring of {task.type} needs a docker_image with the package evergold"
    if remark not in bundle.remarks:
        bundle.remarks.append(remark)
    return folder


def _key(bundle: _Bundle, metric: str, split: str) -> str:
    """Return the key of a score in Codabench: at most 36 characters."""
    whole = f"{metric} {split}"
    if len(whole) <= _KEY_CHARACTERS:
        return whole
    places = [f"{one.metric} {one.split}" for board in bundle.declared.boards for one in board.columns]
    number = places.index(whole) + 1 if whole in places else 0
    return f"{whole[: _KEY_CHARACTERS - 5]} {number:04d}"


# ------------------------------------------------------------------------------------------------------ boards, phases


def _leaderboard(bundle: _Bundle, board: BoardDeclaration) -> dict[str, Any]:
    task = next(one for one in bundle.declared.tasks if one.name == board.task)
    type_ = TASKS[task.type]
    metrics = type_.metrics_of(read_options(type_, task.options))
    columns = []
    for index, one in enumerate(_ranking_first(board)):
        metric = metrics[one.metric]
        columns.append(
            {
                "title": (one.title or metric.title)[:_KEY_CHARACTERS],
                "key": _written_key(bundle, task, one.metric, one.split),
                "index": index,
                "sorting": "desc" if metric.higher_is_better else "asc",
                "precision": one.decimals,
            }
        )
    rule = bundle.declared.phases[0].entry
    return {
        "title": board.title,
        "key": board.name[:_KEY_CHARACTERS],
        "submission_rule": _RULES.get(rule, "Add_And_Delete"),
        "columns": columns,
    }


def _ranking_first(board: BoardDeclaration) -> list[ColumnDeclaration]:
    """Return the columns with the ranking one first, because Codabench ranks by the first column."""
    rank_by = board.rank_by or board.columns[0]
    return sorted(board.columns, key=lambda one: (one.metric, one.split) != (rank_by.metric, rank_by.split))


def _written_key(bundle: _Bundle, task: TaskDeclaration, metric: str, split: str) -> str:
    """Return the key that the program of a task writes for a score."""
    if not task.program:
        return _key(bundle, metric, split)
    declared = {one["name"]: one for one in task.options["metrics"]}
    return str(declared[metric].get("key") or metric)


def _phase(bundle: _Bundle, index: int, phase: PhaseDeclaration, tasks: list[int]) -> dict[str, Any]:
    limits = phase.effective_limits
    seconds = _seconds(bundle, phase)
    downloads = [one.file for declaration in phase.tasks.values() for one in declaration.downloads]
    downloads += [declaration.items for declaration in phase.tasks.values() if declaration.items]
    public = {}
    if downloads:
        for name in dict.fromkeys(downloads):
            target = bundle.folder / "public" / phase.name / Path(name).name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(bundle.source / name, target)
        public = {"public_data": f"public/{phase.name}"}
    return {
        "index": index,
        "name": phase.title,
        "description": phase.description or phase.title,
        "start": _moment(phase.start),
        **({"end": _moment(phase.end)} if phase.end is not None else {}),
        "max_submissions_per_day": limits.per_day or _PER_DAY,
        "max_submissions": limits.total or _TOTAL,
        "execution_time_limit": seconds,
        "hide_score_output": phase.visibility.own_scores is not OwnScores.AT_ONCE,
        "tasks": tasks,
        **public,
    }


def _seconds(bundle: _Bundle, phase: PhaseDeclaration) -> int:
    """Return the longest time limit of a program of the phase in seconds; 600 if none is declared."""
    found = [600]
    for task in bundle.declared.tasks:
        if task.program and task.name in phase.tasks:
            options = {**task.options, **phase.tasks[task.name].options}
            found.append(int(options.get("limits", {}).get("seconds", 600)))
    return max(found[1:], default=600)


def _moment(moment: datetime) -> str:
    """Return a time as text in UTC, because Codabench drops offsets, and the time of day of anything but text."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}+00:00"


def _note_times(bundle: _Bundle) -> None:
    ordered = sorted(bundle.declared.phases, key=lambda one: one.start)
    for one, following in zip(ordered, ordered[1:], strict=False):
        if one.end is None or one.end >= following.start:
            bundle.remarks.append(
                f"phases follow each other there: '{one.name}' has to end before '{following.name}' starts"
            )


def _solutions(places: list[_Place]) -> Iterator[dict[str, Any]]:
    index = 0
    for place, (_, _, declaration) in enumerate(places):
        for one in declaration.baselines:
            yield {"index": index, "tasks": [place], "name": one.name, "path": f"{FOLDER}/{one.file}"}
            index += 1


def _pack(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EARLIEST)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with path.open("rb") as file, archive.open(entry, "w") as member:
                shutil.copyfileobj(file, member)
