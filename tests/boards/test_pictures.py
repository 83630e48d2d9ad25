"""The numbers of a board's pictures, compared with hand calculations; hidden parts of a board are not in them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading, writing
from app.boards.pictures.gallery import pictures_of
from app.boards.pictures.languages import categories
from app.boards.pictures.over_time import MOST_ENTRIES
from app.boards.pictures.seen import look_at, row_names
from app.boards.pictures.splits import CATEGORIES
from app.boards.rows import Interval
from app.boards.statistics import Statistics, statistics_document
from app.charts.picture import Picture
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import SeenAs, Viewer
from app.models import BoardStatistics, EntryRule, HistoricRow, RowStatus, Standing, Submission, TeamKind, User
from app.standings import check
from evergold.scoring.resampling.pairs import Difference
from tests import world
from tests.boards.marks import mark
from tests.boards.places import board
from tests.competitions.embargo import add_phase, declare, enter, hide
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, the_phase_task


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Pictures ask the database nothing that boards do not: one kind of it is enough."""
    return sqlite_engine


def drawn(
    engine: Engine,
    viewer: User | None = None,
    now: datetime = NOW,
    *,
    phase: str = PHASE,
    seen_as: SeenAs | None = None,
) -> dict[str, Picture]:
    """The pictures of the zero-shot board, by name."""
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), phase, "zero-shot")
        seen = look_at(session, *place, Viewer(viewer, now, seen_as))
        return {picture.name: picture for picture in pictures_of(session, seen)}


def points(picture: Picture, series: str) -> list[tuple[object, object, str]]:
    found = next(one for one in picture.series if one.name == series)
    return [(point.x, point.y, point.label) for point in found.points]


def test_pictures_over_time_compare_no_two_of_a_boards_rows(engine: Engine, climbed: list[User]) -> None:
    """Check that no pairs are compared: of many attempts there are very many; the board itself has its statistics."""
    with writing(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        key = {"phase_task_id": the_phase_task(session).id, "board_id": place[1].id}
        first, second = session.scalars(select(Standing.run_id).filter_by(**key).order_by(Standing.run_id))
        told_apart = Difference(0.6, 0.6, 0.0, -0.1, 0.1, 0.001, 0, 1000, 0.95, "paired:1")
        interval = {(place[1].rank_metric, place[1].rank_split): Interval(0.5, 0.7, 0.95, "t")}
        found = Statistics("key", frozenset({first, second}), {first: interval}, {(first, second): told_apart})
        session.add(BoardStatistics(**key, document=statistics_document(found)))
    with reading(engine) as session:
        place = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        seen = look_at(session, *place, Viewer(None, NOW))
    assert seen is not None
    assert (seen.leaderboard.statistics, len(seen.leaderboard.pair_tests)) == ("current", 1)
    assert (seen.entries.statistics, seen.entries.pair_tests) == ("none", {})
    rows = [(row.rank_range, row.cluster, row.cells[0].interval) for row in seen.entries.rows]
    assert rows == [(None, None, None)] * 5


def test_of_very_many_tries_the_newest_are_drawn(
    engine: Engine, climbed: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "TRIES_AT_MOST", 3)
    pictures = drawn(engine)
    assert [label for _, _, label in points(pictures["progress"], "Entries")] == ["Bob", "Ada", "Bob"]
    assert [value for _, value, _ in points(pictures["progress"], "Record")] == [0.55, 0.6]
    assert "best score among them" in pictures["progress"].about
    assert pictures["submissions"].about.startswith("The newest scored submissions")


def minute(number: int) -> str:
    return datetime(2026, 1, 10, 12, number, tzinfo=UTC).isoformat()


@pytest.fixture
def climbed(engine: Engine, people: list[User]) -> list[User]:
    """Ada 0.5, 0.4, 0.6; Bob 0.55, and 0.6 after her."""
    ada, bob, *_ = people
    for number, (who, value) in enumerate([(ada, 0.5), (ada, 0.4), (bob, 0.55), (ada, 0.6), (bob, 0.6)]):
        enter(engine, who, value, minute=number)
    return people


# ------------------------------------------------------------------------------------------------------------ progress


def test_a_record_is_a_step_and_every_try_a_point(engine: Engine, climbed: list[User]) -> None:
    """Check 0.5, then 0.55, then 0.6; a run that only equals a record is none."""
    found = drawn(engine)["progress"]
    assert points(found, "Entries") == [
        (minute(0), 0.5, "Ada"),
        (minute(1), 0.4, "Ada"),
        (minute(2), 0.55, "Bob"),
        (minute(3), 0.6, "Ada"),
        (minute(4), 0.6, "Bob"),
    ]
    assert points(found, "Record") == [(minute(0), 0.5, "Ada"), (minute(2), 0.55, "Bob"), (minute(3), 0.6, "Ada")]
    assert "5 entries on 10 Jan 2026. The record is 0.6000, by Ada since 10 Jan 2026." in found.summary
    assert [row[-1] for row in found.table.rows] == ["record", "", "record", "record", ""]


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (EntryRule.ALL, [0.5, 0.4, 0.55, 0.6, 0.6]),
        (EntryRule.LAST, [0.5, 0.4, 0.55, 0.6, 0.6]),
        (EntryRule.CHOSEN, [0.6, 0.6]),
    ],
)
def test_entries_are_drawn_as_the_board_showed_them(
    engine: Engine, climbed: list[User], rule: EntryRule, values: list[float]
) -> None:
    declare(engine, entry_rule=rule)
    assert [y for _, y, _ in points(drawn(engine)["progress"], "Entries")] == values


