"""Actions of a team on a run whose scores it sees: choose it, while that counts for something."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.competitions.visibility import Viewer
from app.feedback.scores import OwnScores, own_scores_of
from app.models import EntryRule, User
from app.submissions.choices import choose_entry, withdraw_submission
from app.submissions.find import get_submission
from tests import world
from tests.competitions.embargo import declare, enter
from tests.world import HOUR, NOW


def seen(engine: Engine, submission: UUID, user: User, now: datetime = NOW) -> OwnScores:
    with reading(engine) as session:
        return own_scores_of(session, get_submission(session, submission, user), Viewer(user, now))


@pytest.mark.parametrize("rule", list(EntryRule))
def test_a_run_may_be_chosen_where_teams_choose(engine: Engine, people: list[User], rule: EntryRule) -> None:
    declare(engine, entry_rule=rule, ladder_step=0.01)
    found = seen(engine, enter(engine, people[0], 0.5), people[0])
    assert (found.has_choice, found.is_choosable) == (rule is EntryRule.CHOSEN,) * 2


def test_only_what_is_scored_and_not_withdrawn_may_be_chosen_and_until_the_declared_moment(
    engine: Engine, people: list[User]
) -> None:
    ada = people[0]
    declare(engine, entry_rule=EntryRule.CHOSEN, choose_until=NOW + 2 * HOUR)
    first, second = (enter(engine, ada, value, minute=minute) for minute, value in enumerate((0.5, 0.6)))
    waiting = world.submit(engine, ada).submission.id
    with writing(engine) as session:
        choose_entry(session, first, ada, NOW + HOUR, board="zero-shot")
        withdraw_submission(session, second, ada, NOW + HOUR)
    found = [seen(engine, one, ada, NOW + HOUR) for one in (first, second, waiting)]
    assert [one.is_choosable for one in found] == [True, False, False]
    assert [one.chosen_for for one in found] == [("zero-shot",), (), ()]
    late = seen(engine, first, ada, NOW + 2 * HOUR)
    assert (late.is_choosable, late.has_choice) == (False, True)
