"""The choice of a team's scored run that counts on a board: by each rule, with marks, late runs, baselines and one
gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from app.models import EntryRule, RowStatus
from app.standings.choose import Rules, TeamStanding, Try, choose

RULES = Rules(
    metric="macro_f1",
    split="all",
    track=None,
    higher_is_better=True,
    decimals=None,
    rule=EntryRule.BEST,
    without_choice=EntryRule.LAST,
    ladder_step=None,
    columns=(("macro_f1", "all"),),
)
CHOSEN = replace(RULES, rule=EntryRule.CHOSEN)
LADDER = replace(RULES, rule=EntryRule.LADDER, ladder_step=0.1)
#: Two teams.
OURS, THEIRS = 71, 72
DISQUALIFIED, HIDDEN, UNRANKED = RowStatus.DISQUALIFIED, RowStatus.HIDDEN, RowStatus.UNRANKED


def tries(*values: float | None, team: int = OURS, **more: Sequence[Any]) -> list[Try]:
    """Runs 10, 20 … of a team, in order of submission. more: another field of each."""
    made = []
    for place, value in enumerate(values):
        one = Try(team, 10 * place + 10, UUID(int=place), is_baseline=False, gold="gold.csv", value=value)
        made.append(replace(one, **{name: of_each[place] for name, of_each in more.items()}))
    return made


def counts(made: Sequence[Try], rules: Rules = RULES, chosen: int | None = None, gold: str | None = None) -> int:
    """The run that counts for our team. chosen: the place of the run that it chose."""
    choices = {OURS: UUID(int=chosen), THEIRS: UUID(int=0)} if chosen is not None else {}
    found: list[TeamStanding] = [one for one in choose(made, rules, choices, gold) if one.team_id == OURS]
    assert [one.entries for one in found] == [len(made)]
    return found[0].run_id


@pytest.mark.parametrize(
    ("rules", "chosen", "run_id"),
    [
        (RULES, None, 20),
        (RULES, 0, 20),
        (replace(RULES, higher_is_better=False), None, 10),
        (replace(RULES, decimals=0), None, 20),
        (replace(RULES, decimals=0, higher_is_better=False), None, 10),
        (replace(RULES, rule=EntryRule.LAST), 0, 40),
        (CHOSEN, None, 40),
        (CHOSEN, 0, 10),
        (CHOSEN, 2, 30),
        (replace(CHOSEN, without_choice=EntryRule.BEST), None, 20),
        (replace(CHOSEN, without_choice=EntryRule.BEST), 3, 40),
    ],
)
def test_each_rule_has_its_run_and_of_equal_ones_the_earlier(rules: Rules, chosen: int | None, run_id: int) -> None:
    assert counts(tries(0.5, 0.7, 0.7, 0.6), rules, chosen) == run_id


def test_of_values_that_look_equal_the_earlier_counts() -> None:
    values = tries(0.601, 0.604, 0.61)
    assert [counts(values, replace(RULES, decimals=decimals)) for decimals in (1, 2, 3, None)] == [10, 30, 30, 30]


def test_what_is_undefined_is_worse_than_any_score() -> None:
    for higher_is_better in (True, False):
        assert counts(tries(None, 0.2, None), replace(RULES, higher_is_better=higher_is_better)) == 20
    assert counts(tries(None, None)) == 10


def test_a_choice_that_is_no_candidate_any_more_leaves_the_rule_for_teams_without_one() -> None:
    assert counts(tries(0.5, 0.7), CHOSEN, chosen=9) == 20


def test_where_all_count_each_run_stands_for_itself() -> None:
    found = choose([*tries(0.5, 0.7), *tries(0.6, team=THEIRS)], replace(RULES, rule=EntryRule.ALL), {})
    assert found == [TeamStanding(OURS, 10, 2), TeamStanding(OURS, 20, 2), TeamStanding(THEIRS, 10, 1)]


@pytest.mark.parametrize(
    ("statuses", "run_id", "entries"),
    [
        ((None, DISQUALIFIED, None), 30, 2),
        ((None, HIDDEN, None), 30, 2),
        ((None, UNRANKED, None), 20, 3),
        ((DISQUALIFIED, DISQUALIFIED, HIDDEN), 20, 2),
        ((HIDDEN, HIDDEN, HIDDEN), 20, 3),
        ((DISQUALIFIED, HIDDEN, None), 30, 1),
    ],
)
def test_what_is_set_aside_counts_only_for_a_team_without_anything_better(
    statuses: tuple[RowStatus | None, ...], run_id: int, entries: int
) -> None:
    """The second run is the best; the other team's marks are its own."""
    made = tries(0.5, 0.9, 0.7, status=statuses)
    for others in ([], tries(0.8, team=THEIRS), tries(0.8, team=THEIRS, status=[HIDDEN])):
        assert choose([*made, *others], RULES, {})[0] == TeamStanding(OURS, run_id, entries)


