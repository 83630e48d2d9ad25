"""Renews standings: the run that counts for each entry on each board, its facts, and counts of runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, cast
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, contains_eager

from app.base.db import among
from app.competitions.visibility import rounded
from app.models import (
    Board,
    CompetitionTask,
    EntryRule,
    GoldVersion,
    KeptBoard,
    Phase,
    PhaseTask,
    RowMark,
    RowStatus,
    ScoreRow,
    ScoringRun,
    Standing,
    Submission,
    Tally,
    Team,
)
from app.standings.choose import Rules, TeamStanding, Try, choose, eligible, rules_of
from app.standings.contenders import contenders_of, needs_all_tries
from app.standings.entry import FACTS, KeptScore, facts_text
from app.standings.tries import RunFilter, choices_of, is_rankable, scored_runs


def _with_facts(
    session: Session, boards: Mapping[int, Rules], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return these rows of standings with the facts of their runs. boards: the rules of each board by id."""
    if not rows:
        return []
    facts, scores = _facts_of(session, {row["run_id"] for row in rows}, boards.values())
    texts = [
        facts_text(facts[row["run_id"]], [scores[row["run_id"]].get(one) for one in boards[row["board_id"]].columns])
        for row in rows
    ]
    return [{**row, "facts": text} for row, text in zip(rows, texts, strict=True)]


def _facts_of(
    session: Session, runs: Collection[int], boards: Iterable[Rules]
) -> tuple[Mapping[int, Sequence[Any]], Mapping[int, Mapping[tuple[str, str], KeptScore]]]:
    """Return the facts of these runs, and their scores in the columns of all boards."""
    columns = {column for rules in boards for column in rules.columns}
    facts: dict[int, Sequence[Any]] = {}
    scores: defaultdict[int, dict[tuple[str, str], KeptScore]] = defaultdict(dict)
    names = {"metrics": sorted({metric for metric, _ in columns}), "splits": sorted({split for _, split in columns})}
    session.flush()
    for row in session.connection().execute(_FACTS, {"runs": sorted(runs), **names}):
        run_id, *facts_of_run, metric, split, value, reason, signature = row
        facts[run_id] = facts_of_run
        if metric is not None:
            scores[run_id][metric, split] = value, reason, signature
    return facts, scores


#: One row for each score, and one for a run without scores. Built once, since most ends of runs execute it.
_FACTS = (
    select(
        ScoringRun.id,
        *FACTS,
        ScoreRow.metric,
        ScoreRow.split,
        ScoreRow.value,
        ScoreRow.reason,
        ScoreRow.signature,
    )
    .join(Submission, Submission.id == ScoringRun.submission_id)
    .outerjoin(GoldVersion, GoldVersion.id == ScoringRun.gold_version_id)
    .outerjoin(
        ScoreRow,
        and_(
            ScoreRow.run_id == ScoringRun.id,
            ScoreRow.metric.in_(bindparam("metrics", expanding=True)),
            ScoreRow.split.in_(bindparam("splits", expanding=True)),
        ),
    )
    .where(among(ScoringRun.id, "runs"))
)


def is_hidden() -> ColumnElement[bool]:
    """Return the condition that a `Submission` of the enclosing query, or its team, is hidden."""
    return exists().where(
        RowMark.phase_task_id == Submission.phase_task_id,
        RowMark.status == RowStatus.HIDDEN,
        or_(
            RowMark.submission_id == Submission.id,
            and_(RowMark.submission_id.is_(None), RowMark.team_id == Submission.team_id),
        ),
    )


def renew_tally(session: Session, phase_task_id: int, team_id: int) -> int:
    """Recount a team's submissions after a change; return the count. The caller holds the lock on the task's row."""
    of_team = {"of_task": phase_task_id, "of_team": team_id}
    session.flush()  # pending changes
    runs: int | None = session.connection().execute(_RENEWED, of_team).scalar()
    if runs is None:
        runs = session.scalar(_ONES_OWN, of_team) or 0
        session.add(Tally(phase_task_id=phase_task_id, team_id=team_id, runs=runs))
        session.flush()
    return runs


def renew_tallies(session: Session, phase_task_id: int) -> None:
    """Recount the submissions of all teams of one task."""
    session.execute(delete(Tally).where(Tally.phase_task_id == phase_task_id))
    session.execute(insert(Tally).from_select(["phase_task_id", "team_id", "runs"], _by_team(phase_task_id)))


