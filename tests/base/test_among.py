"""A number among very many, on both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.db import among, reading
from app.models import User
from tests.world import add_user


@pytest.mark.parametrize("others", [0, 100_000], ids=["alone", "among more than there may be parameters"])
def test_a_number_is_found_among_however_many(engine: Engine, others: int) -> None:
    first, second = add_user(engine, "first"), add_user(engine, "second")
    query = select(User.id).where(among(User.id, "wanted"))
    with reading(engine) as session:
        wanted = [second.id, *range(10**6, 10**6 + others), second.id]
        assert session.scalars(query, {"wanted": wanted}).all() == [second.id]
        assert set(session.scalars(query, {"wanted": [first.id, second.id]})) == {first.id, second.id}
        assert session.scalars(query, {"wanted": []}).all() == []