def entries(engine: Engine, **keys: Any) -> list[object]:
    return [y for _, y, _ in points(drawn(engine, **keys)["progress"], "Entries")]


def test_an_entry_that_was_replaced_stays_in_the_picture_of_the_time(engine: Engine, climbed: list[User]) -> None:
    """Check that, where the latest counts, the board falls from 0.6 to 0.3, and the record stays where it
    was reached.
    """
    declare(engine, entry_rule=EntryRule.LAST)
    enter(engine, climbed[0], 0.3, minute=9)
    found = drawn(engine)["progress"]
    assert (minute(3), 0.6, "Ada") in points(found, "Entries")
    assert points(found, "Record")[-1] == (minute(3), 0.6, "Ada")
    assert "replaced" in found.about


def test_what_stood_before_the_board_was_shown_is_not_drawn(engine: Engine, climbed: list[User]) -> None:
    """Check a board shown from 12:03 on: then Ada's entry was her 0.4, Bob's his 0.55; nobody saw the 0.5 before."""
    declare(engine, entry_rule=EntryRule.LAST)
    shown_from = datetime(2026, 1, 10, 12, 3, tzinfo=UTC)
    hide(engine, public_from=shown_from.isoformat())
    assert entries(engine, now=NOW + HOUR) == [0.4, 0.55, 0.6, 0.6]


def test_withdrawn_and_late_unranked_submissions_were_no_entries(engine: Engine, climbed: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.LAST)
    with writing(engine) as session:
        second, last = (
            session.scalars(
                select(Submission).where(Submission.submitted_at == datetime.fromisoformat(minute(at)))
            ).one()
            for at in (1, 4)
        )
        second.withdrawn_at, last.is_late = NOW, True
        late = last.id
    mark(engine, late, RowStatus.UNRANKED, "late")
    assert entries(engine) == [0.5, 0.55, 0.6]


def test_a_ladder_draws_what_it_tells(engine: Engine, climbed: list[User]) -> None:
    """Check that in steps of 0.25 Ada's 0.6 is no record after her 0.5, and Bob's 0.55 is shown as 0.5, which 0.6 does
    not beat.
    """
    declare(engine, entry_rule=EntryRule.LADDER, ladder_step=0.25)
    assert [y for _, y, _ in points(drawn(engine)["progress"], "Entries")] == [0.5, 0.5]


def test_who_does_not_see_own_scores_does_not_find_them_here(engine: Engine, climbed: list[User]) -> None:
    """Check that other attempts are missing: the board shows each team's best, and the others would be its
    own scores.
    """
    hide(engine, own_scores="never")
    found = drawn(engine, climbed[0])["progress"]
    assert [y for _, y, _ in points(found, "Entries")] == [0.6, 0.6]
    assert found.about.startswith("Points are current entries")


