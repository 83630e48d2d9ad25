"""Statistics by a real worker: requested through a broker, computed in a process of its own, found in the database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.queue import _sender, send_statistics
from app.boards.statistics_work import statistics_due
from app.models import StatisticsWork, User
from tests.boards.places import board
from tests.processes import kill, wait_until
from tests.sealed import make_key
from tests.services import environment_of, start_worker, valkey
from tests.workers.files import upload
from tests.world import NOW, add_user, the_phase_task
from workers.score import score_submission

SYSTEMS, ITEMS = 6, 60


@pytest.fixture
def broker(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of the broker that this process and the worker share."""
    with valkey() as server:
        monkeypatch.setenv("EVERGOLD_BROKER_URL", server.address)
        get_settings.cache_clear()
        _sender.cache_clear()
        yield server.address
        _sender().close()
        _sender.cache_clear()


@pytest.mark.soak
def test_a_worker_that_is_told_computes_a_boards_statistics(
    engine: Engine, ada: User, workplace: Path, broker: str, tmp_path: Path
) -> None:
    """System n has n + 1 of every ten items wrong."""
    make_key(engine)
    rows = [f"{number},d{number},EN,{number % 2}\n" for number in range(ITEMS)]
    (workplace / "gold" / "gold.csv").write_text("ID,DataID,Language,Label\n" + "".join(rows))
    for system in range(SYSTEMS):
        labels = [(number + (number // 2 % 10 <= system)) % 2 for number in range(ITEMS)]
        sent = [f"{number},EN,zero_shot,{label}\n" for number, label in enumerate(labels)]
        score_submission(
            upload(engine, add_user(engine, f"user{system}"), "ID,Language,Setting,Label\n" + "".join(sent))
        )
    address = engine.url.render_as_string(hide_password=False)
    environment = environment_of(database_url=address, broker_url=broker, data_dir=get_settings().data_dir)
    worker = start_worker(tmp_path, environment)
    try:
        with writing(engine) as session:
            place = the_phase_task(session).id
            statistics_due(session, NOW, attempts=3)
        assert send_statistics(place)
        wait_until(lambda: computed_for(engine), "statistics are there", worker)
    finally:
        kill(worker)
    shown = board(engine)
    assert shown.statistics == "current"
    assert len(shown.pair_tests) == SYSTEMS * (SYSTEMS - 1) // 2
    assert shown.rows[0].rank_range is not None
    assert re.search(r"resamples:10000\b", next(iter(shown.pair_tests.values())).method)


def computed_for(engine: Engine) -> bool:
    with reading(engine) as session:
        return session.scalars(select(StatisticsWork)).one().computed_for is not None
