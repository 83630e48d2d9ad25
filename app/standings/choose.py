"""Entry rules: the declared rules of a board, and the scored run that counts for each team.

Pure functions: they take candidates and return standings. Other modules load the candidates and store the standings.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple
from uuid import UUID

from app.competitions.columns import visible_columns
from app.competitions.entry_rules import entry_settings
from app.competitions.ordering import effective_decimals, goodness
from app.competitions.visibility import declared_of, rounded
from app.models import Board, EntryRule, Phase, PhaseTask, RowStatus
from evergold.scoring.ladder import ladder, record_holder
from evergold.scoring.tasks import TASKS

#: Increase whenever this code would choose differently, or an entry has other facts: standings cached before are then
#: recomputed.
VERSION = 4
#: Value of each status: only the runs of a team with its lowest value may count; other statuses, or none, have 0.
SET_ASIDE: Mapping[RowStatus | None, int] = {RowStatus.DISQUALIFIED: 1, RowStatus.HIDDEN: 2}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that choose entries on one board in one phase.

    decimals: precision at which the best is found, None for full precision. Of two that look equal the earlier one
    counts, so that the choice does not reveal which one is better.
    columns: of the board, in a fixed order; their scores are cached with the chosen run.
    """

    metric: str
    split: str
    track: str | None
    higher_is_better: bool
    decimals: int | None
    rule: EntryRule
    without_choice: EntryRule
    ladder_step: float | None
    columns: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """A hash that is equal for equal rules."""
        return hashlib.sha256(repr((VERSION, *astuple(self))).encode()).hexdigest()[:32]

    @property
    def is_ladder(self) -> bool:
        return self.rule is EntryRule.LADDER and self.ladder_step is not None


@dataclass(frozen=True, slots=True)
class BoardRows:
    """The standings of a board in a phase, chosen by these rules.

    gold: only of runs scored with it, for another phase to show; None for what this phase shows.
    """

    phase_task_id: int
    board_id: int
    rules: Rules
    gold: str | None = None

    @property
    def here(self) -> dict[str, Any]:
        """The parameters of every statement about kept standings."""
        gold = {} if self.gold is None else {"gold": self.gold}
        return {"phase_task": self.phase_task_id, "board": self.board_id, **gold}

    @property
    def sign(self) -> float:
        """1 if higher is better, else -1."""
        return 1.0 if self.rules.higher_is_better else -1.0


@dataclass(frozen=True, slots=True)
class Try:
    """A scored run with a score for the board's setting.

    gold: identity of its gold.
    status: the organisers' mark on this submission.
    value: score in the ranking column, None if undefined.
    is_late: accepted after the deadline through an extension.
    system_id: None until a system is declared for it.
    """

    team_id: int
    run_id: int
    submission_id: UUID
    is_baseline: bool
    gold: str
    value: float | None
    status: RowStatus | None = None
    is_late: bool = False
    system_id: int | None = None

    @property
    def is_late_unranked(self) -> bool:
        """True if late and unranked: it must not replace a submission that arrived in time."""
        return self.is_late and self.status is RowStatus.UNRANKED


class TeamStanding(NamedTuple):
    """The run that counts for a team.

    entries: number of the team's candidates on this board.
    ladder_value: the ranking score that a Ladder reports.
    """

    team_id: int
    run_id: int
    entries: int
    ladder_value: float | None = None


def rules_of(phase: Phase, phase_task: PhaseTask, board: Board) -> Rules | None:
    """Return the declared rules; None if this server does not know the task type. `board.task` must be loaded."""
    if board.task.task_type not in TASKS:
        return None
    columns = visible_columns(board, phase_task.options_of(board.task))
    column = next(one for one in columns if (one.metric, one.split) == (board.rank_metric, board.rank_split))
    settings = entry_settings(phase, phase_task)
    return Rules(
        metric=board.rank_metric,
        split=board.rank_split,
        track=board.track,
        higher_is_better=column.higher_is_better,
        decimals=effective_decimals(column, declared_of(phase, phase_task).ranks_by),
        rule=settings.rule,
        without_choice=settings.without_choice,
        ladder_step=settings.ladder_step,
        columns=tuple(sorted((one.metric, one.split) for one in columns)),
    )


