"""Annotators' scores out of files: every problem by line, nothing half-taken, the same file as often as one likes."""

from __future__ import annotations

import csv
import threading
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, func, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import storage_of, store_upload
from app.competitions.find import find_phase_task
from app.judging.errors import CannotJudge, InvalidMarks, RoundPublished
from app.judging.marks_csv import MOST_ROWS, csv_pieces
from app.judging.organising import import_file
from app.judging.results import document_of, progress_of
from app.judging.rounds import RoundForm, add_round, publish_round
from app.judging.views import ImportOut
from app.models import JudgedText, Judgement, JudgingAnnotator, JudgingRound, RoundSource, User
from app.people.act import UserAct
from tests import world
from tests.beside import add_other_task
from tests.boards.places import board
from tests.competitions.embargo import add_phase
from tests.judging import judged as judging
from tests.rich_world import OTHER_TASK, fresh
from tests.threads import in_threads
from tests.world import COMPETITION, HOUR, NOW, PHASE, TASK

HEADER = "submission,item,annotator,mwe_sense,rest_sense,naturalness"


@pytest.fixture
def systems(engine: Engine) -> dict[str, UUID]:
    world.add_competition(engine, per_day=None)
    judging.add_task(engine)
    return judging.enter_three(engine)


@pytest.fixture
def olga(engine: Engine, systems: dict[str, UUID]) -> User:
    return world.add_user(engine, "olga", is_administrator=True)


def bring(
    engine: Engine, olga: User, *lines: object, name: str = "paper", header: str = HEADER, now: datetime = NOW
) -> ImportOut:
    return bring_bytes(engine, olga, "\n".join([header, *map(str, lines), ""]).encode(), name=name, now=now)


def bring_bytes(engine: Engine, olga: User, data: bytes, *, name: str = "paper", now: datetime = NOW) -> ImportOut:
    storage = storage_of(get_settings())
    sha256 = store_upload([data], storage, len(data)).sha256
    return import_file(engine, get_settings(), (COMPETITION, PHASE, TASK), name, sha256, user=olga, now=now)


def counts(imported: ImportOut) -> tuple[int, int, int]:
    return imported.added, imported.changed, imported.unchanged


def problems(engine: Engine, olga: User, *lines: object, header: str = HEADER) -> list[tuple[int | None, str]]:
    with pytest.raises(InvalidMarks) as caught:
        bring(engine, olga, *lines, header=header)
    return [(problem["line"], problem["code"]) for problem in caught.value.details["problems"]]


