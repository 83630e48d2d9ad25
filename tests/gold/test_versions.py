"""Versions of gold: numbered without a gap, whoever puts one at the same moment."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading
from app.competitions.find import find_phase_task
from app.gold.sealing import UNLIMITED_BYTES, Sealed, SealingWriter
from app.gold.versions import bind_gold, current_keys, keep_gold
from app.models import GoldVersion
from tests.sealed import PLACE, make_key
from tests.threads import in_threads
from tests.world import NOW, add_competition, answer_to


def sealed(engine: Engine, content: bytes) -> Sealed:
    """What is to become the next version, as the web process has it before it is recorded."""
    with reading(engine) as session:
        binding = bind_gold(session, [find_phase_task(session, *PLACE.split("/"))], is_public=False)
        keys = current_keys(session)
    writer = SealingWriter(get_settings().sealed_dir, UNLIMITED_BYTES, what=binding, recipients=keys)
    writer.write(content)
    writer.finish()
    return writer.sealed


@pytest.mark.both
def test_of_those_who_put_gold_at_once_one_gets_the_number_and_the_others_are_told(engine: Engine) -> None:
    add_competition(engine)
    make_key(engine)
    files = [sealed(engine, f"gold {number}".encode()) for number in range(4)]
    folder = get_settings().sealed_dir

    def put(number: int) -> str:
        return answer_to(lambda: keep_gold(engine, folder, files[number], filename="gold.csv", user=None, now=NOW))

    assert sorted(in_threads(4, put)) == ["accepted", *["version_taken"] * 3]
    with reading(engine) as session:
        assert session.scalars(select(GoldVersion.number)).all() == [1]
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1, "nothing is left of what was refused"
