"""Tracks: declared per competition, chosen with each submission, shown by boards; from phases.yaml to the board."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.base.errors import IdempotencyConflict, InvalidForm
from app.boards.leaderboard import Leaderboard, build_leaderboard
from app.competitions.find import find_board, find_competition
from app.competitions.tracks import Track, track_title
from app.competitions.visibility import Viewer
from app.models import Board, Competition, Submission, Team, TeamKind, User
from app.submissions.accept import Accepted, Sender, SubmissionForm, accept_submission
from tests.declarations.applying import apply, made, noted, submit as submit_in_demo
from tests.declarations.competition_folder import Competition as Folder, make_competition
from tests.rich_world import NEIGHBOURS, own
from tests.world import (
    COMPETITION,
    DAY,
    NOW,
    PHASE,
    PREPARED,
    SECOND,
    add_competition,
    add_team,
    add_user,
    score,
    submit,
    the_phase_task,
    upload_of,
)

CLOSED = {"name": "closed", "title": "Closed", "description": "Only the data provided."}
OPEN = {"name": "open", "title": "Open", "description": ""}


def declare(engine: Engine, *tracks: dict[str, str]) -> None:
    with writing(engine) as session:
        session.scalars(own(Competition)).one().tracks = list(tracks)


def send(
    engine: Engine, user: User, track: str | None, content: str = "x", key: str | None = None, second: int = 0
) -> Accepted:
    with writing(engine) as session:
        return accept_submission(
            session,
            the_phase_task(session),
            upload_of(content),
            Sender(user, NOW + second * SECOND, key),
            SubmissionForm(track=track),
        )


@pytest.fixture
def ada(engine: Engine) -> User:
    """Return somebody in a competition with two tracks."""
    add_competition(engine, per_day=None)
    declare(engine, CLOSED, OPEN)
    return add_user(engine, "ada")


# ---------------------------------------------------------------------------------------------------------- accepted


def test_the_chosen_track_is_kept_with_the_submission(engine: Engine, ada: User) -> None:
    accepted = send(engine, ada, "open")
    with reading(engine) as session:
        assert session.get_one(Submission, accepted.submission.id).track == "open"


@pytest.mark.parametrize(
    ("track", "said"),
    [
        (None, "Choose a track: 'closed', 'open'."),
        ("", "Choose a track: 'closed', 'open'."),
        ("opne", "There is no track 'opne'; did you mean 'open'?; there are 'closed', 'open'."),
        ("Open", "There is no track 'Open'; did you mean 'open'?; there are 'closed', 'open'."),
        ("\0", "There is no track '\\x00'; there are 'closed', 'open'."),
    ],
)
def test_none_or_an_unknown_one_is_refused_with_those_there_are(
    engine: Engine, ada: User, track: str | None, said: str
) -> None:
    with pytest.raises(InvalidForm) as refused:
        send(engine, ada, track)
    assert refused.value.details["fields"] == {"track": said}
    with reading(engine) as session:
        assert session.scalars(own(Submission)).all() == []
        assert session.scalars(own(Team)).all() == []


def test_a_track_where_there_are_none_is_refused(engine: Engine) -> None:
    add_competition(engine)
    with pytest.raises(InvalidForm) as refused:
        send(engine, add_user(engine, "ada"), "open")
    assert refused.value.details["fields"]["track"].startswith("This competition has no tracks")


def test_limits_count_all_tracks_together(engine: Engine) -> None:
    add_competition(engine, per_day=2)
    declare(engine, CLOSED, OPEN)
    ada = add_user(engine, "ada")
    send(engine, ada, "open")
    send(engine, ada, "closed")
    with pytest.raises(Exception, match="all 2 submissions of today"):
        send(engine, ada, "open")


# ------------------------------------------------------------------------------------------------------- idempotency


def test_the_same_key_and_track_is_the_same_submission(engine: Engine, ada: User) -> None:
    first, again = send(engine, ada, "open", key="k"), send(engine, ada, "open", key="k")
    assert (again.submission.id, again.created) == (first.submission.id, False)


@pytest.mark.parametrize("other", ["closed", None, "nonsense"])
def test_the_same_key_for_another_track_is_a_conflict(engine: Engine, ada: User, other: str | None) -> None:
    send(engine, ada, "open", key="k")
    with pytest.raises(IdempotencyConflict):
        send(engine, ada, other, key="k")


def test_a_repeated_key_brings_back_a_submission_whose_track_was_withdrawn_since(engine: Engine, ada: User) -> None:
    first = send(engine, ada, "open", key="k")
    declare(engine, CLOSED)
    assert send(engine, ada, "open", key="k").submission.id == first.submission.id


# ------------------------------------------------------------------------------------------------------------- boards


def board(engine: Engine, track: str | None) -> Leaderboard:
    with writing(engine) as session:
        session.scalars(own(Board).where(Board.name == "zero-shot")).one().track = track
    with reading(engine) as session:
        return build_leaderboard(
            session, *find_board(find_competition(session, COMPETITION), PHASE, "zero-shot"), Viewer(None, NOW)
        )


def shown(engine: Engine, track: str | None) -> list[tuple[int | None, str, str | None, float | None, int | None]]:
    rows = board(engine, track).rows
    return [(row.rank, row.team, row.track, row.cells[0].value, row.entries) for row in rows]


def test_a_board_of_one_track_shows_each_teams_best_of_this_track(engine: Engine, ada: User) -> None:
    bob = add_user(engine, "bob")
    for second, (user, track, value) in enumerate(
        ((ada, "open", 0.9), (ada, "closed", 0.4), (ada, "closed", 0.5), (bob, "closed", 0.6))
    ):
        score(engine, send(engine, user, track, content=str(second), second=second).run_id, value)
    assert shown(engine, "closed") == [(1, "Bob", "closed", 0.6, 1), (2, "Ada", "closed", 0.5, 2)]
    assert shown(engine, "open") == [(1, "Ada", "open", 0.9, 1)]
    assert shown(engine, None) == [(1, "Ada", "open", 0.9, 3), (2, "Bob", "closed", 0.6, 1)]


def test_a_baseline_without_a_track_stands_on_the_boards_of_all(engine: Engine, ada: User) -> None:
    for name, track, value in (("Chance", None, 0.1), ("Giant", "open", 0.8)):
        team = add_team(engine, name=name, kind=TeamKind.BASELINE)
        accepted = send(engine, ada, "closed", content=name)
        with writing(engine) as session:
            submission = session.get_one(Submission, accepted.submission.id)
            submission.team_id, submission.track = team.id, track
        score(engine, accepted.run_id, value)
    assert [row[1] for row in shown(engine, "closed")] == ["Chance"]
    assert [row[1] for row in shown(engine, "open")] == ["Giant", "Chance"]


def test_a_submission_from_before_there_were_tracks_stands_on_boards_of_all_only(engine: Engine) -> None:
    add_competition(engine)
    score(engine, submit(engine, add_user(engine, "ada")).run_id, 0.5)
    declare(engine, CLOSED)
    assert shown(engine, "closed") == []
    assert shown(engine, None) == [(1, "Ada", None, 0.5, 1)]


def test_a_board_says_whether_there_are_tracks(engine: Engine, ada: User) -> None:
    assert board(engine, None).has_tracks
    declare(engine)
    assert not board(engine, None).has_tracks


def test_a_track_that_is_no_longer_declared_is_shown_by_its_name() -> None:
    tracks = [Track("open", "Open track", "")]
    assert [track_title(tracks, name) for name in ("open", "gone", None)] == ["Open track", "gone", ""]


# --------------------------------------------------------------------------------------------------- check and apply

WITH_TRACKS = """\
    tracks:
      - {name: closed, title: "Closed", description: "Only the data provided."}
      - {name: open, title: "Open"}
    tasks:
