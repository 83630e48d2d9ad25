"""Intervals and p in the words of pages: rounded so that nothing looks surer than it is."""

from __future__ import annotations

import html
import re

import pytest

from app.boards.pair_tests import PairTest
from app.boards.rows import Interval
from app.competitions.columns import BoardColumn
from app.feedback.standings import PeerComparison
from app.web.html.certainty import difference_ends, interval_words, p_words, verdict
from app.web.html.rendering import environment

F1 = BoardColumn("macro_f1", "all", "Macro F1", 1, True, True, "")
ERROR = BoardColumn("mae", "all", "MAE", 3, False, False, "")


def pair(
    difference: float, low: float | None, high: float | None, p: float, corrected: float | None = None
) -> PairTest:
    return PairTest(difference, low, high, 0.95, p, corrected, "paired:1")


@pytest.mark.parametrize(
    ("p", "words"),
    [(1e-300, "p < .001"), (0.00099, "p < .001"), (0.001, "p = .001"), (0.0341, "p = .035"), (0.05, "p = .050"),
     (0.0501, "p = .051"), (0.5, "p = .500"), (0.9985, "p = .999"), (1.0, "p > .999")],
)  # fmt: skip
def test_p_has_three_digits_and_never_looks_smaller(p: float, words: str) -> None:
    assert p_words(p) == words


def test_intervals_are_rounded_outward() -> None:
    assert interval_words(Interval(0.7014, 0.7821, 0.95, "t"), F1) == "95 % interval: 70.1 to 78.3"
    assert interval_words(None, F1) == ""
    assert difference_ends(pair(0.01, -0.00101, 0.0229, 0.2), F1) == "−0.2 to +2.3"
    assert difference_ends(pair(-0.0405, -0.0511, -0.0304, 0.2), ERROR) == "−0.052 to −0.030"
    assert difference_ends(pair(0.01, None, None, 0.2), F1) == ""


def test_a_difference_is_better_worse_or_chance() -> None:
    assert verdict(pair(0.1, None, None, 0.01), F1) == "better"
    assert verdict(pair(0.1, None, None, 0.01), ERROR) == "worse"
    assert verdict(pair(0.1, None, None, 0.01, corrected=0.06), F1) == "may be chance"


@pytest.mark.parametrize(
    ("rivals", "sentence"),
    [
        (
            PeerComparison("Majority", pair(0.2, 0.1, 0.3, 1e-4), True, ("Saudade Lab",), 0, 2),
            "Significantly better than the baseline (p < .001, corrected); no significant difference from Saudade Lab.",
        ),
        (
            PeerComparison("Majority", pair(-0.2, None, None, 0.02), False, ("A", "B", "C"), 0, 0),
            "Significantly worse than the baseline (p = .020, corrected); no significant difference from A, B and C.",
        ),
        (
            PeerComparison("Majority", pair(0.01, None, None, 0.3), True, ("A", "B", "C", "D", "E")),
            "No significant difference from the baseline (p = .300, corrected); no significant difference from A, B, C "
            "and 2 other teams.",
        ),
        (PeerComparison(alike=("<b>", "B")), "No significant difference from <b> and B."),
        (PeerComparison(ahead=1, behind=3), "A significant difference from every other team."),
        (
            PeerComparison("Majority", pair(0.2, 0.1, 0.3, 1e-4), True),
            "Significantly better than the baseline (p < .001, corrected).",
        ),
        (PeerComparison(is_pending=True), "The comparison with the other rows is being computed."),
    ],
)
def test_a_run_beside_others_is_told_in_a_sentence(rivals: PeerComparison, sentence: str) -> None:
    form = '{% import "submissions/certainty.html" as sure with context %}{{ sure.against(rivals) }}'
    told = environment().from_string(form).render(rivals=rivals)
    assert " ".join(html.unescape(re.sub(r"<[^>]*>", "", told)).split()) == sentence