# ------------------------------------------------------------------------------------------------------------ choosing


def choose(
    tries: Sequence[Try], rules: Rules, choices: Mapping[int, UUID], gold: str | None = None
) -> list[TeamStanding]:
    """Return the standing of each team, chosen from candidates in order of submission.

    choices: the chosen submissions by team.
    gold: consider only runs scored with it, for another phase to show.
    """
    tries = [one for one in eligible(tries) if gold is None or one.gold == gold]
    by_team: defaultdict[int, list[Try]] = defaultdict(list)
    for one in tries:
        by_team[one.team_id].append(one)
    if rules.rule is EntryRule.ALL:
        return [TeamStanding(one.team_id, one.run_id, len(by_team[one.team_id])) for one in tries]
    return [_standing(own, rules, choices.get(team_id)) for team_id, own in by_team.items()]


def entered_as_latest(tries: Sequence[Try]) -> list[Try]:
    """Return the candidates that became entries on arrival under the rule "latest submission", in their order.

    A late, unranked submission is included only if its team had none in time.
    """
    in_time: set[int] = set()
    found = []
    for one in eligible(tries):
        if not one.is_late_unranked:
            in_time.add(one.team_id)
        if not one.is_late_unranked or one.team_id not in in_time:
            found.append(one)
    return found


def eligible(tries: Iterable[Try]) -> list[Try]:
    """Return the candidates that may count for their teams.

    A disqualified or hidden submission is set aside, and the entry rule applies to the rest. A team without other
    submissions is shown as disqualified or, if all are hidden, as hidden.
    """
    tries = list(tries)
    least: dict[int, int] = {}
    for one in tries:
        aside = SET_ASIDE.get(one.status, 0)
        least[one.team_id] = min(least.get(one.team_id, aside), aside)
    return [one for one in tries if SET_ASIDE.get(one.status, 0) == least[one.team_id]]


def _standing(tries: Sequence[Try], rules: Rules, chosen: UUID | None) -> TeamStanding:
    """Return the standing of one team."""
    in_time = [one for one in tries if not one.is_late_unranked] or tries
    if rules.is_ladder:
        return _on_ladder(in_time, rules)._replace(entries=len(tries))
    found = _entry(in_time, rules, chosen if rules.rule is EntryRule.CHOSEN else None)
    return TeamStanding(found.team_id, found.run_id, len(tries))


def _entry(tries: Sequence[Try], rules: Rules, chosen: UUID | None) -> Try:
    found = next((one for one in tries if one.submission_id == chosen), None)
    if found is not None:
        return found
    rule = rules.without_choice if rules.rule is EntryRule.CHOSEN else rules.rule
    # Organisers replace a baseline's file: a replaced file must not stay the entry because it scored better.
    if rule is EntryRule.LAST or tries[-1].is_baseline:
        return tries[-1]
    sign = -1.0 if rules.higher_is_better else 1.0
    return min(tries, key=lambda one: goodness(rounded(one.value, rules.decimals), sign))


def _on_ladder(tries: Sequence[Try], rules: Rules) -> TeamStanding:
    """Return the standing of the record holder, with the score that the Ladder reports, or of the last run if no score
    is defined.
    """
    last, entries = tries[-1], len(tries)
    values = [rounded(one.value, rules.decimals) for one in tries]
    step = rules.ladder_step or 0.0
    holder = None
    if not last.is_baseline:
        holder = record_holder(values, step, higher_is_better=rules.higher_is_better)
    if holder is None:
        return TeamStanding(last.team_id, last.run_id, entries)
    record = ladder(values, step, higher_is_better=rules.higher_is_better)[-1]
    return TeamStanding(last.team_id, tries[holder].run_id, entries, record)
