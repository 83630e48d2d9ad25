"""Rows that are unranked, disqualified or hidden: on boards live and official, in counts, exports, versions alike."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.errors import NotFound
from app.boards.documents import board_csv
from app.boards.leaderboard import Leaderboard, count_entries
from app.boards.marks import mark_row
from app.boards.rows import mark_of
from app.boards.side_by_side import build_results
from app.boards.snapshots import official_board
from app.boards.tables import latex_table, markdown_table
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import SeenAs, View, Viewer
from app.judging.rounds import find_round, publish_round
from app.judging.summary import results_for
from app.models import RowStatus, Snapshot, Team, TeamKind, User
from app.people.act import Act, UserAct
from tests.boards.marks import DISQUALIFIED, HIDDEN, UNRANKED, clear, mark
from tests.competitions.embargo import add_phase, declare, enter, freeze, hide, look, rows
from tests.judging import judged as judging
from tests.rich_world import EARLIER_TEAM
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, add_team, add_user, the_phase_task

CLOSE = NOW + DAY


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """Return an SQLite database: boards treat marks alike on each kind; writing marks is tested on both elsewhere."""
    return sqlite_engine


def organiser(engine: Engine) -> User:
    return add_user(engine, "root", is_administrator=True)


def statuses(found: Leaderboard) -> list[tuple[str, str | None]]:
    return [(row.team, row.status) for row in found.rows]


# ----------------------------------------------------------------------------------------------------------- unranked


def test_an_unranked_team_stands_in_its_place_with_a_footnote(engine: Engine, people: list[User]) -> None:
    for user, value in zip(people, (0.9, 0.8, 0.7, 0.6), strict=True):
        enter(engine, user, value)
    mark(engine, "Bob", UNRANKED, "used additional data")
    mark(engine, "Dan", UNRANKED, "used additional data")
    found = look(engine)
    assert rows(found) == [(1, "Ada", 0.9), (None, "Bob", 0.8), (2, "Cat", 0.7), (None, "Dan", 0.6)]
    assert [(note.mark, note.text) for note in found.footnotes] == [("a", "used additional data")]
    assert [found.mark(row) for row in found.rows] == ["", "a", "", "a"]


def test_undoing_a_mark_puts_the_row_back(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.9)
    enter(engine, people[1], 0.8)
    before = look(engine)
    for status in RowStatus:
        clear(engine, mark(engine, "Ada", status, "a reason"))
    after = look(engine)
    assert (after.rows, after.footnotes) == (before.rows, ())
    assert after.version != before.version
    with pytest.raises(NotFound):
        clear(engine, 1)


# -------------------------------------------------------------------------------------------------------- disqualified


def test_a_disqualified_team_stands_below_without_rank_and_scores(engine: Engine, people: list[User]) -> None:
    for user, value in zip(people[:3], (0.9, 0.8, 0.7), strict=True):
        enter(engine, user, value)
    enter(engine, people[0], 0.5, minute=5)
    mark(engine, "Ada", DISQUALIFIED, "two accounts")
    for viewer in (None, people[0], people[1], organiser(engine)):
        found = look(engine, viewer)
        assert rows(found) == [(1, "Bob", 0.8), (2, "Cat", 0.7), (None, "Ada", None)], "nothing of Ada's steps in"
        last = found.rows[-1]
        assert {cell.reason for cell in last.cells} == {"disqualified"}
        assert (last.run_id, last.commitment) == (None, None)
        assert found.footnotes[0].text == "Disqualified: two accounts"


@pytest.mark.parametrize(("earlier", "later"), [(0.9, 0.1), (0.1, 0.9)])
def test_where_the_disqualified_stand_tells_nothing_of_their_scores(
    engine: Engine, people: list[User], earlier: float, later: float
) -> None:
    ada, bob = people[:2]
    enter(engine, ada, earlier)
    enter(engine, bob, later, minute=1)
    enter(engine, people[2], 0.5, minute=2)
    mark(engine, "Ada", DISQUALIFIED, "why")
    mark(engine, "Bob", DISQUALIFIED, "why")
    assert [row.team for row in look(engine).rows] == ["Cat", "Ada", "Bob"], "by time, as undefined ones are"


@pytest.mark.parametrize("rule", ["best", "last", "all", "chosen"])
def test_one_disqualified_submission_lets_the_rule_go_on(engine: Engine, people: list[User], rule: str) -> None:
    declare(engine, entry_rule=rule, without_choice="best")
    ada = people[0]
    sent = [enter(engine, ada, value, minute=n) for n, value in enumerate((0.5, 0.7, 0.9))]
    mark(engine, sent[2], DISQUALIFIED, "copied")
    shown = [(1, "Ada", 0.7), (2, "Ada", 0.5)] if rule == "all" else [(1, "Ada", 0.7)]
    assert rows(look(engine)) == shown
    assert look(engine).footnotes == ()
    mark(engine, sent[1], DISQUALIFIED, "copied")
    assert rows(look(engine)) == [(1, "Ada", 0.5)]
    mark(engine, sent[0], DISQUALIFIED, "copied, too")
    found = look(engine)
    assert {(row.rank, row.status) for row in found.rows} == {(None, DISQUALIFIED)}, "the team stands, disqualified"
    assert len(found.rows) == (3 if rule == "all" else 1)


def test_a_chosen_submission_that_is_disqualified_is_chosen_no_longer(engine: Engine, people: list[User]) -> None:
    from app.submissions.choices import choose_entry

    declare(engine, entry_rule="chosen")
    ada = people[0]
    first, second = (enter(engine, ada, value, minute=n) for n, value in enumerate((0.5, 0.9)))
    with writing(engine) as session:
        choose_entry(session, first, ada, NOW + HOUR)
    assert rows(look(engine)) == [(1, "Ada", 0.5)]
    mark(engine, first, DISQUALIFIED, "why")
    assert rows(look(engine)) == [(1, "Ada", 0.9)]
    assert look(engine, ada).rows[0].submission_id == second


def test_a_record_on_a_ladder_does_not_rest_on_what_was_disqualified(engine: Engine, people: list[User]) -> None:
    declare(engine, entry_rule="ladder", ladder_step=0.1)
    ada = people[0]
    enter(engine, ada, 0.5)
    copied = enter(engine, ada, 0.9, minute=1)
    enter(engine, ada, 0.7, minute=2)
    assert rows(look(engine)) == [(1, "Ada", 0.9)]
    mark(engine, copied, DISQUALIFIED, "copied")
    assert rows(look(engine)) == [(1, "Ada", 0.7)]


def test_one_submission_out_of_a_board_leaves_the_other_board(engine: Engine, people: list[User]) -> None:
    """Check a submission that is the team's only one for one setting, and irrelevant on the other board."""
    ada = people[0]
    enter(engine, ada, 0.5)
    both = enter(engine, ada, 0.4, 0.8, minute=1)
    mark(engine, both, DISQUALIFIED, "why")
    assert rows(look(engine)) == [(1, "Ada", 0.5)]
    assert rows(look(engine, board="one-shot")) == [(None, "Ada", None)]