def wrong_tallies(session: Session, phase_task_id: int, teams: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the stored and the correct count for each team where the two differ."""
    kept = dict(
        session.execute(
            select(Tally.team_id, Tally.runs).where(Tally.phase_task_id == phase_task_id, Tally.team_id.in_(teams))
        ).all()
    )
    right = {team: runs for _, team, runs in session.execute(_by_team(phase_task_id, teams))}
    both = {team: (kept.get(team, 0), right.get(team, 0)) for team in kept.keys() | right.keys()}
    return {team: pair for team, pair in both.items() if pair[0] != pair[1]}


def _counted() -> ColumnElement[bool]:
    return and_(ScoringRun.is_current, is_rankable(), ~is_hidden())


def _by_team(phase_task_id: int, teams: Collection[int] | None = None) -> Select[int, int, int]:
    query = (
        select(Submission.phase_task_id, Submission.team_id, func.count())
        .join(ScoringRun, ScoringRun.submission_id == Submission.id)
        .where(Submission.phase_task_id == phase_task_id, _counted())
        .group_by(Submission.phase_task_id, Submission.team_id)
    )
    return query if teams is None else query.where(Submission.team_id.in_(teams))


_ONES_OWN = (
    select(func.count())
    .select_from(Submission)
    .join(ScoringRun, ScoringRun.submission_id == Submission.id)
    .where(Submission.phase_task_id == bindparam("of_task"), Submission.team_id == bindparam("of_team"), _counted())
)
_RENEWED = (
    update(Tally)
    .where(Tally.phase_task_id == bindparam("of_task"), Tally.team_id == bindparam("of_team"))
    .values(runs=_ONES_OWN.scalar_subquery())
    .returning(Tally.runs)
)


#: Maximum numbers of teams, and of their submissions, that are loaded at once; a batch has at least one team.
TEAMS_AT_A_TIME, SUBMISSIONS_AT_A_TIME = 100, 20_000
#: Number of a team's candidates up to which they are loaded for all boards at once, which is faster than one query per
#: board.
READ_AT_ONCE = 100
#: Called with the number of teams done, and of all teams.
OnProgress = Callable[[int, int], None]


def nobody_waits(done: int, teams: int) -> None:
    """Do nothing: a progress callback for callers that report no progress."""


@dataclass(frozen=True, slots=True)
class BoardRules:
    """A board of a task in a phase.

    rules: None if the server does not know the task type.
    kept: key of the rules of its cached standings, None if there are none.
    """

    board_id: int
    rules: Rules | None
    kept: str | None

    @property
    def is_kept(self) -> bool:
        """True if the cached standings are current."""
        return self.rules is not None and self.rules.key == self.kept


def renew_team(session: Session, phase_task_id: int, team_id: int, *, copies_anew: bool = False) -> None:
    """Recompute a team's standings after a change to one of its runs, marks or choices.

    copies_anew: refresh the facts copied from a run even if the same run still counts. If the team has merged into
    another one since the caller read it, that team is recomputed as well.
    """
    found = session.execute(_BOARDS_OF_TEAM, {"phase_task": phase_task_id, "team": team_id}).all()
    places = [_place(*row[:4]) for row in found]
    renew_places(session, phase_task_id, [one for one in places if not one.is_kept])
    kept = {one.board_id: one.rules for one in places if one.is_kept and one.rules}
    before = {(team_id, row.board_id): row.stood_with for row in found if not copies_anew}
    for affected_id in {team_id, *(row.merged_into for row in found)} - {None}:
        tries = renew_tally(session, phase_task_id, affected_id)
        if kept:
            rows = _rows_of_team(session, phase_task_id, affected_id, kept, tries)
            _replace(session, phase_task_id, affected_id, rows, kept, before)


def renew_all(
    session: Session,
    phase_task_ids: Iterable[int],
    *,
    only_outdated: bool = False,
    on_progress: OnProgress = nobody_waits,
) -> None:
    """Recompute the standings after a change to many teams. only_outdated: skip boards whose rules are current."""
    for phase_task_id in sorted(phase_task_ids):
        if not only_outdated:
            renew_tallies(session, phase_task_id)
        places = places_of(session, phase_task_id)
        outdated = [one for one in places if not (only_outdated and one.is_kept)]
        renew_places(session, phase_task_id, outdated, on_progress)


def renew_places(
    session: Session, phase_task_id: int, places: Sequence[BoardRules], on_progress: OnProgress = nobody_waits
) -> None:
    """Recompute the standings of all teams on these boards of one task, in batches."""
    if not places:
        return
    _forget(session, phase_task_id, [one.board_id for one in places])
    known = {one.board_id: one.rules for one in places if one.rules}
    if not known:
        return
    kept = [{"phase_task_id": phase_task_id, "board_id": board, "rules": rules.key} for board, rules in known.items()]
    session.execute(insert(KeptBoard), kept)
    submissions = submissions_by_team(session, phase_task_id)
    done = 0
    for teams in batches_of_teams(submissions):
        _insert(session, rows_of(session, phase_task_id, known, teams))
        done += len(teams)
        on_progress(done, len(submissions))


def forget_board(session: Session, board_id: int) -> None:
    """Delete all cached standings of a board."""
    for table in (Standing, KeptBoard):
        session.execute(delete(table).where(table.board_id == board_id))


def _forget(session: Session, phase_task_id: int, board_ids: Collection[int]) -> None:
    for table in (Standing, KeptBoard):
        here = and_(table.phase_task_id == phase_task_id, table.board_id.in_(board_ids))
        session.execute(delete(table).where(here))


# ------------------------------------------------------------------------------------------------------ what is written


def places_of(session: Session, phase_task_id: int) -> list[BoardRules]:
    """List every board of a task in a phase."""
    return [_place(*row) for row in session.execute(_BOARDS_OF_TASK, {"phase_task": phase_task_id})]


def _place(phase: Phase, phase_task: PhaseTask, board: Board, kept: str | None) -> BoardRules:
    return BoardRules(board.id, rules_of(phase, phase_task, board), kept)


#: Built once, since every end of a run executes this.
_BOARDS_OF_TASK = (
    select(Phase, PhaseTask, Board, KeptBoard.rules)
    .select_from(PhaseTask)
    .join(Phase, Phase.id == PhaseTask.phase_id)
    .join(Board, Board.task_id == PhaseTask.task_id)
    .join(CompetitionTask, CompetitionTask.id == Board.task_id)
    .outerjoin(KeptBoard, and_(KeptBoard.phase_task_id == PhaseTask.id, KeptBoard.board_id == Board.id))
    .where(PhaseTask.id == bindparam("phase_task"))
    .options(contains_eager(Board.task))
    .order_by(Board.id)
)
_SUCCESSOR = select(Team.merged_into_id).where(Team.id == bindparam("team")).scalar_subquery()
_STOOD_WITH = (
    select(func.max(Standing.run_id))
    .where(Standing.phase_task_id == PhaseTask.id, Standing.board_id == Board.id, Standing.is_whole)
    .where(Standing.team_id == bindparam("team"))
    .scalar_subquery()
)
_BOARDS_OF_TEAM = _BOARDS_OF_TASK.add_columns(
    _SUCCESSOR.label("merged_into"), Board.id.label("board_id"), _STOOD_WITH.label("stood_with")
)


def submissions_by_team(session: Session, phase_task_id: int) -> dict[int, int]:
    """Return the number of submissions to a task in a phase, by team."""
    query = select(Submission.team_id, func.count()).where(Submission.phase_task_id == phase_task_id)
    return {team_id: count for team_id, count in session.execute(query.group_by(Submission.team_id))}


def batches_of_teams(submissions: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield teams in order, in batches whose candidates fit into memory. submissions: number by team."""
    teams: list[int] = []
    left = SUBMISSIONS_AT_A_TIME
    for team_id, count in sorted(submissions.items()):
        if teams and (len(teams) == TEAMS_AT_A_TIME or count > left):
            yield teams
            teams, left = [], SUBMISSIONS_AT_A_TIME
        teams.append(team_id)
        left -= count
    if teams:
        yield teams


def rows_of(
    session: Session, phase_task_id: int, boards: Mapping[int, Rules], teams: Collection[int]
) -> list[dict[str, Any]]:
    """Return the rows that these teams should have on these boards, computed from their runs."""
    return _with_facts(session, boards, _chosen_rows(session, phase_task_id, boards, teams))


def _chosen_rows(
    session: Session, phase_task_id: int, boards: Mapping[int, Rules], teams: Collection[int]
) -> list[dict[str, Any]]:
    """Return the same as `rows_of`, without the facts copied from the chosen runs."""
    bounds = RunFilter(teams=teams)
    # On boards of all entries there is nothing to choose.
    wanted = [(board, rules) for board, rules in boards.items() if rules.rule is not EntryRule.ALL]
    if not wanted:
        return []
    choices = choices_of(session, phase_task_id, wanted, bounds)
    tries = scored_runs(session, phase_task_id, {rules for _, rules in wanted}, bounds)
    return [
        {"phase_task_id": phase_task_id, "board_id": board, **row}
        for board, rules in wanted
        for row in _rows_on_board(tries[rules], rules, choices[board])
    ]


def _rows_of_team(
    session: Session, phase_task_id: int, team_id: int, boards: Mapping[int, Rules], tries: int
) -> list[dict[str, Any]]:
    """Return the same as `_chosen_rows` for one team; if it has many candidates, only those that may be chosen are
    read.
    """
    is_long = tries > READ_AT_ONCE
    some = {board: rules for board, rules in boards.items() if is_long and not needs_all_tries(rules)}
    found: list[dict[str, Any]] = []
    others = {board: rules for board, rules in boards.items() if board not in some}
    bounds = RunFilter(teams=[team_id])
    choices = choices_of(session, phase_task_id, list(some.items()), bounds)
    for board, rules in some.items():
        of_team = contenders_of(session, phase_task_id, board, rules, bounds).get(team_id)
        if of_team is None:
            continue
        if of_team.gold is None:  # each gold has a row of its own
            others[board] = rules
            continue
        (chosen,) = choose(of_team.tries, rules, choices[board])
        row = _row([chosen._replace(entries=of_team.entries)], of_team.tries, rules, of_team.gold, is_whole=True)
        found.append({"phase_task_id": phase_task_id, "board_id": board, **row})
    return found + _chosen_rows(session, phase_task_id, others, [team_id])


def _rows_on_board(tries: Sequence[Try], rules: Rules, choices: Mapping[int, UUID]) -> Iterator[dict[str, Any]]:
    by_team = groupby(sorted(eligible(tries), key=attrgetter("team_id")), key=attrgetter("team_id"))
    for _, group in by_team:
        own = list(group)
        golds = sorted({one.gold for one in own})
        yield _row(choose(own, rules, choices), own, rules, golds[0] if len(golds) == 1 else None, is_whole=True)
        for gold in golds if len(golds) > 1 else []:
            yield _row(choose(own, rules, choices, gold), own, rules, gold, is_whole=False)


def _row(
    standings: Sequence[TeamStanding], tries: Sequence[Try], rules: Rules, gold: str | None, *, is_whole: bool
) -> dict[str, Any]:
    (one,) = standings
    chosen = next(found for found in tries if found.run_id == one.run_id)
    value = chosen.value if one.ladder_value is None else one.ladder_value
    return {
        "team_id": one.team_id,
        "is_whole": is_whole,
        "gold": gold,
        "run_id": one.run_id,
        "entries": one.entries,
        "ladder_value": one.ladder_value,
        "system_id": chosen.system_id,
        "value": rounded(value, rules.decimals),
    }


def _replace(
    session: Session,
    phase_task_id: int,
    team_id: int,
    rows: list[dict[str, Any]],
    boards: Mapping[int, Rules],
    before: Mapping[tuple[int, int], int | None],
) -> None:
    """Replace a team's rows on these boards by those computed from its runs, which have no facts yet.

    before: the run that counted, by team and board. If it still counts, as in most cases, no facts are copied again.
    """
    of_team = {"of_task": phase_task_id, "of_team": team_id} | _numbered(sorted(boards))
    is_whole = all(row["is_whole"] for row in rows)
    stays = is_whole and all(before.get((team_id, row["board_id"])) == row["run_id"] for row in rows)
    if stays and _are_updated(session, len(boards), of_team, rows, _CHOSEN):
        return
    rows = _with_facts(session, boards, rows)
    if is_whole and not stays and _are_updated(session, len(boards), of_team, rows, (*_CHOSEN, "facts")):
        return
    session.connection().execute(delete(_STANDINGS).where(_of_team(len(boards))), of_team)
    _insert(session, rows)


def _are_updated(
    session: Session,
    boards: int,
    of_team: Mapping[str, int],
    rows: Sequence[Mapping[str, Any]],
    names: tuple[str, ...],
) -> bool:
    """Update a team's rows in one statement and return True; return False if their number changed."""
    if not rows:
        return False
    new = [{"on_board": row["board_id"], **{f"new_{name}": row[name] for name in names}} for row in rows]
    parameters = [{**of_team, "as_many": len(rows), **one} for one in new]
    return session.connection().execute(_updating(boards, names), parameters).rowcount == len(rows)


#: Columns of a team's row on a board that may change while the same run counts.
_CHOSEN = ("gold", "run_id", "entries", "ladder_value", "system_id", "value")
_STANDINGS = cast(Table, Standing.__table__)


def _numbered(boards: Sequence[int]) -> dict[str, int]:
    return {f"board_{number}": board for number, board in enumerate(boards)}


def _of_team(boards: int) -> ColumnElement[bool]:
    """Return the condition for one team's rows on this number of boards, with parameters `of_task`, `of_team`,
    `board_0` …
    """
    one_of = or_(*(_STANDINGS.c.board_id == bindparam(name) for name in _numbered(range(boards))))
    of_team = _STANDINGS.c.team_id == bindparam("of_team")
    return and_(_STANDINGS.c.phase_task_id == bindparam("of_task"), of_team, one_of)


@lru_cache(maxsize=32)
def _updating(boards: int, names: tuple[str, ...]) -> Update:
    """Return the statement that updates standings, built once because it is executed whenever a run ends."""
    count = select(func.count()).select_from(_STANDINGS).where(_of_team(boards)).scalar_subquery()
    is_one = and_(_STANDINGS.c.is_whole, _STANDINGS.c.board_id == bindparam("on_board"))
    changed = update(_STANDINGS).where(_of_team(boards), is_one, count == bindparam("as_many"))
    return changed.values({name: bindparam(f"new_{name}") for name in names})


def _insert(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        session.execute(insert(Standing), rows)
