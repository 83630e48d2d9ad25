"""Organisers' own programs at work: real sandboxes, sealed gold, and the use of a program's output."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, select, update

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import EvergoldError
from app.base.storage import FolderStorage, UploadWriter, check_name, storage_of, store_upload
from app.competitions.find import find_competition, find_phase_task
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.models import (
    AuditEntry,
    CompetitionTask,
    OutgoingMail,
    Role,
    RunStatus,
    ScoreRow,
    ScoringRun,
    User,
    Validation,
    ValidationStatus,
)
from app.people.act import Act
from app.people.rights import grant_role
from app.rescoring.sets import start_rescoring
from app.runs.program_logs import program_log_of
from app.runs.report import scores_of_report
from app.runs.stages import PROGRAM_FAILED, PROGRAM_FAILED_WORDS, stage_of
from app.runs.workers import NOT_FOR_PROGRAM
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from app.submissions.validations import FileToCheck, accept_validation
from tests import programs
from tests.programs import COMPETITION, GOLD, GOOD, PHASE, TASK, answers, document, write_competition, zipped
from tests.sealed import make_key, seal_gold
from tests.world import NOW, add_user, the_run
from workers.check import check_file
from workers.score import score_submission

pytestmark = pytest.mark.usefixtures("workplace", "_environments")

PLACE = f"{COMPETITION}/{PHASE}/{TASK}"


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    yield from programs.bare_environment()


@pytest.fixture
def _environments(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_ENVIRONMENTS_DIR", str(environment.parent))


@pytest.fixture
def ada(engine: Engine) -> User:
    return add_user(engine, "ada")


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    folder = tmp_path / "ref"
    folder.mkdir()
    (folder / "gold.csv").write_text(GOLD)
    return folder


@pytest.fixture
def forms(engine: Engine, tmp_path: Path, ada: User, gold: Path) -> Path:
    """The folder of the competition, applied, with sealed gold."""
    folder = tmp_path / "forms"
    write_competition(folder)
    apply(engine, folder)
    make_key(engine)
    seal_gold(engine, gold, places=(PLACE,))
    return folder


def apply(
    engine: Engine, folder: Path, said: Mapping[str, Any] | None = None, program: str = programs.SCORE
) -> list[str]:
    loaded = load_competitions(write_competition(folder, said, program))
    with writing(engine) as session:
        return [str(one) for one in apply_phases(session, loaded, storage=storage_of(get_settings()), now=NOW)]


def send(engine: Engine, user: User, content: bytes | str, filename: str = "answers.csv") -> int:
    data = content.encode() if isinstance(content, str) else content
    stored = store_upload([data], storage_of(get_settings()), limit_bytes=len(data))
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, TASK)
        form = SubmissionForm(filename=filename)
        return accept_submission(session, asked, stored, Sender(session.merge(user), NOW), form).run_id


def scored(engine: Engine, user: User, content: bytes | str, filename: str = "answers.csv") -> ScoringRun:
    run_id = send(engine, user, content, filename)
    score_submission(run_id)
    return the_run(engine, run_id)


def values(engine: Engine, run: ScoringRun) -> dict[str, float | str | None]:
    """Return each score, or the reason why it is undefined."""
    with reading(engine) as session:
        rows = session.scalars(select(ScoreRow).where(ScoreRow.run_id == run.id)).all()
    return {row.metric: row.reason if row.value is None else row.value for row in rows}


def log_of(engine: Engine, run: ScoringRun, *, is_organiser: bool = True) -> dict[str, Any]:
    with reading(engine) as session:
        found = program_log_of(session, run.id, is_organiser=is_organiser)
    return found.model_dump(exclude_unset=True) if found else {}


# -------------------------------------------------------------------------------------------------------------- scored


def test_a_file_is_scored_by_the_program_with_its_hash_in_the_signature(
    engine: Engine, ada: User, forms: Path, environment: Path
) -> None:
    run = scored(engine, ada, GOOD)
    assert run.status == RunStatus.SCORED, run.failure
    assert values(engine, run) == {"accuracy": 0.75, "covered": 4.0, "both": 2.375}
    with reading(engine) as session:
        program = session.scalars(select(CompetitionTask.program_sha256).where(CompetitionTask.name == TASK)).one()
        signatures = session.scalars(select(ScoreRow.signature).where(ScoreRow.run_id == run.id)).all()
    assert program is not None
    begin = f"|all|program:{program[:12]}|environment:{environment.name[:12]}|image:none|contract:codabench|command:own"
    assert sorted(signatures) == [
        f"program:1|accuracy{begin}|key:accuracy",
        f"program:1|both{begin}|mean_of:accuracy,covered",
        f"program:1|covered{begin}|key:covered",
    ]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (GOOD, "answers.csv"),
        (zipped({"answers.csv": GOOD}), "sent.zip"),
        (zipped({"answers.csv": GOOD, "__MACOSX/._answers.csv": "junk"}, outer=""), "sent.zip"),
        (zipped({"answers.csv": GOOD}, outer="my system/"), "sent.zip"),
    ],
)
def test_a_file_alone_and_a_zip_with_or_without_a_folder_score_alike(
    engine: Engine, ada: User, forms: Path, content: bytes | str, name: str
) -> None:
    run = scored(engine, ada, content, name)
    assert values(engine, run) == {"accuracy": 0.75, "covered": 4.0, "both": 2.375}
    assert log_of(engine, run)["stdout"] == "seen ['gold.csv'] ['answers.csv']\n"


def test_what_is_not_as_declared_is_rejected_by_line_before_any_program_runs(
    engine: Engine, ada: User, forms: Path
) -> None:
    run = scored(engine, ada, zipped({"answers.csv": "id,form\n1\n", "model.py": "import os\n"}))
    assert run.status == RunStatus.REJECTED
    assert [one["sentence"] for one in run.problems] == [
        "answers.csv, line 2: 1 field, the header has 2",
        "model.py: model.py is not expected; the file must be answers.csv, *.csv",
    ]
    assert log_of(engine, run) == {}


EVALAI = """
import csv