# -------------------------------------------------------------------------------------------------------------- hidden


@pytest.fixture
def hidden(engine: Engine, people: list[User]) -> Engine:
    """Hide Bob's team, and what Cat sent last."""
    enter(engine, people[0], 0.9)
    enter(engine, people[1], 0.8)
    enter(engine, people[2], 0.7)
    better = enter(engine, people[2], 0.85, minute=3)
    mark(engine, "Bob", HIDDEN)
    mark(engine, better, HIDDEN, "withdrawn")
    return engine


def test_a_hidden_row_is_for_organisers_and_its_team(hidden: Engine, people: list[User]) -> None:
    shown = [(1, "Ada", 0.9), (2, "Cat", 0.7)]
    for viewer in (None, people[0], people[2]):
        found = look(hidden, viewer)
        assert rows(found) == shown
        assert [row.entries for row in found.rows] == [1, 1], "what is hidden does not count"
        assert found.footnotes == ()
    with_bob = [(1, "Ada", 0.9), (None, "Bob", 0.8), (2, "Cat", 0.7)]
    for viewer in (people[1], organiser(hidden)):
        found = look(hidden, viewer)
        assert rows(found) == with_bob, "ranks are the same for everybody"
        assert found.footnotes[0].text == "Hidden: only its team and the organisers see it"
    assert rows(look(hidden, organiser_of(hidden), seen_as=SeenAs.PARTICIPANT)) == shown


def organiser_of(engine: Engine) -> User:
    with reading(engine) as session:
        return session.scalars(select(User).where(User.is_administrator)).one()


def test_a_hidden_team_leaves_no_trace_in_versions(hidden: Engine, people: list[User]) -> None:
    before = {viewer: look(hidden, viewer).version for viewer in (None, people[0])}
    of_bob = look(hidden, people[1]).version
    enter(hidden, people[1], 0.95, minute=9)
    assert {viewer: look(hidden, viewer).version for viewer in before} == before
    assert look(hidden, people[1]).version != of_bob
    enter(hidden, people[0], 0.99, minute=10)
    assert look(hidden).version != before[None]


def test_a_team_of_which_everything_is_hidden_is_not_there(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.5)
    only = enter(engine, people[1], 0.9)
    mark(engine, only, HIDDEN)
    assert rows(look(engine)) == [(1, "Ada", 0.5)]
    assert rows(look(engine, people[1])) == [(None, "Bob", 0.9), (1, "Ada", 0.5)]