def test_for_another_phase_only_runs_against_its_gold_count() -> None:
    made = tries(0.5, 0.9, 0.7, gold=["new.csv", "old.csv", "new.csv"])
    assert choose(made, RULES, {}, "new.csv") == [TeamStanding(OURS, 30, 2)]
    assert choose(made, RULES, {}, "other.csv") == []
    set_aside = tries(0.5, 0.9, gold=["new.csv", "old.csv"], status=[DISQUALIFIED, None])
    assert choose(set_aside, RULES, {}, "new.csv") == [], "the team has a run that stands, against other gold"


def test_of_a_baseline_the_last_file_counts_whatever_the_rule() -> None:
    made = tries(0.5, 0.9, 0.7, is_baseline=[True] * 3)
    for rules in (RULES, replace(RULES, rule=EntryRule.LAST), CHOSEN, LADDER):
        assert choose(made, rules, {}) == [TeamStanding(OURS, 30, 3)]


def test_a_late_unranked_run_does_not_take_the_place_of_one_in_time() -> None:
    late = [False, True, True]
    assert counts(tries(0.5, 0.9, 0.7, is_late=late, status=[None, UNRANKED, UNRANKED])) == 10
    assert counts(tries(0.5, 0.9, 0.7, is_late=late, status=[None, None, UNRANKED])) == 20
    assert counts(tries(0.5, 0.9, 0.7, is_late=[False] * 3, status=[None, UNRANKED, UNRANKED])) == 20
    assert counts(tries(0.9, 0.7, is_late=[True] * 2, status=[UNRANKED] * 2)) == 10
    on_ladder = tries(0.5, 0.9, is_late=late[:2], status=[None, UNRANKED])
    assert choose(on_ladder, LADDER, {}) == [TeamStanding(OURS, 10, 2, 0.5)]


@pytest.mark.parametrize(
    ("values", "run_id", "told"),
    [
        ((0.5, 0.55, 0.74), 30, 0.7),
        ((0.52, 0.6), 10, 0.5),
        ((0.7, 0.5), 10, 0.7),
        ((None, 0.5, None), 20, 0.5),
        ((None, None), 20, None),
    ],
)
def test_on_a_ladder_the_record_counts_and_is_told_in_whole_steps(
    values: tuple[float | None, ...], run_id: int, told: float | None
) -> None:
    assert choose(tries(*values), LADDER, {OURS: UUID(int=0)}) == [TeamStanding(OURS, run_id, len(values), told)]


def test_on_a_ladder_of_errors_the_lowest_is_the_record() -> None:
    assert choose(tries(0.5, 0.9, 0.2), replace(LADDER, higher_is_better=False), {}) == [TeamStanding(OURS, 30, 3, 0.2)]


def test_rules_that_choose_otherwise_are_told_apart() -> None:
    others: dict[str, Any] = {
        "metric": "accuracy",
        "split": "zero_shot/all",
        "track": "open",
        "higher_is_better": False,
        "decimals": 4,
        "rule": EntryRule.LAST,
        "without_choice": EntryRule.BEST,
        "ladder_step": 0.5,
        "columns": (("macro_f1", "all"), ("accuracy", "all")),
    }
    keys = {replace(RULES, **{name: value}).key for name, value in others.items()}
    assert len(keys | {RULES.key}) == len(others) + 1
    assert replace(RULES).key == RULES.key
