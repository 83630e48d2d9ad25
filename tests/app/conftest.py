"""What several tests of the data side begin with."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from app.models import User
from app.submissions.accept import Accepted
from tests.world import add_competition, add_user, submit


@pytest.fixture
def accepted(engine: Engine) -> Accepted:
    """A submission with its queued run."""
    add_competition(engine, options={"languages": ["EN", "PT"]})
    return submit(engine, add_user(engine, "ada"))


@pytest.fixture
def people(engine: Engine) -> list[User]:
    """Ada, Bob, Cat and Dan, in a competition that shows each team's best."""
    add_competition(engine, per_day=None)
    return [add_user(engine, name) for name in ("ada", "bob", "cat", "dan")]
