"""Boards made of cached standings equal those computed the slow way from all runs, whatever happens in
whatever order.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase as Stage, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import event, select

from app.base.config import get_settings
from app.base.db import make_engine, reading, writing
from app.base.errors import EvergoldError
from app.boards import leaderboard
from app.boards.activity import activity_of
from app.boards.leaderboard import entry_sources, whole_board
from app.boards.rows import LeaderboardRow
from app.boards.view import UnfilteredBoard
from app.cards.edits import edit_card
from app.competitions.changed import boards_changed
from app.competitions.find import boards_of, find_competition, find_phase_task
from app.competitions.visibility import View
from app.models import Board, EntryRule, Phase, PhaseTask, RowMark, RowStatus, Submission, Team, TeamKind, User
from app.people.act import UserAct
from app.standings.check import START, check_slice, check_task
from app.standings.renew import renew_all
from app.submissions.accept import Sender, accept_submission
from app.submissions.choices import choose_entry, withdraw_choice, withdraw_submission
from app.submissions.find import get_submission
from app.teams.find import captain_of, find_team, members_of
from tests.boards import slow_way
from tests.boards.marks import clear, mark
from tests.competitions.embargo import add_phase, declare
from tests.rescoring.rescored import name_gold, publish, runs_of, start
from tests.teams.merged import accept, allow_merging, ask
from tests.world import (
    COMPETITION,
    DAY,
    NOW,
    ONE_SHOT,
    PHASE,
    TASK,
    ZERO_SHOT,
    add_competition,
    add_team,
    add_user,
    claim,
    finish,
    reject,
    scores_of,
    sure,
    upload_of,
)

FINAL = "final"
MINUTE = timedelta(minutes=1)
#: Ties, a difference that a precision hides, one in the last bit, one not entered (None), and one that is undefined.
VALUES = st.sampled_from([0.5, 0.5, 0.6, 0.601, 0.604, 0.7, 0.9, 0.1 + 0.2, 0.3, None, "undefined"])
PICK = st.integers(0, 10_000)
PHASES = st.sampled_from([PHASE, PHASE, FINAL])


class Server(RuleBasedStateMachine):
    """A server with two phases, of which the second carries over, three teams and a baseline."""

    template: Path
    folder: Path
    made = 0

    @initialize()
    def begin(self) -> None:
        Server.made += 1
        path = self.folder / f"{Server.made}.db"
        shutil.copyfile(self.template, path)
        self.engine = make_engine(f"sqlite:///{path}")
        event.listen(self.engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        add_competition(self.engine, per_day=None, ends_at=None)
        add_phase(self.engine, FINAL, starts_at=NOW - DAY, carry_over=PHASE)
        allow_merging(self.engine, NOW + 1000 * DAY)
        self.people = [add_user(self.engine, name) for name in ("ada", "bob", "cat", "base")]
        add_team(self.engine, self.people[3], name="Baseline", kind=TeamKind.BASELINE)
        self.now = NOW
        self.waiting: list[int] = []
        self.moments: list[datetime] = []

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.dispose()

    # ------------------------------------------------------------------------------------------------ what happens

    @rule(who=st.integers(0, 3), phase=PHASES, track=st.sampled_from([None, None, "open", "closed"]), value=VALUES)
    def submit_and_score(self, who: int, phase: str, track: str | None, value: float | str | None) -> None:
        self.submit(who, phase, track)
        self._score(self.waiting.pop(), value, value)

    @rule(who=st.integers(0, 3), phase=PHASES, track=st.sampled_from([None, "open"]))
    def submit(self, who: int, phase: str, track: str | None) -> None:
        self.now += MINUTE
        with writing(self.engine) as session:
            accepted = accept_submission(
                session,
                find_phase_task(session, COMPETITION, phase, TASK),
                upload_of(f"{who} {self.now}"),
                Sender(self.people[who], self.now),
            )
            accepted.submission.track = track  # as of a competition that had tracks once
        self.waiting.append(accepted.run_id)

    @precondition(lambda self: self.waiting)
    @rule(pick=PICK, zero=VALUES, one=VALUES, is_right=st.integers(0, 5))
    def end_run(self, pick: int, zero: float | str | None, one: float | str | None, is_right: int) -> None:
        """Runs end in any order."""
        run_id = self.waiting.pop(pick % len(self.waiting))
        self._score(run_id, zero, one) if is_right else reject(self.engine, run_id)

    def _score(self, run_id: int, zero: float | str | None, one: float | str | None) -> None:
        scores = []
        for split, value in ((ZERO_SHOT, zero), (ONE_SHOT, one)):
            if value == "undefined":
                scores += scores_of(split, None, "no positive item")
            elif value is None or isinstance(value, float):
                scores += scores_of(split, value)
        finish(self.engine, sure(claim(self.engine, run_id)), scores)

    @rule(pick=PICK, status=st.sampled_from(list(RowStatus)), is_team=st.booleans())
    def mark(self, pick: int, status: RowStatus, is_team: bool) -> None:
        with reading(self.engine) as session:
            sent = session.execute(
                select(Submission.id, Submission.team_id, Phase.name)
                .join(PhaseTask, PhaseTask.id == Submission.phase_task_id)
                .join(Phase, Phase.id == PhaseTask.phase_id)
                .order_by(Submission.submitted_at)
            ).all()
            if not sent:
                return
            submission_id, team_id, phase = sent[pick % len(sent)]
            name = session.get_one(Team, team_id).name
        mark(self.engine, name if is_team else submission_id, status, "why", phase=phase)

    @rule(pick=PICK)
    def clear_mark(self, pick: int) -> None:
        with reading(self.engine) as session:
            here = select(RowMark.id).join(PhaseTask, PhaseTask.id == RowMark.phase_task_id).join(Phase)
            marks = session.scalars(here.where(Phase.name == PHASE).order_by(RowMark.id)).all()
        if marks:
            clear(self.engine, marks[pick % len(marks)])

    @rule(pick=PICK, board=st.sampled_from([None, "zero-shot", "one-shot"]), is_kept=st.booleans())
    def choose(self, pick: int, board: str | None, is_kept: bool) -> None:
        self.now += MINUTE
        sent = self._submissions()
        if not sent:
            return
        submission_id, user = sent[pick % len(sent)]
        change: Callable[..., object] = choose_entry if is_kept else withdraw_choice
        more = {"board": board} if is_kept else {}
        try:
            with writing(self.engine) as session:
                change(session, submission_id, user, self.now, **more)
        except EvergoldError:
            pass  # not now, not this one

    @rule(pick=PICK)
    def withdraw(self, pick: int) -> None:
        self.now += MINUTE
        sent = self._submissions()
        if not sent:
            return
        try:
            with writing(self.engine) as session:
                withdraw_submission(session, *sent[pick % len(sent)], self.now)
        except EvergoldError:
            pass  # not on a Ladder, and not once its phase is over

    @rule(pick=PICK, name=st.sampled_from(["", "first", "second"]), method=st.sampled_from(["", "SVM", "BERT"]))
    def write_card(self, pick: int, name: str, method: str) -> None:
        """Write a card: the system of a run may be named long after it was scored, and renamed later."""
        sent = self._submissions()
        if not sent:
            return
        said = {"method": method} if method else {}
        submission_id, user = sent[pick % len(sent)]
        try:
            with writing(self.engine) as session:
                edit_card(
                    UserAct(session, user, self.now, get_settings()),
                    get_submission(session, submission_id, user),
                    said,
                    name=name,
                )
        except EvergoldError:
            pass  # not of one's team any more, or under a name that the team has given already

    @rule(pick=PICK)
    def merge(self, pick: int) -> None:
        """Merge two teams, whatever was marked, chosen or withdrawn before, and while runs of both are under way."""
        self.now += MINUTE
        with reading(self.engine) as session:
            competition = find_competition(session, COMPETITION)
            teams = {find_team(session, one, competition.id) for one in self.people[:3]} - {None}
            found = sorted((team for team in teams if team), key=lambda team: team.id)
            if len(found) < 2:
                return
            asking, asked = found[pick % len(found)], found[(pick + 1) % len(found)]
            captains = [captain_of(team, members_of(session, team)) for team in (asking, asked)]
        asks, answers = (next(one for one in self.people if one.id == captain) for captain in captains)
        accept(self.engine, answers, ask(self.engine, asks, asked.name, self.now), self.now)

    def _submissions(self) -> list[tuple[UUID, User]]:
        with reading(self.engine) as session:
            query = select(Submission.id, User).join(User, User.id == Submission.user_id)
            rows = session.execute(query.order_by(Submission.submitted_at))
            return [(submission_id, user) for submission_id, user in rows]

    @rule(
        phase=PHASES,
        entry_rule=st.sampled_from(list(EntryRule)),
        without_choice=st.sampled_from([EntryRule.BEST, EntryRule.LAST]),
        ladder_step=st.sampled_from([0.05, 0.3, None]),
        precision=st.sampled_from([None, 1, 2]),
        is_renewed=st.booleans(),
    )
    def declare(
        self,
        phase: str,
        entry_rule: EntryRule,
        without_choice: EntryRule,
        ladder_step: float | None,
        precision: int | None,
        is_renewed: bool,
    ) -> None:
        """Declare other rules; applying renews their choices, and choices that are not renewed must not be trusted."""
        visibility = {} if precision is None else {"precision": precision}
        values: dict[str, Any] = {"without_choice": without_choice, "ladder_step": ladder_step}
        declare(self.engine, phase=phase, visibility=visibility, entry_rule=entry_rule, **values)
        self._renewed(is_renewed)

    @rule(
        track=st.sampled_from([None, "open"]),
        metrics=st.sampled_from([["macro_f1", "accuracy"], ["accuracy", "macro_f1"], ["macro_f1"]]),
        pick=st.integers(0, 1),
        is_renewed=st.booleans(),
    )
    def change_board(self, track: str | None, metrics: list[str], pick: int, is_renewed: bool) -> None:
        with writing(self.engine) as session:
            board = session.scalars(select(Board).order_by(Board.id)).all()[pick]
            board.track = track
            board.columns = [{**board.columns[0], "metric": metric} for metric in metrics]
        self._renewed(is_renewed)

    def _renewed(self, is_renewed: bool) -> None:
        with writing(self.engine) as session:
            ids = list(session.scalars(select(PhaseTask.id)))
            boards_changed(session, ids)
            if is_renewed:
                renew_all(session, ids, only_outdated=True)

    @rule(number=st.integers(1, 3))
    def name_gold(self, number: int) -> None:
        name_gold(self.engine, f"gold-{number}.csv")

    @rule(zero=st.lists(VALUES, min_size=3, max_size=3), with_rejected=st.booleans())
    def rescore(self, zero: list[float | str | None], with_rejected: bool) -> None:
        """A set from its start to its end; what has no scores yet is scored on."""
        try:
            number = start(self.engine, now=self.now, with_rejected=with_rejected)
        except EvergoldError:
            return
        for place, run_id in enumerate(runs_of(self.engine, number).values()):
            self._score(run_id, zero[place % 3], zero[(place + 1) % 3])
        publish(self.engine, number, self.now)

    @rule()
    def sweep(self) -> None:
        """Run the sweep, which must find nothing wrong, and caches what was not cached."""
        with writing(self.engine) as session:
            differences, _ = check_slice(session, START)
            assert differences == []

    @rule()
    def look_back(self) -> None:
        self.moments = [*self.moments, self.now][-2:]

    # ---------------------------------------------------------------------------------------------- what must hold

    @invariant()
    def boards_are_as_the_slow_way_makes_them(self) -> None:
        if not hasattr(self, "moments"):
            return
        with reading(self.engine) as session:
            competition = find_competition(session, COMPETITION)
            for phase in competition.phases:
                for board in boards_of(competition, phase):
                    sources = entry_sources(session, phase, board)
                    for until in (None, *self.moments):
                        quick = whole_board(session, board, sources, until=until)
                        with patch.object(leaderboard, "_live_rows", slow_way.live_rows):
                            slow = whole_board(session, board, sources, until=until)
                        assert in_order(quick) == in_order(slow)

    @invariant()
    def every_page_counts_as_the_slow_way_does(self) -> None:
        if not hasattr(self, "moments"):
            return
        with reading(self.engine) as session:
            for phase_task_id in session.scalars(select(PhaseTask.id)):
                activity = activity_of(session, {phase_task_id: View()})
                assert (activity.teams, activity.runs) == slow_way.counted(session, phase_task_id)

    @invariant()
    def what_is_kept_follows_from_the_runs(self) -> None:
        if not hasattr(self, "moments"):
            return
        with reading(self.engine) as session:
            for phase_task_id in session.scalars(select(PhaseTask.id)):
                assert check_task(session, phase_task_id) == []


def in_order(board: UnfilteredBoard) -> list[LeaderboardRow]:
    return sorted(board.rows, key=lambda row: (row.carried_from or "", row.run_id or 0))


@pytest.fixture
def server(_sqlite_template: Path, tmp_path: Path) -> type[Server]:
    Server.template, Server.folder = _sqlite_template, tmp_path
    return Server


USUAL = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=False)


def test_every_order_of_what_happens_leaves_the_right_boards(server: type[Server]) -> None:
    few = settings(USUAL, max_examples=3, stateful_step_count=20, derandomize=True, phases=[Stage.generate])
    run_state_machine_as_test(server, settings=few)


@pytest.mark.soak
def test_every_order_at_length(server: type[Server]) -> None:
    run_state_machine_as_test(server, settings=settings(USUAL, max_examples=100, stateful_step_count=50))