def test_what_is_hidden_is_not_counted(hidden: Engine, people: list[User]) -> None:
    def counted() -> int:
        with reading(hidden) as session:
            return sum(count_entries(session, {the_phase_task(session).id: View()}).values())

    assert counted() == 2, "Ada and Cat"
    enter(hidden, people[3], 0.1)
    assert counted() == 3


def test_results_side_by_side_hide_and_withhold_as_boards_do(hidden: Engine, people: list[User]) -> None:
    mark(hidden, "Ada", DISQUALIFIED, "why")

    def values(viewer: User | None) -> dict[str, Any]:
        with reading(hidden) as session:
            competition = find_competition(session, COMPETITION)
            found = build_results(session, competition, competition.tasks[0], Viewer(viewer, NOW))
        return {row.team: (row.cells[0].value, row.cells[0].reason) for row in found.rows if row.team != EARLIER_TEAM}

    assert values(None) == {"Cat": (0.7, None), "Ada": (None, "disqualified")}
    assert values(people[1]) == {"Bob": (0.8, None), "Cat": (0.7, None), "Ada": (None, "disqualified")}


# ------------------------------------------------------------------------------------------------- ranks, names, phases


def test_where_ranks_alone_are_shown_marks_are(engine: Engine, people: list[User]) -> None:
    for user, value in zip(people, (0.9, 0.8, 0.7, 0.6), strict=True):
        enter(engine, user, value)
    mark(engine, "Ada", DISQUALIFIED, "why")
    mark(engine, "Bob", UNRANKED, "more data")
    mark(engine, "Cat", HIDDEN)
    hide(engine, board="ranks_only", public_from="close")
    found = look(engine)
    assert [(row.rank, row.team) for row in found.rows] == [(1, "Dan"), (None, "Ada"), (None, "Bob")]
    assert statuses(found) == [("Dan", None), ("Ada", DISQUALIFIED), ("Bob", UNRANKED)]


def test_marks_keep_neutral_names(engine: Engine, people: list[User]) -> None:
    enter(engine, people[0], 0.9, method="ours")
    mark(engine, "Ada", UNRANKED, "more data")
    hide(engine, names_from="close")
    (row,) = look(engine).rows
    assert row.team != "Ada"
    assert (row.method, row.card, row.status) == ("", None, UNRANKED)


def test_a_mark_goes_with_entries_that_are_carried_over(engine: Engine, people: list[User]) -> None:
    ada, bob, cat = people[:3]
    for user, value in ((ada, 0.9), (bob, 0.8), (cat, 0.7)):
        enter(engine, user, value)
    add_phase(engine, "post", starts_at=CLOSE, carry_over=PHASE)
    mark(engine, "Ada", UNRANKED, "more data")
    mark(engine, "Bob", HIDDEN)
    after = CLOSE + HOUR
    assert rows(look(engine, now=after, phase="post")) == [(None, "Ada", 0.9), (1, "Cat", 0.7)]
    enter(engine, cat, 0.75, phase="post", at=after)
    mark(engine, "Cat", DISQUALIFIED, "why", phase="post")
    found = look(engine, now=after, phase="post")
    assert rows(found) == [(None, "Ada", 0.9), (None, "Cat", None), (None, "Cat", None)], "here, with all it has here"
    assert rows(look(engine, now=after)) == [(None, "Ada", 0.9), (1, "Cat", 0.7)], "and not where it came from"


def test_the_number_of_a_version_says_nothing_of_what_is_hidden_where_it_came_from(
    engine: Engine, people: list[User]
) -> None:
    ada, bob = people[:2]
    enter(engine, ada, 0.9)
    enter(engine, bob, 0.8)
    add_phase(engine, "post", starts_at=NOW - HOUR, carry_over=PHASE)
    mark(engine, "Bob", HIDDEN)
    before = look(engine, phase="post").version
    enter(engine, bob, 0.95, minute=4)
    assert look(engine, phase="post").version == before


# ------------------------------------------------------------------------------------------------------------ official


def official(engine: Engine, viewer: User | None = None) -> Leaderboard:
    with reading(engine) as session:
        _, found = find_board(find_competition(session, COMPETITION), PHASE, "zero-shot")
        snapshot = session.scalars(select(Snapshot).where(Snapshot.board_id == found.id)).one()
        return official_board(session, snapshot, Viewer(viewer, CLOSE + HOUR))