"""


@pytest.fixture
def demo(tmp_path: Path) -> Folder:
    """Return a folder whose lines 6 to 8 declare tracks; the board is from line 14 on, the baseline on line 46."""
    folder = make_competition(tmp_path / "demo")
    folder.change("    tasks:\n      - name: detection", f"{WITH_TRACKS}      - name: detection")
    return folder


def test_tracks_without_fault_are_found_sound(demo: Folder) -> None:
    demo.change("        task: detection\n", "        task: detection\n        track: closed\n")
    demo.change("method:", "track: open, method:")
    assert demo.said() == ["8 warning: no board shows the track 'open', so its submissions are not on any board"]


def test_an_unknown_track_of_a_board_or_a_baseline_is_an_error(demo: Folder) -> None:
    demo.change("        task: detection\n", "        task: detection\n        track: opne\n")
    demo.change("method:", "track: shut, method:")
    assert [sentence for sentence in demo.said() if "error" in sentence] == [
        "18 error: there is no track 'opne'; did you mean 'open'?; the tracks are closed, open",
        "47 error: there is no track 'shut'; the tracks are closed, open",
    ]


def test_a_track_declared_twice_is_an_error_with_both_lines(demo: Folder) -> None:
    demo.change("{name: open,", "{name: closed,")
    assert demo.said() == ["8 error: the track 'closed' is declared twice; first on line 7"]


def test_a_track_of_a_competition_without_tracks_is_an_error(tmp_path: Path) -> None:
    demo = make_competition(tmp_path)
    demo.change("        task: detection\n", "        task: detection\n        track: open\n")
    assert demo.said() == ["15 error: there is no track 'open'; the competition has no tracks"]


def test_a_track_needs_a_name_and_a_title(demo: Folder) -> None:
    demo.change('{name: open, title: "Open"}', "{name: Open Track}")
    assert [sentence.split(";")[0] for sentence in demo.said()] == [
        "8 error: the track that begins here needs the key 'title'",
        "8 error: 'Open Track' cannot be a name: "
        "use only lower-case letters a-z, digits, and single hyphens between them",
    ]


def test_apply_brings_tracks_of_competition_board_and_baseline_and_does_it_once(engine: Engine, demo: Folder) -> None:
    demo.change("        task: detection\n", "        task: detection\n        track: closed\n")
    demo.change("method:", "track: open, method:")
    apply(engine, demo)
    with reading(engine) as session:
        assert session.scalars(own(Competition)).one().tracks == [CLOSED, OPEN]
        assert session.scalars(own(Board)).one().track == "closed"
        assert session.scalars(own(Submission)).one().track == "open"
    assert made(apply(engine, demo)) == []


def test_another_track_submits_a_baseline_anew(engine: Engine, demo: Folder) -> None:
    apply(engine, demo)
    demo.change("method:", "track: open, method:")
    (said,) = made(apply(engine, demo, NOW + DAY))
    assert said.endswith(": its track has changed")


def told_of_demo(engine: Engine, folder: Folder) -> list[str]:
    """Return what apply reports for people, without the neighbours, which the folder does not declare."""
    return [change for change in noted(apply(engine, folder)) if NEIGHBOURS not in change and PREPARED not in change]


def test_submissions_in_a_track_that_went_away_are_counted(engine: Engine, tmp_path: Path, demo: Folder) -> None:
    plain = make_competition(tmp_path / "plain")
    apply(engine, plain)
    submit_in_demo(engine)
    assert told_of_demo(engine, demo) == [
        "submissions of 'demo' without a track: 1; they stay so, and only boards of all tracks show them"
    ]
    with writing(engine) as session:
        session.scalars(own(Submission).where(Team.kind == TeamKind.TEAM)).one().track = "open"
    assert told_of_demo(engine, plain) == [
        "submissions of 'demo' in the track 'open': 1; they stay so, and only boards of all tracks show them"
    ]
