"""Phases that ask several tasks, and those of them that ask one, as clients of Codabench read them: each its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import update

from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.models import HistoricRow, PhaseTask, PublicFile, ScoringRun, Stage, Submission
from app.web.codabench.numbers import KeyOf, key_of, number_of
from tests import world
from tests.beside import add_other_task
from tests.competitions.embargo import add_phase, declare, enter, hide
from tests.rich_world import NEIGHBOURS, OTHER_BOARDS, OTHER_TASK, last_run
from tests.web.codabench.test_facade import hold, listed, send
from tests.web.site import Person, Site
from tests.world import COMPETITION, DAY, EARLIER_PHASE, HOUR, NOW, PHASE, SECOND, TASK

POST = "post"


@dataclass(frozen=True)
class Numbers:
    """The numbers and names that clients use: phases and boards by name, tasks by the names of phase and task."""

    competition: int
    phases: Mapping[str, int]
    tasks: Mapping[tuple[str, str], int]
    boards: Mapping[str, int]


@pytest.fixture
def numbers(site: Site) -> Numbers:
    """Return a competition in which `evaluation` has two tasks, `post` and `earlier` one of them; each has a file of
    its own.
    """
    engine = site.engine
    add_other_task(engine, limits={"total": 7})
    add_phase(engine, POST, starts_at=NOW - HOUR, submissions_total=5)
    with writing(engine) as session:
        found = find_competition(session, COMPETITION)
        found.summary, found.description, found.contact = "In short.", "At length.", "olga@example.org"
        for phase in found.phases:
            for one in phase.phase_tasks:
                name = f"{phase.name}-{one.task.name}.csv"
                session.add(PublicFile(phase_task_id=one.id, name=name, title=name, sha256="0" * 64, size_bytes=one.id))
        found.tasks[1].description = "Of the other task."
        return Numbers(
            found.id,
            {phase.name: phase.id for phase in found.phases},
            {(phase.name, one.task.name): one.id for phase in found.phases for one in phase.phase_tasks},
            {board.name: board.id for board in found.boards},
        )


def get(person: Person, path: str, **asked: Any) -> Any:
    answer = person.client.get(f"/api/{path}", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_competition_has_its_phases_in_order_with_their_own_dates_limits_and_tasks(
    ada: Person, numbers: Numbers
) -> None:
    world.submit(ada.site.engine, ada.user, NOW - 20 * HOUR, content="yesterday")
    world.submit(ada.site.engine, ada.user, content="again")
    found = get(ada, f"competitions/{numbers.competition}/")
    assert (found["description"], found["created_by"], found["published"]) == ("In short.", "olga@example.org", True)
    assert [(one["index"], one["title"], one["content"]) for one in found["pages"]] == [
        (0, "Overview", "At length."),
        (1, "Similarity", "Of the other task."),
    ]
    told = [(one["id"], one["index"], one["name"], one["status"], one["start"], one["end"]) for one in found["phases"]]
    phases = numbers.phases
    assert told == [
        (phases[PHASE], 0, "Evaluation", "Current", "2026-01-09T12:00:00Z", "2026-01-11T12:00:00Z"),
        (phases[POST], 1, "Post", "Current", "2026-01-10T11:00:00Z", None),
        (phases[EARLIER_PHASE], 2, "Earlier", "Previous", "2026-01-01T12:00:00Z", "2026-01-07T12:00:00Z"),
    ]
    assert found["created_when"] == "2026-01-01T12:00:00Z"
    limits = ("max_submissions_per_day", "max_submissions_per_person", "used_submissions_per_person")
    assert [[one[name] for name in limits] for one in found["phases"]] == [[10, None, 2], [None, 5, 0], [1, 2, 0]]
    tasks = [
        (task["id"], task["phase"], task["name"], [file["name"] for file in task["public_datasets"]])
        for phase in found["phases"]
        for task in phase["tasks"]
    ]
    assert tasks == [
        (number, phases[phase], title, [f"{phase}-{task}.csv"])
        for phase, task, title in (
            (PHASE, TASK, "Detection"),
            (PHASE, OTHER_TASK, "Similarity"),
            (POST, TASK, "Detection"),
            (EARLIER_PHASE, TASK, "Detection"),
        )
        for number in [numbers.tasks[phase, task]]
    ]
    assert get(ada, "phases/", competition=numbers.competition) == found["phases"]
    for phase in found["phases"]:
        assert get(ada, f"phases/{phase['id']}/") == phase
        for task in phase["tasks"]:
            assert get(ada, f"tasks/{task['id']}/") == task
            assert task["key"] == str(key_of(KeyOf.PHASE_TASK, task["id"]))
    listed_tasks = get(ada, "tasks/", competition=numbers.competition)
    assert [one["id"] for one in listed_tasks["results"]] == [task[0] for task in tasks]


def test_boards_are_those_of_a_phase_or_else_of_the_one_that_matters_now(ada: Person, numbers: Numbers) -> None:
    site, boards, phases = ada.site, numbers.boards, numbers.phases

    def shown(**asked: Any) -> list[tuple[int, int]]:
        return [(one["id"], one["phase"]) for one in get(ada, "leaderboards/", **asked)]

    both = [(boards[name], phases[PHASE]) for name in ("zero-shot", "one-shot", *OTHER_BOARDS)]
    assert shown(phase=phases[PHASE]) == both
    assert shown(phase=phases[POST]) == [(boards[name], phases[POST]) for name in ("zero-shot", "one-shot")]
    first = get(ada, f"phases/{phases[POST]}/get_leaderboard/")
    assert (first["id"], first["phase"]) == (boards["zero-shot"], phases[POST])
    for name in ("zero-shot", OTHER_BOARDS[1]):
        assert get(ada, f"leaderboards/{boards[name]}/")["phase"] == phases[PHASE]
    earlier = get(ada, f"leaderboards/{boards['zero-shot']}/", phase=phases[EARLIER_PHASE])
    assert (earlier["phase"], [row["owner"] for row in earlier["submissions"]]) == (
        phases[EARLIER_PHASE],
        ["Early Birds"],
    )
    nothing = ada.client.get(f"/api/leaderboards/{boards[OTHER_BOARDS[0]]}/", params={"phase": phases[POST]})
    assert nothing.status_code == 404
    site.set_clock(NOW + 2 * DAY)
    assert get(ada, f"leaderboards/{boards['zero-shot']}/")["phase"] == phases[POST]
    assert get(ada, f"leaderboards/{boards[OTHER_BOARDS[0]]}/")["phase"] == phases[PHASE]
    summaries = get(ada, f"competitions/{numbers.competition}/")["leaderboards"]
    assert [(one["id"], one["title"]) for one in summaries] == [(number, name) for name, number in boards.items()]
    keys = [[column["key"] for column in one["columns"]] for one in summaries]
    assert keys[0] == ["detection.macro_f1.zero_shot/all", "detection.accuracy.zero_shot/all"]
    assert keys[2] == ["similarity.macro_f1.zero_shot/all", "similarity.accuracy.zero_shot/all"]
    assert {one["primary_index"] for one in summaries} == {0}
    results = ada.client.get(f"/api/competitions/{numbers.competition}/results.csv", params={"phase": phases[POST]})
    assert results.headers["location"].endswith(f"/phases/{POST}/boards/zero-shot.csv")
    with reading(site.engine) as session:
        door = find_competition(session, NEIGHBOURS).id
    assert ada.client.get(f"/api/competitions/{door}/results.csv", params={"phase": phases[POST]}).status_code == 404


def test_a_column_that_is_not_shown_is_in_no_summary(ada: Person, numbers: Numbers) -> None:
    with writing(ada.site.engine) as session:
        for board in find_competition(session, COMPETITION).boards:
            board.rank_metric = "accuracy"
    hide(ada.site.engine, slices="none")
    (first, *_) = get(ada, f"competitions/{numbers.competition}/")["leaderboards"]
    assert [column["title"] for column in first["columns"]] == ["zero-shot · Accuracy"]
    assert (first["primary_index"], first["columns"][0]["sorting"]) == (0, "desc")


def test_a_board_that_ranks_by_its_second_column_says_so_everywhere(ada: Person, numbers: Numbers) -> None:
    engine, boards = ada.site.engine, numbers.boards
    with writing(engine) as session:
        for board in find_competition(session, COMPETITION).boards:
            board.rank_metric = "accuracy"
    number = send(ada, hold(ada), tasks=str(numbers.tasks[PHASE, TASK])).json()["id"]
    world.score(engine, last_run(engine), 0.75, 0.5)
    key = "detection.accuracy.zero_shot/all"
    (summary, *_) = get(ada, f"competitions/{numbers.competition}/")["leaderboards"]
    whole = get(ada, f"leaderboards/{boards['zero-shot']}/")
    for one in (summary, whole):
        assert (one["primary_index"], one["columns"][1]["key"]) == (1, key)
    (row,) = whole["submissions"]
    assert [(one["index"], one["column_key"]) for one in row["scores"] if one["is_primary"]] == [(1, key)]
    found = get(ada, f"submissions/{number}/")
    assert [one["column_key"] for one in found["scores"] if one["is_primary"]] == [key]
    assert found["owner"] == row["owner"] == "Ada"


def test_a_column_says_which_end_of_its_own_metric_wins(ada: Person, numbers: Numbers) -> None:
    with writing(ada.site.engine) as session:
        competition = find_competition(session, COMPETITION)
        generation = next(one for one in competition.tasks if one.name == OTHER_TASK)
        generation.task_type, generation.options = "text-generation", {}
        for board in competition.boards:
            if board.task_id == generation.id:
                board.columns = [{**board.columns[0], "metric": name, "split": "all"} for name in ("bleu", "ter")]
                board.rank_metric, board.rank_split = "ter", "all"
    summaries = get(ada, f"competitions/{numbers.competition}/")["leaderboards"]
    whole = [get(ada, f"leaderboards/{one['id']}/") for one in summaries]
    for found in (summaries, whole):
        told = [[column["sorting"] for column in one["columns"]] for one in found]
        assert told == [["desc", "desc"]] * 2 + [["desc", "asc"]] * 2


def test_a_score_that_the_phase_it_came_from_does_not_show_is_left_out(ada: Person, numbers: Numbers) -> None:
    """Check a row that is carried over from a phase that shows ranking scores alone, beside one of this phase."""
    engine = ada.site.engine
    hide(engine, phase=EARLIER_PHASE, slices="none")
    declare(engine, phase=POST, carry_over=EARLIER_PHASE)
    with writing(engine) as session:
        before, here = (find_phase_task(session, COMPETITION, phase, TASK) for phase in (EARLIER_PHASE, POST))
        here.gold, here.options = before.gold, before.options
    enter(engine, ada.user, 0.75, 0.5, phase=POST)
    found = get(ada, f"leaderboards/{numbers.boards['zero-shot']}/", phase=numbers.phases[POST])
    told = {row["owner"]: [(one["column_key"], one["score"]) for one in row["scores"]] for row in found["submissions"]}
    f1, accuracy = "detection.macro_f1.zero_shot/all", "detection.accuracy.zero_shot/all"
    assert told == {
        "Early Birds": [(f1, "0.9600000000")],
        "Ada": [(f1, "0.7500000000"), (accuracy, "0.3750000000")],
    }


def test_competitions_are_listed_by_number_and_found_by_every_word(ada: Person, numbers: Numbers) -> None:
    with writing(ada.site.engine) as session:
        door = find_competition(session, NEIGHBOURS)
        last, first = sorted((door, find_competition(session, COMPETITION)), key=lambda one: one.id)
        first.position, last.position = 1, 2
        door.summary = "At the same length."
        ids = {COMPETITION: numbers.competition, NEIGHBOURS: door.id}
    assert [one["id"] for one in get(ada, "competitions/")] == sorted(ids.values())
    for words, names in (
        ("idioms", [COMPETITION]),
        ("IN short", [COMPETITION]),
        ("same neighbours", [NEIGHBOURS]),
        ("same idioms", []),
    ):
        assert [one["id"] for one in get(ada, "competitions/", search=words)] == [ids[name] for name in names], words


def test_one_upload_to_two_tasks_has_the_scores_and_reasons_of_each(ada: Person, numbers: Numbers) -> None:
    engine = ada.site.engine
    sent = send(ada, hold(ada)).json()
    number: int = sent["id"]
    ada.site.set_clock(NOW + SECOND)
    alone = send(ada, hold(ada, b"other"), tasks=str(numbers.tasks[PHASE, OTHER_TASK])).json()["id"]
    with reading(engine) as session:
        runs = {
            (submission.phase_task_id, submission.sha256): run.id
            for run in session.query(ScoringRun)
            for submission in [session.get_one(Submission, run.submission_id)]
            if submission.user_id == ada.user.id
        }
    mine = {task: run for (task, _), run in runs.items()}
    assert len(runs) == 3
    detection, similarity = (numbers.tasks[PHASE, task] for task in (TASK, OTHER_TASK))
    found = get(ada, f"submissions/{number}/")
    assert [(one["id"], one["name"]) for one in found["tasks"]] == [
        (detection, "Detection"),
        (similarity, "Similarity"),
    ]
    assert (found["status"], found["phase"], found["competition"]) == (
        "Submitted",
        numbers.phases[PHASE],
        numbers.competition,
    )
    world.score(engine, mine[detection], 0.75, 0.5)
    assert get(ada, f"submissions/{number}/")["status"] == "Submitted", "one of the two waits"
    first = [run for (task, _), run in runs.items() if task == similarity]
    world.reject(engine, min(first))
    found = get(ada, f"submissions/{number}/")
    assert (found["status"], found["status_details"]) == ("Failed", "Similarity: id 203 appears twice, first on line 9")
    scores = {one["column_key"]: (one["score"], one["is_primary"]) for one in found["scores"]}
    assert scores["detection.macro_f1.zero_shot/all"] == ("0.7500000000", True)
    assert scores["detection.macro_f1.one_shot/all"] == ("0.5000000000", False)
    details = get(ada, f"submissions/{number}/get_details/")
    assert [one["name"] for one in details["logs"]] == ["similarity-problems.csv"]
    assert [one["id"] for one in details["leaderboards"]] == list(numbers.boards.values())
    world.score(engine, max(first), 0.25, 0.125)
    found = get(ada, f"submissions/{alone}/")
    assert (found["status"], [one["id"] for one in found["tasks"]]) == ("Finished", [similarity])
    assert [one["column_key"] for one in found["scores"] if one["is_primary"]] == ["similarity.macro_f1.zero_shot/all"]
    details = get(ada, f"submissions/{alone}/get_details/")
    assert [one["id"] for one in details["leaderboards"]] == [numbers.boards[name] for name in OTHER_BOARDS]
    assert [one["id"] for one in listed(ada)["results"]] == [alone, number]
    assert listed(ada, phase=numbers.phases[POST])["results"] == []


def test_a_file_is_found_by_its_key_in_its_own_place(ada: Person, numbers: Numbers) -> None:
    found = get(ada, f"competitions/{numbers.competition}/")
    files = {
        file["name"]: file for phase in found["phases"] for task in phase["tasks"] for file in task["public_datasets"]
    }
    with reading(ada.site.engine) as session:
        places = {place: find_phase_task(session, COMPETITION, *place).id for place in numbers.tasks}
    assert {name: file["file_size"] for name, file in files.items()} == {
        f"{phase}-{task}.csv": number for (phase, task), number in places.items()
    }
    assert len({file["key"] for file in files.values()}) == len(files) == 4
    with writing(ada.site.engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, TASK)
        asked.files_from = {asked.files[0].name: (NOW + HOUR).isoformat()}
    path = f"tasks/{numbers.tasks[PHASE, TASK]}/"
    assert get(ada, path)["public_datasets"] == [], "it is not yet there"
    ada.site.set_clock(NOW + HOUR)
    with writing(ada.site.engine) as session:
        asked = find_phase_task(session, COMPETITION, PHASE, TASK)
        asked.files_for = {asked.files[0].name: "participants"}
    assert get(ada, path)["public_datasets"] == [files[f"{PHASE}-{TASK}.csv"]]
    with ada.site.client() as nobody:
        assert nobody.get(f"/api/{path}").json()["public_datasets"] == [], "it is for participants"
    with writing(ada.site.engine) as session:
        find_competition(session, COMPETITION).stage = Stage.DRAFT
    for file in files.values():
        assert ada.client.get(f"/api/datasets/{file['key']}/download/").status_code == 404


def test_a_file_that_could_not_be_scored_is_nobodys_fault(ada: Person, numbers: Numbers) -> None:
    engine = ada.site.engine
    number = send(ada, hold(ada), tasks=str(numbers.tasks[PHASE, TASK])).json()["id"]
    assert get(ada, f"submissions/{number}/")["status_details"] is None
    world.fail(engine, last_run(engine))
    found = get(ada, f"submissions/{number}/")
    words = "The server could not score this file. This is not your fault and uses no quota."
    assert (found["status"], found["status_details"]) == ("Failed", words)


def test_tasks_are_named_in_keys_only_where_a_phase_asks_two(ada: Person) -> None:
    """`earlier` and `evaluation` ask one task, `post` alone the other, which is what matters once they have ended."""
    engine = ada.site.engine
    add_other_task(engine)
    add_phase(engine, POST, starts_at=NOW - HOUR)
    with writing(engine) as session:
        competition = find_competition(session, COMPETITION)
        phases = {phase.name: phase for phase in competition.phases}
        (similarity,) = (one for one in phases[PHASE].phase_tasks if one.task.name == OTHER_TASK)
        session.delete(similarity)
        phases[POST].phase_tasks[0].task_id = similarity.task_id
        phases[EARLIER_PHASE].position, phases[PHASE].position, phases[POST].position = 0, 1, 2
        boards = {board.name: board.id for board in competition.boards}
        ids = {name: phase.id for name, phase in phases.items()}
    ada.site.set_clock(NOW + 2 * DAY)
    for name, phase in (("zero-shot", PHASE), (OTHER_BOARDS[0], POST)):
        found = get(ada, f"leaderboards/{boards[name]}/")
        assert (found["phase"], found["columns"][0]["key"]) == (ids[phase], "macro_f1.zero_shot/all"), name


def test_submissions_to_a_phase_of_the_same_name_elsewhere_are_not_among_those_of_a_phase(ada: Person) -> None:
    engine = ada.site.engine
    with writing(engine) as session:
        doors = {name: find_competition(session, name) for name in (COMPETITION, NEIGHBOURS)}
        phases = {name: next(one.id for one in door.phases if one.name == PHASE) for name, door in doors.items()}
    world.add_team(engine, ada.user, name="Ada next door", competition=NEIGHBOURS)
    here = number_of(world.submit(engine, ada.user).submission.id)
    there = number_of(world.submit(engine, ada.user, NOW - 4 * DAY, competition=NEIGHBOURS).submission.id)
    assert [one["id"] for one in listed(ada, phase=phases[COMPETITION])["results"]] == [here]
    assert [one["id"] for one in listed(ada, phase=phases[NEIGHBOURS])["results"]] == [there]


def test_a_page_ends_with_a_whole_upload(ada: Person, numbers: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first read of submissions ends between the two tasks of the second upload."""
    monkeypatch.setattr("app.web.codabench.submissions.FIRST_READ", 3)
    sent = []
    for second in range(3):
        ada.site.set_clock(NOW + second * SECOND)
        sent.append(send(ada, hold(ada, f"file {second}".encode())).json()["id"])
    for page, number in enumerate(reversed(sent), start=1):
        (found,) = listed(ada, page_size=1, page=page)["results"]
        assert (found["id"], len(found["tasks"])) == (number, 2), page


