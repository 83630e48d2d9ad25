"""A worker's surroundings: its database, its storage, its gold folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import get_engine
from app.base.queue import _sender
from app.models import User
from tests.workers.files import GOLD
from tests.world import add_competition, add_user


@pytest.fixture
def workplace(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the data folder of a worker that uses the test's database; it looks for gold where gold.csv is."""
    address = engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", address)
    get_settings.cache_clear()
    data = tmp_path / "var"
    (data / "gold").mkdir(parents=True)
    (data / "gold" / "gold.csv").write_text(GOLD)
    yield data
    get_engine(address).dispose()
    if _sender.cache_info().currsize:
        _sender().close()


@pytest.fixture
def ada(engine: Engine) -> User:
    """Return somebody who may submit, in a competition to which to submit."""
    add_competition(engine, per_day=None)
    return add_user(engine, "ada")
