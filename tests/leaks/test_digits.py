"""Of hidden gold nobody but its organisers reads a fifth decimal, nor an end of an interval while its phase is open, by
whatever address, unless it is declared.

`test_differences` sees whether anything follows from hidden digits; here every number of every answer is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import pytest

from tests.leaks import place
from tests.leaks.news import told_to
from tests.leaks.paths import OUTSIDERS, paths_of
from tests.leaks.place import REVEAL, Hidden, Place, give_all_but_submissions
from tests.leaks.templates import Templates
from tests.web.site import Site

#: Every score, mean and difference of these has a fifth decimal that rounding to four takes away.
PLANTED: Hidden = {"alpha": (0.61404321, 0.51407654), "beta": (0.72313579, 0.54328642), "gamma": (0.45678912, None)}
USUAL = {"precision": None, "slices": None}
BOARD = "/api/v1/competitions/idioms/phases/evaluation/boards/zero-shot"
_NUMBER = re.compile(r"\d+\.\d{3,}")


@pytest.fixture
def unscored(quick_empty_site: Site, cheap_passwords: None, templates: Templates) -> Iterator[Place]:
    """Everything is there but the outcomes."""
    found = templates.copy(quick_empty_site, place.build)
    give_all_but_submissions(found)
    yield found
    found.close()


def test_no_answer_has_a_fifth_decimal_of_a_score(unscored: Place, pytestconfig: pytest.Config) -> None:
    place.reveal(unscored, PLANTED, USUAL)
    place.judge(unscored, place.TEAMS)
    for role in OUTSIDERS if pytestconfig.getoption("--soak") else ("participant", "editor"):
        assert list(_leaks(unscored, role, _is_digit)) == [], role
    assert any(_leaks(unscored, "organiser", _is_digit)), "organisers read all digits: so they were there to be told"


def test_declared_or_public_they_are_there(unscored: Place) -> None:
    """Else the test above would look for nothing."""
    own = f"/api/v1/submissions/{unscored.submitted['alpha'][0]}"
    asked = [f"{BOARD}.csv", own, f"{BOARD}/pictures/progress"]
    place.reveal(unscored, PLANTED, {"precision": "full", "slices": "all"})
    declared = list(_leaks(unscored, "participant", _is_digit, asked))
    place.reveal(unscored, PLANTED, USUAL)
    place.make_gold_public(unscored.site.engine)
    public = list(_leaks(unscored, "participant", _is_digit, asked))
    for found in (declared, public):
        where = [path for path, _ in found]
        assert where[: len(asked)] == asked
        assert any(path.startswith("webhook for team: submission.scored") for path in where)
        assert any(path.startswith("webhook for public: board.changed") for path in where)


def test_no_answer_has_an_end_of_an_interval_while_the_phase_is_open(
    unscored: Place, pytestconfig: pytest.Config
) -> None:
    place.reveal(unscored, PLANTED, USUAL, ends_at=REVEAL)
    for role in OUTSIDERS if pytestconfig.getoption("--soak") else ("participant", "editor"):
        assert list(_leaks(unscored, role, _is_end)) == [], role
    assert any(_leaks(unscored, "organiser", _is_end)), "organisers see them: so they were there to be told"


def test_declared_or_closed_the_ends_are_there(unscored: Place) -> None:
    """Else the test above would look for nothing."""
    own = f"/api/v1/submissions/{unscored.submitted['alpha'][0]}"
    asked = [BOARD, f"{BOARD}.csv", f"{BOARD}/pictures/forest", own]
    place.reveal(unscored, PLANTED, {"precision": None, "slices": "all"}, ends_at=REVEAL)
    declared = list(_leaks(unscored, "participant", _is_end, asked))
    place.reveal(unscored, PLANTED, USUAL)
    closed = list(_leaks(unscored, "participant", _is_end, asked))
    for found in (declared, closed):
        assert [path for path, _ in found][: len(asked)] == asked


def _leaks(
    unscored: Place, role: str, tells: Callable[[str], bool], paths: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Each path (every one, if none are named) and message with the first number in it that tells something. Each is
    asked when it is wanted, so one leak is found without asking for all."""
    with unscored.client(role) as visitor:
        visitor.bare.headers["Accept-Encoding"] = "identity"
        for path in paths or paths_of(unscored):
            yield from _first_leak(path, visitor.send("GET", path).text, tells)
    for what, message in told_to(unscored, role).items():
        yield from _first_leak(what, message, tells)


def _first_leak(where: str, text: str, tells: Callable[[str], bool]) -> list[tuple[str, str]]:
    return [(where, number) for number in _NUMBER.findall(text) if tells(number)][:1]


def _is_digit(number: str) -> bool:
    """Whether a number, as a fraction or in percent, is nearer to what was planted than four decimals come."""
    decimals = len(number.partition(".")[2])
    read = [float(number)] if decimals > 4 else []
    read.append(float(number) / 100)
    return any(abs(one - truth) < abs(round(truth, 4) - truth) / 2 for one in read for truth in _TRUTHS)


def _is_end(number: str) -> bool:
    """Whether a number, as a fraction or in percent, is an end of an interval in four decimals or more."""
    decimals = len(number.partition(".")[2])
    read = [(float(number), decimals), (float(number) / 100, decimals + 2)]
    return any(shown >= 4 and abs(one - end) < 0.6e-4 for one, shown in read for end in _ENDS)


def _values() -> list[float]:
    return [one for of in PLANTED.values() if of for one in (*of, sum(end or 0.0 for end in of) / 2) if one]


def _ends() -> list[float]:
    """As `place` keeps them."""
    return [end for one in _values() for end in (one * 0.97, one * 0.99 + 0.01)]


def _truths() -> list[float]:
    """Scores, the ends of their intervals, and differences."""
    values, ends = _values(), _ends()
    differences = [abs(one - other) for one, other in combinations(values, 2)]
    return [one for one in (*values, *ends, *differences) if abs(round(one, 4) - one) > 5e-6]


_ENDS, _TRUTHS = _ends(), _truths()
