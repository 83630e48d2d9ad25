"""Versions of gold: numbered without a gap, whoever puts one at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine, select, text

from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_phase_task
from app.gold.sealing import UNLIMITED_BYTES, Sealed, SealingWriter
from app.gold.versions import bind_gold, current_keys, keep_gold, put_gold
from app.models import GoldVersion
from tests.processes import wait_until
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


def test_of_those_who_put_gold_at_once_one_gets_the_number_and_the_others_are_told(engine: Engine) -> None:
    add_competition(engine)
    make_key(engine)
    files = [sealed(engine, f"gold {number}".encode()) for number in range(4)]
    folder = get_settings().sealed_dir
    assert sorted(in_threads(4, lambda number: put(engine, files[number]))) == ["accepted", *["version_taken"] * 3]
    with reading(engine) as session:
        assert session.scalars(select(GoldVersion.number)).all() == [1]
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1, "nothing is left of what was refused"


def test_whoever_puts_gold_waits_for_who_came_first_and_sees_that_number_taken(postgresql_engine: Engine) -> None:
    """Before the one is committed, the other has asked already which number comes next."""
    add_competition(postgresql_engine)
    make_key(postgresql_engine)
    first, second = (sealed(postgresql_engine, content) for content in (b"gold", b"other gold"))
    with ThreadPoolExecutor(1) as pool:
        with writing(postgresql_engine) as session:
            asked = find_phase_task(session, *PLACE.split("/"))
            put_gold(session, [asked], first, filename="gold.csv", user=None, now=NOW)
            late = pool.submit(put, postgresql_engine, second)
            wait_until(lambda: somebody_waits(postgresql_engine), "the second waits for the first")
        assert late.result(60) == "version_taken"


def put(engine: Engine, content: Sealed) -> str:
    folder = get_settings().sealed_dir
    return answer_to(lambda: keep_gold(engine, folder, content, filename="gold.csv", user=None, now=NOW))


def somebody_waits(engine: Engine) -> bool:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with reading(engine) as session:
        return bool(session.scalar(text(waiting)))