def test_a_file_that_was_cleared_has_no_address(ada: Person, numbers: Numbers) -> None:
    number = send(ada, hold(ada), tasks=str(numbers.tasks[PHASE, TASK])).json()["id"]
    assert get(ada, f"submissions/{number}/get_details/")["data_file"] is not None
    with writing(ada.site.engine) as session:
        for one in session.query(Submission).filter_by(user_id=ada.user.id):
            one.file_cleared_at = NOW
    assert get(ada, f"submissions/{number}/get_details/")["data_file"] is None


def test_published_rows_are_not_those_of_teams(ada: Person, numbers: Numbers) -> None:
    with writing(ada.site.engine) as session:
        scores = {"macro_f1 zero_shot/all": 0.9, "accuracy zero_shot/all": 0.9}
        phase, board = numbers.phases[PHASE], numbers.boards["zero-shot"]
        session.add(HistoricRow(phase_id=phase, board_id=board, team="In print", scores=scores, source="Table 5"))
        session.execute(update(PhaseTask).values(board_version=PhaseTask.board_version + 1))
    world.submit(ada.site.engine, ada.user)
    world.score(ada.site.engine, last_run(ada.site.engine), 0.75, 0.5)
    assert "In print" in ada.client.get(f"/competitions/{COMPETITION}/phases/{PHASE}/boards/zero-shot").text
    assert [row["owner"] for row in get(ada, f"leaderboards/{numbers.boards['zero-shot']}/")["submissions"]] == ["Ada"]