def evaluate(test_annotation_file, user_submission_file, phase_codename, **kwargs):
    gold, found = (list(csv.DictReader(open(path))) for path in (test_annotation_file, user_submission_file))
    right = sum(one["form"] == other["form"] for one, other in zip(gold, found))
    print(phase_codename, user_submission_file.rsplit("/", 1)[1])
    return {"result": [{"test_split": {"accuracy": right / len(gold)}}]}
"""


def test_an_evalai_package_gets_paths_with_their_names(engine: Engine, ada: User, tmp_path: Path, gold: Path) -> None:
    said = document(contract="evalai", phase="test", metrics=[{"name": "accuracy"}], files={}, tables={})
    said["boards"][0]["columns"] = [{"metric": "accuracy", "split": "all"}]
    folder = tmp_path / "forms"
    main = write_competition(folder, said)
    (folder / "programs" / "forms" / "__init__.py").write_text("from .main import evaluate\n")
    (folder / "programs" / "forms" / "main.py").write_text(EVALAI)
    with writing(engine) as session:
        apply_phases(session, load_competitions(main), storage=storage_of(get_settings()), now=NOW)
    make_key(engine)
    seal_gold(engine, gold, places=(PLACE,))
    run = scored(engine, ada, GOOD, "my answers.csv")
    assert values(engine, run) == {"accuracy": 0.75}
    assert log_of(engine, run)["stdout"] == "test my answers.csv\n"


# ------------------------------------------------------------------------------------------------- scores that are none


def test_nan_and_what_is_out_of_range_is_undefined_and_organisers_read_why(
    engine: Engine, ada: User, forms: Path
) -> None:
    nan, far = scored(engine, ada, answers("nan")), scored(engine, ada, answers("far"))
    assert values(engine, nan) == {
        "accuracy": "the program gave NaN, not a number",
        "covered": 4.0,
        "both": "accuracy is undefined",
    }
    assert values(engine, far)["covered"] == "it lies outside its declared range"
    assert log_of(engine, far)["notes"] == ["covered is 1000.0, outside its declared range, 0 to 100"]


def test_what_the_program_writes_beside_declared_metrics_is_for_organisers_alone(
    engine: Engine, ada: User, forms: Path
) -> None:
    run = scored(engine, ada, GOOD)
    assert log_of(engine, run)["undeclared"] == {"secret": "'sang'"}
    assert log_of(engine, run, is_organiser=False) == {}
    assert "sang" not in json.dumps([scores_of_report(run.report or b""), values(engine, run)], default=str)


# ------------------------------------------------------------------------------------------------------------ failures


def test_a_failing_program_fails_once_and_teams_read_one_neutral_sentence(
    engine: Engine, ada: User, forms: Path
) -> None:
    olga = add_user(engine, "olga")
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        grant_role(session, competition, session.merge(olga), Role.ORGANISER, NOW, actor=None)
    run = scored(engine, ada, answers("crash"))
    assert (run.status, run.attempts) == (RunStatus.REJECTED, 1)
    assert [one["sentence"] for one in run.problems] == [str(PROGRAM_FAILED)]
    log = log_of(engine, run)
    assert (log["failure"], log["exit_code"]) == ("ended with exit code 1", 1)
    assert "the gold form is walked" in log["stderr"]
    assert log_of(engine, run, is_organiser=False) == {}
    with reading(engine) as session:
        assert stage_of(session, run, "program", NOW).message == PROGRAM_FAILED_WORDS
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.startswith("Your program"))).all()
        entry = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id.desc())).first()
    assert entry == "run.program_fail"
    assert [(mail.subject, "the program ended with exit code 1" in mail.body) for mail in mails] == [
        (f"Your program failed in '{COMPETITION}'", True)
    ]


def test_a_program_that_never_ends_is_ended_and_the_worker_goes_on(engine: Engine, ada: User, forms: Path) -> None:
    apply(engine, forms, document(limits={**programs.OPTIONS["limits"], "seconds": 1}))
    run = scored(engine, ada, answers("sleep"))
    assert run.status == RunStatus.REJECTED
    assert log_of(engine, run)["failure"] == "was ended: it took more than 1 s"
    assert scored(engine, ada, GOOD).status == RunStatus.SCORED


def test_failures_of_the_program_count_towards_malformed_uploads_and_not_towards_the_quota(
    engine: Engine, ada: User, forms: Path
) -> None:
    said = document()
    said["phases"][0]["limits"] = {"per_day": 1, "total": 1, "rejected_per_hour": 2}
    apply(engine, forms, said)
    for number in range(2):
        assert scored(engine, ada, answers("crash") + f"{number},x\n").status == RunStatus.REJECTED
    with pytest.raises(EvergoldError, match="were rejected or failed within the last hour"):
        send(engine, ada, GOOD)


def test_teams_read_what_organisers_show_and_the_page_is_text_alone(engine: Engine, ada: User, forms: Path) -> None:
    apply(engine, forms, document(shown={"details": "teams"}))
    told = log_of(engine, scored(engine, ada, GOOD), is_organiser=False)
    assert told == {"page": "<p>3 right</p>"}


# ------------------------------------------------------------------------------------------------------------- binding


def test_titles_limits_and_metrics_change_while_gold_stays_sealed(engine: Engine, ada: User, forms: Path) -> None:
    metrics = [{"name": "accuracy", "title": "Share", "minimum": 0}, {"name": "covered", "better": "lower"}]
    limits = {**programs.OPTIONS["limits"], "seconds": 30}
    apply(engine, forms, document(metrics=metrics, limits=limits, files={}, tables={}))
    assert scored(engine, ada, GOOD).status == RunStatus.SCORED


OTHER = programs.SCORE + "print(gold)\n"


def test_another_program_does_not_open_the_gold_until_it_is_put_again(
    engine: Engine, ada: User, forms: Path, gold: Path
) -> None:
    told = apply(engine, forms, program=OTHER)
    assert any(one.startswith("changed program of task 'reinflection' of 'forms' from") for one in told)
    assert any("sealed for the previous program, command and environment: upload it again" in one for one in told)
    run = scored(engine, ada, GOOD)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 0)
    assert NOT_FOR_PROGRAM in (run.failure or "")
    with reading(engine) as session:
        assert "waiting for gold sealed for this program" in stage_of(session, run, "program", NOW).message
    seal_gold(engine, gold, publish=True, places=(PLACE,))
    score_submission(run.id)
    assert the_run(engine, run.id).status == RunStatus.SCORED


@pytest.mark.parametrize(
    "changed",
    [
        {"command": "python3 $program/score.py $input $output $hidden"},
        {"environment": ["six==1.17.0"]},
        {"environment": []},
        {"environment": "default"},
        {"python": "3.7"},
        {"contract": "evalai"},
    ],
)
def test_another_command_or_environment_does_not_open_the_gold(
    engine: Engine, ada: User, forms: Path, changed: Mapping[str, Any]
) -> None:
    with writing(engine) as session:  # as somebody would who writes to the database
        task = session.scalars(select(CompetitionTask).where(CompetitionTask.name == TASK)).one()
        task.options = {**task.options, **changed}
    run = scored(engine, ada, GOOD)
    assert run.status == RunStatus.QUEUED
    assert NOT_FOR_PROGRAM in (run.failure or "")


def test_a_change_that_opens_nothing_is_not_said_to(engine: Engine, ada: User, forms: Path) -> None:
    assert not any("upload it again" in one for one in apply(engine, forms, document(limits={"seconds": 5})))
    assert not any("forms" in one for one in apply(engine, forms, document(limits={"seconds": 5})))


def test_a_rescoring_set_keeps_its_program_and_its_gold(engine: Engine, ada: User, forms: Path) -> None:
    before = scored(engine, ada, GOOD)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        found = start_rescoring(Act(session, None, NOW, get_settings()), competition, [], note="again")
        runs = session.scalars(select(ScoringRun.id).where(ScoringRun.rescoring_id == found.id)).all()
    apply(engine, forms, program=OTHER)
    for run_id in runs:
        score_submission(run_id)
    again = the_run(engine, runs[0])
    assert (again.status, again.gold_version_id) == (RunStatus.SCORED, before.gold_version_id), again.failure


def test_a_program_put_into_the_database_does_not_open_the_gold(engine: Engine, ada: User, forms: Path) -> None:
    other = zipped(programs.files_of(OTHER))
    stored = store_upload([other], storage_of(get_settings()), limit_bytes=len(other))
    with writing(engine) as session:
        session.execute(
            update(CompetitionTask).where(CompetitionTask.name == TASK).values(program_sha256=stored.sha256)
        )
    run = scored(engine, ada, GOOD)
    assert (run.status, NOT_FOR_PROGRAM in (run.failure or "")) == (RunStatus.QUEUED, True)
    assert log_of(engine, run) == {}


# ------------------------------------------------------------------------------------------------------------- waiting


def test_without_a_sandbox_a_run_waits_for_a_worker_that_has_one(
    engine: Engine, ada: User, forms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_SANDBOX_BACKEND", "none")
    run = scored(engine, ada, GOOD)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 0)
    with reading(engine) as session:
        stage = stage_of(session, run, "program", NOW)
    assert stage.name == "waiting"
    assert "waiting for a worker with a sandbox since" in stage.message
    assert stage.waiting is not None
    assert "EVERGOLD_SANDBOX_BACKEND is 'none' on this machine" in stage.waiting.reasons[0]


def test_nothing_of_gold_is_left_behind(engine: Engine, ada: User, forms: Path, tmp_path: Path) -> None:
    places = [Path("/dev/shm"), Path(tempfile.gettempdir())]  # noqa: S108 - looked at, nothing is made there
    scored(engine, ada, GOOD)
    scored(engine, ada, answers("crash"))
    assert [path for place in places for path in place.glob(f"evergold-*-{os.getpid()}-*")] == []
    assert not any(GOLD.encode() in path.read_bytes() for path in (tmp_path / "var").rglob("*") if path.is_file())


# ------------------------------------------------------------------------------------------------------------ validate


def test_a_file_is_checked_without_the_program_and_without_gold(engine: Engine, ada: User, forms: Path) -> None:
    shutil.rmtree(get_settings().sealed_dir)
    found = [checked(engine, ada, content) for content in (GOOD, "id,word\n1,walked\n")]
    assert [one.status for one in found] == [ValidationStatus.VALID, ValidationStatus.INVALID]
    assert [one["sentence"] for one in found[1].problems] == [
        "answers.csv, line 1: the column form is missing; the header must be id,form",
        "answers.csv, line 1: the column word is not expected; the header must be id,form",
    ]


def checked(engine: Engine, user: User, content: str) -> Validation:
    folder, validation_id = get_settings().storage_dir, uuid4()
    writer = UploadWriter(FolderStorage(folder), 10**6, name=check_name(validation_id))
    writer.write(content.encode())
    stored = writer.finish()
    with writing(engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, TASK)
        accept_validation(
            session,
            asked,
            Sender(session.merge(user), NOW),
            FileToCheck(stored, "answers.csv", validation_id),
        )
    check_file(str(validation_id))
    with reading(engine) as session:
        return session.get_one(Validation, validation_id)