def test_official_boards_freeze_what_was_said(hidden: Engine, people: list[User]) -> None:
    marked = mark(hidden, "Ada", DISQUALIFIED, "why")
    freeze(hidden, CLOSE + HOUR)
    assert rows(official(hidden)) == [(1, "Cat", 0.7), (None, "Ada", None)]
    assert rows(official(hidden, people[1])) == [(None, "Bob", 0.8), (1, "Cat", 0.7), (None, "Ada", None)]
    before = official(hidden)
    clear(hidden, marked)
    assert official(hidden) == before
    assert rows(look(hidden, now=CLOSE + HOUR)) == [(1, "Ada", 0.9), (2, "Cat", 0.7)]
    assert [row.is_mine for row in official(hidden, people[0]).rows] == [False, True], "whose it is stays known"


# ----------------------------------------------------------------------------------------------------------- baselines


def test_a_baseline_with_a_rank_is_ranked_as_teams_are(engine: Engine, people: list[User]) -> None:
    bot = add_user(engine, "bot")
    team = add_team(engine, bot, name="Majority", kind=TeamKind.BASELINE)
    enter(engine, bot, 0.8)
    enter(engine, people[0], 0.9)
    enter(engine, people[1], 0.7)
    assert rows(look(engine)) == [(1, "Ada", 0.9), (None, "Majority", 0.8), (2, "Bob", 0.7)]
    with writing(engine) as session:
        the_phase_task(session).ranked_baselines = [team.id]
    assert rows(look(engine)) == [(1, "Ada", 0.9), (2, "Majority", 0.8), (3, "Bob", 0.7)]
    mark(engine, "Majority", UNRANKED, "only to compare with")
    assert rows(look(engine)) == [(1, "Ada", 0.9), (None, "Majority", 0.8), (2, "Bob", 0.7)]


# ------------------------------------------------------------------------------------------------------------- exports


def test_every_export_says_the_same(hidden: Engine, people: list[User]) -> None:
    mark(hidden, "Ada", DISQUALIFIED, "two_accounts")
    mark(hidden, "Cat", UNRANKED, "more & better data")
    enter(hidden, people[3], 0.1)
    found = look(hidden)
    assert markdown_table(found).splitlines() == [
        r"| \# | Team | F1 | Accuracy |",
        "| :-- | :-- | --: | --: |",
        "|  | Cat<sup>a</sup> | 0.7000 | 0.3500 |",
        "| 1 | Dan | **0.1000** | **0.0500** |",
        "|  | Ada<sup>b</sup> | – | – |",
        "",
        "<sup>a</sup> more & better data",
        "",
        r"<sup>b</sup> Disqualified: two\_accounts",
    ]
    latex = latex_table(found, "Caption.", "tab:x")
    assert r"     & Cat\textsuperscript{a} & 0.7000 & 0.3500 \\" in latex
    assert r"    1 & Dan & \textbf{0.1000} & \textbf{0.0500} \\" in latex
    assert r"\par\smallskip{\footnotesize \textsuperscript{a} more \& better data}" in latex
    assert r"{\footnotesize \textsuperscript{b} Disqualified: two\_accounts}" in latex
    lines = board_csv(found).splitlines()
    assert lines[0].startswith("rank,team,kind,achieved_at,status,note,method,")
    assert [line.split(",")[:3] + line.split(",")[4:6] for line in lines[1:]] == [
        ["", "Cat", "team", "unranked", "more & better data"],
        ["1", "Dan", "team", "", ""],
        ["", "Ada", "team", "disqualified", "two_accounts"],
    ]
    assert lines[3].endswith(",,,macro_f1 zero_shot/all"), "no scores"
    for text in (markdown_table(found), latex, board_csv(found)):
        assert "Bob" not in text


def test_marks_go_on_after_z() -> None:
    assert [mark_of(number) for number in (0, 25, 26, 51, 52, 701, 702)] == ["a", "z", "aa", "az", "ba", "zz", "aaa"]


# ---------------------------------------------------------------------------------------------------- judged by people


def test_a_round_of_judging_leaves_out_what_boards_do_not_show(engine: Engine, people: list[User]) -> None:
    judging.add_task(engine)
    judging.enter_three(engine)
    root = organiser(engine)
    judging.start(engine, root, annotators={}, name="human", seed=1)
    with writing(engine) as session:
        competition, phase_task = judging.places(session)
        publish_round(
            UserAct(session, root, NOW, get_settings()), competition, judging.the_round(session), unfinished=True
        )
        names = [team.name for team in session.scalars(select(Team).order_by(Team.id))][-3:]
        marks = zip(names[:2], (HIDDEN, DISQUALIFIED), strict=True)
        for name, status in marks:
            mark_row(Act(session, root, NOW, get_settings()), phase_task, team=name, status=status, note="why")

    def judged(viewer: User | None) -> set[str]:
        with reading(engine) as session:
            competition, _ = judging.places(session)
            found = find_round(session, competition, "human")
            return {system.team for system in results_for(session, competition, found, Viewer(viewer, NOW)).systems}

    assert judged(root) == set(names)
    assert judged(None) == {names[2]}