def test_baselines_and_published_results_are_lines_and_no_records(engine: Engine, climbed: list[User]) -> None:
    bot = world.add_user(engine, "bot")
    world.add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bot, 0.9, minute=9)
    with writing(engine) as session:
        phase, shown = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        scores = {"macro_f1 zero_shot/all": 0.75}
        session.add(HistoricRow(phase_id=phase.id, board_id=shown.id, team="Paper", scores=scores, source="A paper"))
    found = drawn(engine)["progress"]
    assert [(line.label, line.value) for line in found.lines] == [
        ("Baseline: Majority", 0.9),
        ("Published: Paper", 0.75),
    ]
    assert len(points(found, "Entries")) == 5
    assert found.table.rows[-1] == ("Published: Paper", "", "0.7500", "")


def test_of_very_many_entries_the_newest_are_drawn_and_every_record(
    engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_ENTRIES == 1000
    monkeypatch.setattr("app.boards.pictures.over_time.MOST_ENTRIES", 2)
    for number, value in enumerate([0.5, 0.1, 0.2, 0.3]):
        enter(engine, people[0], value, minute=number)
    found = drawn(engine)["progress"]
    assert [y for _, y, _ in points(found, "Entries")] == [0.5, 0.2, 0.3]
    assert found.left_out == 1
    assert len(found.table.rows) == 3


def test_what_is_carried_over_stands_here_too_and_came_on_another_day(engine: Engine, climbed: list[User]) -> None:
    add_phase(engine, "post", starts_at=NOW - DAY, carry_over=PHASE)
    enter(engine, climbed[2], 0.8, phase="post", at=NOW + HOUR)
    found = drawn(engine, phase="post")
    assert [y for _, y, _ in points(found["progress"], "Entries")] == [0.6, 0.6, 0.8]
    assert found["submissions"].table.rows == (("2026-01-10", "1"),)


# ------------------------------------------------------------------------------------------------- spread and by day


def test_scores_are_counted_in_round_ranges(engine: Engine, people: list[User]) -> None:
    """Check that 0.41 to 0.60 is divided in at most 4 ranges, 0.1 wide, from 0.4; 0.60 is on an edge and so in the
    range above it.
    """
    for who, value in zip(people, (0.41, 0.42, 0.55, 0.60), strict=True):
        enter(engine, who, value)
    found = drawn(engine)["distribution"]
    assert found.width == pytest.approx(0.1)
    assert [(x, y) for x, y, _ in points(found, "Teams")] == [(0.4, 2.0), (0.5, 1.0), (0.6, 1.0)]
    assert found.table.rows == (("0.4000 to 0.5000", "2"), ("0.5000 to 0.6000", "1"), ("0.6000 to 0.7000", "1"))
    assert found.summary == "4 scores from 0.4100 to 0.6000, the median is 0.4850."


def test_baselines_are_told_beside_the_teams_and_not_counted(engine: Engine, people: list[User]) -> None:
    bot = world.add_user(engine, "bot")
    world.add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    for who, value in ((people[0], 0.5), (people[1], 0.3), (bot, 0.4)):
        enter(engine, who, value)
    found = drawn(engine)["distribution"]
    assert sum(float(str(y)) for _, y, _ in points(found, "Teams")) == 2
    assert [(line.label, line.axis, line.value) for line in found.lines] == [("Baseline: Majority", "x", 0.4)]
    assert "1 is better than the baseline Majority, 0.4000." in found.summary


def test_one_score_has_a_range_of_its_own(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    found = drawn(engine)["distribution"]
    assert [y for _, y, _ in points(found, "Teams")] == [1.0]
    assert found.summary == "One score, 0.5000."


def test_days_without_a_submission_are_days_too(engine: Engine, people: list[User]) -> None:
    declare(engine, starts_at=NOW - 9 * DAY)
    enter(engine, people[0], 0.5, at=NOW - 2 * DAY)
    enter(engine, people[0], 0.4, at=NOW - 2 * DAY)
    enter(engine, people[1], 0.4, at=NOW)
    world.reject(engine, world.submit(engine, people[1], NOW - DAY).run_id)
    found = drawn(engine)["submissions"]
    assert found.table.rows == (("2026-01-08", "2"), ("2026-01-09", "0"), ("2026-01-10", "1"))
    assert (
        found.summary == "3 scored submissions from 8 Jan 2026 to 10 Jan 2026. The busiest day was 8 Jan 2026 with 2."
    )


def test_a_long_time_is_counted_by_months(engine: Engine, people: list[User]) -> None:
    declare(engine, starts_at=NOW - 200 * DAY)
    enter(engine, people[0], 0.5, at=datetime(2025, 9, 30, 23, 59, tzinfo=UTC))
    enter(engine, people[0], 0.5, at=NOW)
    found = drawn(engine)["submissions"]
    assert found.title == "Submissions per month"
    assert found.table.rows == tuple(
        (month, count) for month, count in zip(
            ("2025-09", "2025-10", "2025-11", "2025-12", "2026-01"), ("1", "0", "0", "0", "1"), strict=True
        )
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------- what must be hidden


def test_a_board_without_scores_has_no_pictures(engine: Engine, climbed: list[User]) -> None:
    for shown in ("hidden", "ranks_only"):
        hide(engine, board=shown)
        assert drawn(engine) == {}
        assert drawn(engine, climbed[0]) == {}
        olga = world.add_user(engine, f"olga-{shown.replace('_', '-')}", is_administrator=True)
        assert "progress" in drawn(engine, olga)
        assert drawn(engine, olga, seen_as=SeenAs.PARTICIPANT) == {}


def test_an_embargo_lifts_by_itself(engine: Engine, climbed: list[User]) -> None:
    hide(engine, public_from=NOW + HOUR)
    assert drawn(engine) == {}
    assert len(drawn(engine, now=NOW + HOUR)) == 3


def test_hidden_names_stay_neutral_in_every_picture(engine: Engine, climbed: list[User]) -> None:
    hide(engine, names_from="close")
    neutral = {row.team for row in board(engine).rows}
    found = drawn(engine)
    assert {label for _, _, label in points(found["progress"], "Entries")} == neutral
    assert not [name for name in ("Ada", "Bob") if name in repr(list(found.values()))]
    assert "Ada" in repr(drawn(engine, climbed[0])["progress"]), "a team knows itself"


def test_digits_that_are_not_shown_are_nowhere(engine: Engine, people: list[User]) -> None:
    """0.6137 and 0.6121 look equal with two decimals: the first of them is the record, and stays it."""
    enter(engine, people[0], 0.6121, minute=0)
    enter(engine, people[1], 0.6137, minute=1)
    hide(engine, precision=2)
    found = drawn(engine)
    assert [y for _, y, _ in points(found["progress"], "Entries")] == [0.61, 0.61]
    assert [label for _, _, label in points(found["progress"], "Record")] == ["Ada"]
    assert "0.612" not in repr(list(found.values()))
    assert "0.613" not in repr(list(found.values()))


def test_a_part_without_a_score_is_not_the_lowest(
    engine: Engine, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATEGORIES, "idiom-detection", r"(?P<language>pt|en)/(?P<category>[a-z]+)")
    run_id = world.submit(engine, people[0]).run_id
    parts = [
        *world.scores_of("pt/verbal", 0.4),
        *world.scores_of("pt/nominal", None, "no item"),
        *world.scores_of("en/verbal", 0.8),
    ]
    world.finish(engine, world.sure(world.claim(engine, run_id)), [*world.scores_of(world.ZERO_SHOT, 0.5), *parts])
    with reading(engine) as session:
        seen = look_at(
            session, *find_board(find_competition(session, COMPETITION), PHASE, "zero-shot"), Viewer(None, NOW)
        )
        assert seen is not None
        picture = categories(session, seen)
    assert picture is not None
    assert "Lowest: 0.4000 (PT, verbal)" in picture.summary


def test_a_board_on_which_nothing_stands_has_none(engine: Engine, people: list[User]) -> None:
    assert drawn(engine) == {}
    with reading(engine) as session:
        assert the_phase_task(session).phase.visibility == world.SHOWN_WHOLE


def test_rows_of_one_team_are_told_apart(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule=EntryRule.ALL)
    for number, method in enumerate(("BERT", "BERT", "")):
        enter(engine, people[0], 0.5, minute=number, method=method)
    assert row_names(board(engine).rows) == ["Ada: BERT", "Ada: BERT (2)", "Ada"]


def test_rows_are_told_apart_whatever_teams_are_called_and_however_many_they_are(
    engine: Engine, people: list[User]
) -> None:
    """Check that numbered names differ from given ones, too, and that very many rows are not compared pair by pair."""
    enter(engine, people[0], 0.5)
    (row,) = board(engine).rows
    teams = [row._replace(team=team, method=method) for team, method in (("A (x)", ""), ("A", "m"), ("A", ""))]
    assert row_names(teams) == ["A (x)", "A: m", "A (2)"]
    assert row_names([row] * 200_000)[-1] == "Ada (200000)"