def test_marks_become_scores_and_agreement(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    alpha, beta = systems["alpha"], systems["beta"]
    rows = [
        f"{alpha},en-1,A1,3,3,3",  # 12/12
        f"{alpha},en-1,A2,2,3,3",  # 10/12
        f"{alpha},en-2,A1,0,1,2",  # 3/12
        f"{alpha},pt-1,A1,1,1,1",  # 4/12
        f"{beta},en-1,A1,2,2,2",  # 8/12
        f"{beta},pt-1,A1,3,0,0",  # 6/12
    ]
    assert counts(bring(engine, olga, *rows)) == (6, 0, 0)
    with reading(engine) as session:
        found = judging.the_round(session, "paper")
        document = document_of(session, found)
        assert [(one.language, one.annotator, one.done, one.total) for one in progress_of(session, found)] == [
            ("en", "A1", 3, 3),
            ("en", "A2", 1, 3),
            ("pt", "A1", 2, 2),
        ]
    scores = document["scores"]
    assert scores[str(alpha)]["en"]["value"] == pytest.approx(((12 + 10) / 24 + 3 / 12) / 2)
    assert scores[str(alpha)]["macro"]["value"] == pytest.approx(((22 / 24 + 3 / 12) / 2 + 4 / 12) / 2)
    assert scores[str(beta)]["macro"]["value"] == pytest.approx((8 / 12 + 6 / 12) / 2)
    assert document["agreement"]["en"]["score"]["units"] == 1


def test_where_it_is_still_there_marks_may_be_missing(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    alpha = systems["alpha"]
    header = f"{HEADER},removed"
    bring(
        engine, olga, f"{alpha},en-1,A1,,,,no", f"{alpha},en-2,A1,3,3,3,yes", f"{alpha},en-3,A1,3,3,3,", header=header
    )
    with reading(engine) as session:
        document = document_of(session, judging.the_round(session, "paper"))
    assert document["scores"][str(alpha)]["en"]["value"] == pytest.approx(2 / 3)


def test_marks_of_what_is_still_there_are_neither_agreed_about_nor_exported(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    place = f"{systems['alpha']},en-1"
    bring(engine, olga, f"{place},A1,3,3,3,no", f"{place},A2,3,3,3,yes", header=f"{HEADER},removed")
    with reading(engine) as session:
        found = judging.the_round(session, "paper")
        agreement = document_of(session, found)["agreement"]["en"]
    assert [agreement[measure]["units"] for measure in ("mwe_sense", "score")] == [0, 1]
    rows = csv.DictReader("".join(csv_pieces(engine, found.id)).splitlines())
    assert [(row["removed"], row["mwe_sense"], row["naturalness"]) for row in rows] == [
        ("no", "", ""),
        ("yes", "3", "3"),
    ]


def test_equal_paraphrases_may_have_got_different_marks_in_a_file(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    alpha, beta = systems["alpha"], systems["beta"]
    bring(engine, olga, f"{alpha},en-2,A1,3,3,3", f"{beta},en-2,A1,0,0,0")
    with reading(engine) as session:
        scores = document_of(session, judging.the_round(session, "paper"))["scores"]
    assert [scores[str(one)]["en"]["value"] for one in (alpha, beta)] == [1.0, 0.0]


def test_the_same_file_again_changes_nothing_and_a_corrected_one_what_it_corrects(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    alpha = systems["alpha"]
    rows = [f"{alpha},en-1,A1,3,3,3", f"{alpha},en-2,A1,2,2,2"]
    assert counts(bring(engine, olga, *rows)) == (2, 0, 0)
    assert counts(bring(engine, olga, *reversed(rows))) == (0, 0, 2)
    assert counts(bring(engine, olga, f"{alpha},en-2,A1,1,2,2", f"{alpha},en-3,A1,0,0,0")) == (1, 1, 0)
    with reading(engine) as session:
        for table, rows_expected in ((JudgingRound, 1), (JudgingAnnotator, 1), (JudgedText, 3), (Judgement, 3)):
            assert len(session.scalars(fresh(table)).all()) == rows_expected


@pytest.mark.both
def test_every_problem_is_told_at_once_by_line_and_nothing_is_taken(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    alpha, gamma, unknown = systems["alpha"], systems["gamma"], uuid4()
    found = problems(
        engine,
        olga,
        f"{alpha},en-1,A1,3,3,3",
        f"{unknown},en-1,A1,3,3,3",
        "alpha,en-1,A1,3,3,3",
        f"{alpha},en-9,A1,3,3,3",
        f"{gamma},pt-1,A1,3,3,3",  # did not enter Portuguese
        f"{alpha},en-1,,3,3,3",
        f"{alpha},en-2,A1,4,-1,x",
        f"{alpha},en-3,A1,3,,2.0",
        f"{alpha},en-1,A1,1,1,1",
        ",,A1,1,1,1",
    )
    assert found == [
        (3, "unknown-submission"),
        (4, "unknown-submission"),
        (5, "unknown-item"),
        (6, "unknown-item"),
        (7, "missing-annotator"),
        (8, "mark-out-of-range"),
        (8, "mark-out-of-range"),
        (8, "mark-out-of-range"),
        (9, "missing-mark"),
        (9, "mark-out-of-range"),
        (10, "duplicate-row"),
        (11, "missing-submission"),
    ]
    with reading(engine) as session:
        assert session.scalars(fresh(JudgingRound)).all() == []


def test_the_problems_are_whole_sentences(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    alpha = systems["alpha"]
    with pytest.raises(InvalidMarks, match=r"2 problems; nothing was imported") as caught:
        bring(engine, olga, f"{alpha},en-1,A1,3,3,3", f"{alpha},en-1,A1,5,1,1", f"{alpha},en-1,A1,3,3,3")
    assert [problem["sentence"] for problem in caught.value.details["problems"]] == [
        "line 3, column mwe_sense: a mark must be a number from 0 to 3, not 5",
        "line 4: A1 already judged this paraphrase on line 2",
    ]


@pytest.mark.parametrize(
    ("header", "row", "code"),
    [
        ("submission,item,annotator,mwe_sense,rest_sense", "x,en-1,A1,3,3", "wrong-columns"),
        (HEADER, "x,en-1,A1,3,3", "wrong-field-count"),
        (f"{HEADER},removed", "{alpha},en-1,A1,3,3,3,perhaps", "bad-removed"),
        (f"{HEADER},language", "{alpha},en-1,A1,3,3,3,xx", "unknown-language"),
        (f"{HEADER},language", "{alpha},en-1,A1,3,3,3,pt", "unknown-item"),
        (HEADER, "{alpha},en-1," + "x" * 101 + ",3,3,3", "bad-annotator"),
    ],
)
def test_what_else_can_be_wrong(
    engine: Engine, systems: dict[str, UUID], olga: User, header: str, row: str, code: str
) -> None:
    found = problems(engine, olga, row.format(alpha=systems["alpha"]), header=header)
    assert code in [one for _, one in found]


def test_an_empty_file_and_a_header_alone_are_told(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    assert problems(engine, olga) == [(None, "empty-file")]
    with pytest.raises(InvalidMarks):
        bring_bytes(engine, olga, b"\n")


def test_a_file_of_too_many_rows_is_refused_and_comes_in_parts(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    rows = [f"{systems['alpha']},en-1,A{number},3,3,3" for number in range(MOST_ROWS + 1)]
    assert problems(engine, olga, *rows) == [(None, "too-many-rows")]
    assert counts(bring(engine, olga, *rows[:MOST_ROWS])) == (MOST_ROWS, 0, 0)
    assert counts(bring(engine, olga, *rows[MOST_ROWS:])) == (1, 0, 0)


def test_an_item_of_two_languages_needs_to_be_told_which(engine: Engine) -> None:
    world.add_competition(engine, per_day=None)
    judging.add_task(engine, {"en": {"1": "A red herring."}, "pt": {"1": "Um bode expiatório."}})
    olga = world.add_user(engine, "olga", is_administrator=True)
    texts = {"en": {"1": "A false clue."}, "pt": {"1": "Um culpado falso."}}
    alpha = judging.enter(engine, world.add_user(engine, "alpha"), texts, {"en": 0.5, "pt": 0.5})
    assert problems(engine, olga, f"{alpha},1,A1,3,3,3") == [(2, "unknown-item")]
    rows = (f"{alpha},1,A1,3,3,3,EN", f"{alpha},1,A1,0,0,0,pt")
    assert counts(bring(engine, olga, *rows, header=f"{HEADER},language")) == (2, 0, 0)


def test_rounds_are_not_mixed_up(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    row = f"{systems['alpha']},en-1,A1,3,3,3"
    judging.start(engine, olga)
    with pytest.raises(CannotJudge, match="judged in the browser"):
        bring(engine, olga, row, name="human")
    bring(engine, olga, row)
    with writing(engine) as session:
        competition, _ = judging.places(session)
        publish_round(UserAct(session, olga, NOW, get_settings()), competition, judging.the_round(session, "paper"))
    with pytest.raises(RoundPublished):
        bring(engine, olga, row)


def test_a_round_of_another_task_or_phase_takes_no_marks_of_this_one(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    add_other_task(engine)
    add_phase(engine, "post", starts_at=NOW)
    with writing(engine) as session:
        competition, _ = judging.places(session)
        for name, phase, task in (("other-task", PHASE, OTHER_TASK), ("other-phase", "post", TASK)):
            asked = find_phase_task(session, COMPETITION, phase, task)
            add_round(session, competition, asked, RoundForm(name, seed=0), RoundSource.IMPORT, NOW)
    for name in ("other-task", "other-phase"):
        with pytest.raises(CannotJudge, match="about another task or phase"):
            bring(engine, olga, f"{systems['alpha']},en-1,A1,3,3,3", name=name)


def test_two_files_of_the_same_annotators_are_two_rounds(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    """Check an empty paraphrase, too: it is counted where a file has marks of it."""
    gamma = systems["gamma"]
    for name, digits in (("paper", "3,3,3"), ("second", "0,0,0")):
        rows = [f"{gamma},{item},A1,{digits}" for item in ("en-1", "en-3")]
        assert counts(bring(engine, olga, *rows, name=name)) == (2, 0, 0)
    with reading(engine) as session:
        rounds = [judging.the_round(session, name) for name in ("paper", "second")]
        assert [document_of(session, one)["scores"][str(gamma)]["en"]["value"] for one in rounds] == [1.0, 0.0]
        for one in rounds:
            (told,) = progress_of(session, one)
            assert (told.language, told.annotator, told.done, told.total) == ("en", "A1", 2, 2)


def test_imported_and_published_scores_stand_on_the_board(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    bring(engine, olga, f"{systems['alpha']},en-1,A1,3,3,3", f"{systems['alpha']},pt-1,A1,0,0,0")
    with writing(engine) as session:
        competition, _ = judging.places(session)
        publish_round(UserAct(session, olga, NOW, get_settings()), competition, judging.the_round(session, "paper"))
    cells = {row.team: row.cells[-1] for row in board(engine).rows}
    assert cells["Alpha"].value == 0.5
    assert cells["Beta"].reason == "this submission was not judged"


@pytest.mark.both
def test_two_imports_at_once_make_one_round(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    rows = [f"{systems['alpha']},en-{number},A1,3,3,3" for number in (1, 2, 3)]
    bring(engine, olga, rows[0])
    together = threading.Barrier(2)

    def one(_: int) -> Any:
        together.wait()
        return counts(bring(engine, olga, *rows))

    assert sorted(in_threads(2, one)) == [(0, 0, 3), (2, 0, 1)]
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(Judgement)) == 3


def test_what_is_exported_can_be_imported(engine: Engine, systems: dict[str, UUID], olga: User) -> None:
    alpha, beta = systems["alpha"], systems["beta"]
    header = f"{HEADER},removed"
    rows = (f"{alpha},en-1,=A1,3,2,1,yes", f"{beta},en-2,A2,,,,no", f"{beta},en-3,'t Hooft,1,1,1,yes")
    bring(engine, olga, *rows, header=header)
    with reading(engine) as session:
        found = judging.the_round(session, "paper")
        assert found.source == RoundSource.IMPORT
    exported = "".join(csv_pieces(engine, found.id))
    lines = exported.splitlines()
    assert lines[0] == "submission,language,item,annotator,removed,mwe_sense,rest_sense,naturalness,decided_at"
    assert len(lines) == 4
    assert f"{beta},en,en-2,A2,no,,,," in exported
    assert f"{beta},en,en-3,'t Hooft,yes,1,1,1," in exported, "an apostrophe that belongs to a name stays"
    again = bring(engine, olga, *lines[1:], header=lines[0])
    assert "'=A1" in exported  # no spreadsheet takes the name for a formula …
    assert counts(again) == (0, 0, 3)  # … and it is the same name when it comes back


def test_an_export_is_sorted_and_dates_a_corrected_mark_anew(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    alpha, later = systems["alpha"], NOW + HOUR
    places = ("pt-1,A1", "en-3,A2", "en-1,A2", "en-1,A1")
    bring(engine, olga, *(f"{alpha},{place},3,3,3" for place in places))
    bring(engine, olga, f"{alpha},en-3,A2,1,2,3", f"{alpha},en-1,A1,3,3,3", now=later)
    with reading(engine) as session:
        found = judging.the_round(session, "paper")
    rows = list(csv.DictReader("".join(csv_pieces(engine, found.id)).splitlines()))
    assert [(row["item"], row["annotator"], row["mwe_sense"], row["decided_at"]) for row in rows] == [
        ("en-1", "A1", "3", NOW.isoformat()),
        ("en-1", "A2", "3", NOW.isoformat()),
        ("en-3", "A2", "1", later.isoformat()),
        ("pt-1", "A1", "3", NOW.isoformat()),
    ]


def test_marks_of_the_browser_are_exported_for_every_system_that_shares_a_paraphrase(
    engine: Engine, systems: dict[str, UUID], olga: User
) -> None:
    from app.judging.marks import save_marks

    anna = world.add_user(engine, "anna")
    judging.start(engine, olga, annotators={"anna": "en"})
    with writing(engine) as session:
        found = judging.the_round(session)
        shared = select(JudgedText.id).where(JudgedText.paraphrase == "My brother stays up late.")
        text_id = session.scalars(shared).one()
        said = {"mwe_sense": "3", "rest_sense": "2", "naturalness": "1"}
        save_marks(session, found, judging.annotator_of(session, found, anna), text_id, said, NOW)
    lines = "".join(csv_pieces(engine, found.id)).splitlines()[1:]
    assert sorted(line.split(",")[0] for line in lines) == sorted(str(systems[name]) for name in ("alpha", "beta"))
    assert {tuple(line.split(",")[1:8]) for line in lines} == {("en", "en-2", "anna", "yes", "3", "2", "1")}
