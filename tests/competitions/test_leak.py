"""The share of hidden gold that a team can read, from what is declared, compared with numbers computed by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.competitions.leak import BoardScores, Leak, Level, leak_of, leak_settings, leak_words, submissions_in_phase
from app.models import EntryRule, Phase, PhaseTask
from evergold.scoring.leakage import GoldSize
from evergold.scoring.task import read_options
from evergold.scoring.tasks import get_task

START = datetime(2026, 6, 1, tzinfo=UTC)
LABELS = GoldSize(1000, 1000.0, 2)


def leak(metric: str = "accuracy", size: GoldSize | None = LABELS, **said: Any) -> Leak:
    """Return the leak of a phase of fourteen days with the usual limits, except as `said` changes them."""
    return leak_of(asked(metric, **said), size)


def asked(metric: str = "accuracy", **said: Any) -> Any:
    phase = Phase(
        visibility=said.get("visibility", {}),
        entry_rule=said.get("entry", EntryRule.BEST),
        without_choice=EntryRule.LAST,
        ladder_step=said.get("ladder_step"),
        starts_at=START,
        ends_at=START + timedelta(days=14) if said.get("ends", True) else None,
        submissions_per_day=said.get("per_day", 5),
        submissions_per_week=said.get("per_week"),
        submissions_per_month=said.get("per_month"),
        submissions_total=said.get("total", 50),
        rejected_per_hour=60,
        upload_limit_bytes=1,
    )
    phase_task = PhaseTask(visibility={}, limits={}, entry={}, private_part=said.get("private_part", {}))
    task = get_task("table")
    columns = ((metric, "all"), *said.get("columns", ()))
    options = read_options(task, {"metrics": [name for name, _ in columns]})
    return leak_settings(phase, phase_task, task, options, [BoardScores((metric, "all"), columns)])


def test_the_share_is_bits_told_over_bits_of_gold() -> None:
    found = leak()
    assert (found.bits, found.submissions) == (math.log2(1001), 50)
    assert found.share == pytest.approx(50 * math.log2(1001) / 1000)  # 0.498
    assert found.share_of(10) == 1.0
    assert found.level is Level.FAIR


def test_ten_submissions_leave_a_thousand_labels_well_hidden() -> None:
    found = leak(total=10)
    assert found.level is Level.GREEN
    assert found.remedies == ()
    assert leak(total=11).level is Level.FAIR  # 11 · 9.967 = 109.6 bits of 1,000


def test_a_warning_names_what_would_help_and_by_how_much() -> None:
    found = leak("pearson", GoldSize(1000, 1000.0), visibility={"precision": 4})
    assert found.level is Level.WARNING
    shares = {one.setting: one.share for one in found.remedies}
    assert shares["private_part: {share: 0.5, …}"] == 0.0
    assert shares["visibility.precision: 2"] == pytest.approx(50 * math.log2(201) / 1000)
    assert [one.share < 0.1 for one in found.remedies] == sorted(one.share < 0.1 for one in found.remedies)[::-1]
    total = next(one.setting for one in found.remedies if one.setting.startswith("limits.total"))
    assert leak("pearson", GoldSize(1000, 1000.0), total=int(total.split()[1])).level is Level.GREEN
    assert leak("pearson", GoldSize(1000, 1000.0), total=int(total.split()[1]) + 1).level is not Level.GREEN


def test_every_remedy_does_what_it_says() -> None:
    for one in leak("macro_f1", visibility={"slices": "columns"}, columns=(("mcc", "all"),)).remedies:
        match one.setting.split(": ", 1):
            case ["visibility.slices", value]:
                other = leak("macro_f1", visibility={"slices": value}, columns=(("mcc", "all"),))
            case ["visibility.precision", value]:
                said = {"slices": "columns", "precision": int(value)}
                other = leak("macro_f1", visibility=said, columns=(("mcc", "all"),))
            case ["limits.total", value]:
                other = leak("macro_f1", visibility={"slices": "columns"}, total=int(value), columns=(("mcc", "all"),))
            case _:
                continue
        assert other.share == pytest.approx(one.share), one.setting


def test_more_columns_tell_more_only_where_they_are_shown() -> None:
    columns = (("mcc", "all"), ("macro_f1", "all"))
    assert leak(columns=columns).scores == 1
    assert leak(visibility={"slices": "columns"}, columns=columns).scores == 3
    assert leak(visibility={"slices": "all"}, columns=columns).scores == 3


def test_intervals_and_tests_count_where_they_are_shown_while_the_phase_is_open() -> None:
    """Four ends of intervals and a difference besides the score, and a p of four decimals."""
    size, number = GoldSize(10**6, 1e6), math.log2(20_001)
    assert leak("pearson", size).bits == number
    assert leak("pearson", size, visibility={"slices": "columns"}).bits == number
    assert leak("pearson", size, visibility={"slices": "all"}).bits == 5 * number + math.log2(10_001)
    assert leak("pearson", size, visibility={"slices": "all", "precision": 3}).bits == math.log2(2001)


def test_without_a_limit_or_an_end_everything_can_be_read() -> None:
    found = leak(total=None, ends=False)
    assert (found.submissions, found.share) == (None, 1.0)
    assert "may submit any number of times" in leak_words(found)


def test_a_phase_has_as_many_days_weeks_and_months_as_it_touches() -> None:
    # June 1 to June 15, 00:00: a Monday to a Monday, the last moment excluded and its day counted all the same
    assert submissions_in_phase(asked(total=None)) == 75
    assert submissions_in_phase(asked(total=None, per_day=None, per_week=10)) == 30
    assert submissions_in_phase(asked(total=None, per_day=None, per_month=10)) == 10
    assert submissions_in_phase(asked(total=20)) == 20


def test_a_private_part_decides_and_nothing_of_it_is_told() -> None:
    found = leak("macro_f1", private_part={"share": 0.5, "seed": "nobody-guesses-this"})
    assert (found.share, found.level, found.remedies) == (0.0, Level.GREEN, ())
    assert found.public_share == pytest.approx(50 * math.log2(501) / 500)
    assert found.size is not None
    assert found.size.items == 500
    assert "and nothing of the private part" in leak_words(found)


@pytest.mark.parametrize(
    ("visibility", "bits"),
    [
        ({"board": "hidden", "own_scores": "never"}, 0.0),
        ({"board": "hidden", "public_from": "close", "own_scores": "never"}, math.log2(1001)),  # the entry alone
        ({"board": "hidden", "public_from": "close", "own_scores": "after_close"}, 50 * math.log2(1001)),
        ({"board": "public", "own_scores": "never"}, 50 * math.log2(1001)),  # the board tells them
    ],
)
def test_what_nobody_sees_tells_nothing(visibility: dict[str, str], bits: float) -> None:
    assert leak(visibility=visibility).total_bits == pytest.approx(bits)


def test_a_ladder_tells_its_records_alone() -> None:
    found = leak(entry=EntryRule.LADDER, ladder_step=0.01)
    assert found.share == pytest.approx(math.log2(math.comb(50 + 101, 50)) / 1000)


def test_gold_that_nobody_measured_has_no_share() -> None:
    found = leak("pearson", None)
    assert (found.share, found.level) == (None, None)
    assert "how many bits the gold has is not known yet" in leak_words(found)
