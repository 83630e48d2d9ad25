"""The ranks of a team over time: before and right after each of its runs, by the current entry rule and marks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.boards.marks import marks_of
from app.boards.team_board import StoodStill, TeamBoard
from app.competitions.visibility import rounded
from app.models import BoardShown, EntryRule, PhaseTask, Submission
from app.standings.check import TooFarBack, active_since
from app.standings.choose import BoardRows, Rules, Try, choose
from app.standings.contenders import contenders_of, needs_all_tries
from app.standings.entry import BoardEntry
from app.standings.tries import Choice, RunFilter, choices_until, scored_runs


def ranks_over_time(
    session: Session, phase_task: PhaseTask, board: TeamBoard, board_id: int, own: Sequence[Submission]
) -> dict[UUID, tuple[int | None, int | None]]:
    """Return the team's rank before and right after each of these runs of one team, by submission.

    The entries at each moment are chosen by the current entry rule and marks; rows carried over from another phase
    count from the beginning.
    """
    if board.shown.view.board is not BoardShown.PUBLIC or not own:
        return {}
    moments = [one.submitted_at for one in own]
    first, last = min(moments), max(moments)
    rows = BoardRows(phase_task.id, board_id, board.rules)
    try:
        since = active_since(session, rows, first, is_kept=board.is_kept)
    except TooFarBack:
        return {}
    bounds = RunFilter(teams=since, since=first, until=last + timedelta(microseconds=1))
    tries = _tries_within(session, rows, board.kept_entries, bounds)
    place = {one.submission_id: index for index, one in enumerate(tries)}
    chosen = deque[Choice]()
    if board.rules.rule is EntryRule.CHOSEN:
        chosen.extend(choices_until(session, phase_task.id, board_id, last))
    still = board.standing_still(session, since)
    entries, done = _Entries(board.rules, own[0].team_id, _barred(session, phase_task)), 0
    found: dict[UUID, tuple[int | None, int | None]] = {}
    for submission in sorted((one for one in own if one.id in place), key=lambda one: place[one.id]):
        end = place[submission.id]
        while chosen and chosen[0].chosen_at < submission.submitted_at:
            entries.note_choice(chosen.popleft())
        entries.note_tries(tries[done:end])
        before = entries.rank(session, still)
        entries.note_tries(tries[end : end + 1])
        found[submission.id] = before, entries.rank(session, still)
        done = end + 1
    return found


def _tries_within(session: Session, rows: BoardRows, kept: Sequence[BoardEntry], bounds: RunFilter) -> list[Try]:
    """Return the candidates of these teams (None: all) between two times, and earlier ones that may be entries then.

    kept: today's entries of some teams.
    """
    place, rules, teams, first = rows.phase_task_id, rows.rules, bounds.teams, bounds.since
    if teams is None or first is None or needs_all_tries(rules):
        return scored_runs(session, place, [rules], replace(bounds, since=None))[rules]
    past: list[Try] = []
    # Where the best counts, today's entry counted then, too, if it was sent before.
    is_best = rules.rule is EntryRule.BEST
    runs = [one.run_id for one in kept if is_best and one.team_id in teams and one.submitted_at < first]
    if runs:
        past = scored_runs(session, place, [rules], RunFilter(runs=runs))[rules]
    left = set(teams).difference(one.team_id for one in past)
    if left:
        before = contenders_of(session, place, rows.board_id, rules, RunFilter(teams=left, until=first))
        past += [one for found in before.values() for one in found.tries]
    return past + scored_runs(session, place, [rules], bounds)[rules]


class _Barred:
    """Runs that get no rank under the current marks: marked ones, and those of unranked baselines."""

    def __init__(self, teams: Collection[int], ranked_baselines: Collection[int]) -> None:
        self._teams, self._ranked_baselines = teams, ranked_baselines

    def __contains__(self, one: Try) -> bool:
        is_marked = one.status is not None or one.team_id in self._teams
        return is_marked or (one.is_baseline and one.team_id not in self._ranked_baselines)


def _barred(session: Session, phase_task: PhaseTask) -> _Barred:
    return _Barred(marks_of(session, phase_task).teams, frozenset(phase_task.ranked_baselines))


class _Entries:
    """The entries of a board as runs and choices arrive one by one; only the entries of affected teams are chosen
    again.
    """

    def __init__(self, rules: Rules, team_id: int, barred: _Barred) -> None:
        self._rules, self._team_id, self._barred = rules, team_id, barred
        self._tries: defaultdict[int, list[Try]] = defaultdict(list)
        self._choices: dict[int, UUID] = {}
        self._values: dict[int, list[float]] = {}
        self._changed: set[int] = set()
        self._others: list[float] = []
        self._mine: float | None = None

    def note_tries(self, tries: Sequence[Try]) -> None:
        """Add candidates, in order of submission for each team."""
        for one in tries:
            self._tries[one.team_id].append(one)
            self._changed.add(one.team_id)

    def note_choice(self, choice: Choice) -> None:
        """Add a team's choice."""
        self._choices[choice.team_id] = choice.submission_id
        if choice.team_id in self._tries:
            self._changed.add(choice.team_id)

    def rank(self, session: Session, still: StoodStill) -> int | None:
        """Return the team's current rank; on a board of all entries, the rank of its latest run."""
        for team_id in self._changed:
            self._choose(team_id)
        self._changed.clear()
        if self._mine is None:
            return None
        place, others = self._mine, self._others
        is_higher = self._rules.higher_is_better
        above = len(others) - bisect_right(others, place) if is_higher else bisect_left(others, place)
        return above + still.above(session, place) + 1

    def _choose(self, team_id: int) -> None:
        for gone in self._values.pop(team_id, ()):
            del self._others[bisect_left(self._others, gone)]
        entries = self._entries(team_id)
        latest, others = self._tries[team_id][-1:], []
        mine: float | None = None
        for one, value in self._ranked(entries):
            if team_id == self._team_id and (self._rules.rule is not EntryRule.ALL or one in latest):
                mine = value
            elif value is not None:
                others.append(value)
                insort(self._others, value)
        if not (needs_all_tries(self._rules) or self._rules.rule is EntryRule.CHOSEN):
            self._tries[team_id] = [one for one, _ in entries]  # the others no longer count
        self._values[team_id] = others
        if team_id == self._team_id:
            self._mine = mine

    def _entries(self, team_id: int) -> list[tuple[Try, float | None]]:
        """Return the team's entries, each with the score that a Ladder shows; None on other boards."""
        by_run = {one.run_id: one for one in self._tries[team_id]}
        chosen = choose(self._tries[team_id], self._rules, self._choices)
        return [(by_run[standing.run_id], standing.ladder_value) for standing in chosen]

    def _ranked(self, entries: Sequence[tuple[Try, float | None]]) -> Iterator[tuple[Try, float | None]]:
        """Yield the entries that have a rank, with the score that the board reports."""
        for one, ladder_value in entries:
            if one not in self._barred:
                yield one, rounded(one.value if ladder_value is None else ladder_value, self._rules.decimals)
