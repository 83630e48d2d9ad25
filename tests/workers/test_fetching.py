"""Workers whose files lie in a bucket: fetched before the run, which has no network; a store may be away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from app.base.config import get_settings
from app.base.db import writing
from app.base.storage import local_file, sealed_storage_of, storage_of, store_upload
from app.models import PhaseTask, RunStatus, ScoringRun, User
from tests.faulty_store import FaultyStore, faulty_store
from tests.s3 import new_bucket, s3_environment, s3_server
from tests.workers.files import PREDICTION
from tests.world import submit, the_run
from workers.score import score_submission

pytestmark = pytest.mark.usefixtures("workplace")
BLIND = b"ID,Language\n1,EN\n2,EN\n3,EN\n4,EN\n"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def store(server: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStore]:
    """The worker's files lie there; it may be away."""
    with faulty_store(server) as proxy:
        environment = s3_environment(proxy.address, new_bucket(server))
        for name, value in {**environment, "EVERGOLD_S3_TRIES": "1", "EVERGOLD_S3_TIMEOUT_SECONDS": "5"}.items():
            monkeypatch.setenv(name, value)
        get_settings.cache_clear()
        yield proxy


def upload(engine: Engine, user: User) -> int:
    """Upload by way of another machine, so that nothing is in this one's cache."""
    stored = store_upload([PREDICTION.encode()], storage_of(get_settings()), 10**6)
    local_file(storage_of(get_settings()), stored.sha256).unlink()
    return submit(engine, user, stored=stored).run_id


def test_a_run_finds_its_files_on_the_disk(engine: Engine, ada: User, store: FaultyStore) -> None:
    items = store_upload([BLIND], storage_of(get_settings()), 1000)
    local_file(storage_of(get_settings()), items.sha256).unlink()
    with writing(engine) as session:
        session.execute(update(PhaseTask).values(items_sha256=items.sha256))
    run_id = upload(engine, ada)
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED
    assert [name for method, name in store.asked if method == "GET" and "/storage/" in name] == [
        name for method, name in store.asked if method == "PUT" and "/storage/" in name
    ][::-1], "each once: first what was sent, then the items"


def test_while_the_store_is_away_a_run_is_put_back_and_costs_no_attempt(
    engine: Engine, ada: User, store: FaultyStore
) -> None:
    run_id = upload(engine, ada)
    store.always = "refuse"
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 0)
    assert run.failure is not None
    assert "storage cannot be reached" in run.failure
    store.always = "pass"
    with writing(engine) as session:
        session.execute(update(ScoringRun).values(not_before=None))
    score_submission(run_id)
    assert the_run(engine, run_id).status == RunStatus.SCORED


def test_a_file_that_the_store_has_lost_fails_the_run_not_the_team(
    engine: Engine, ada: User, store: FaultyStore
) -> None:
    run_id = upload(engine, ada)
    for kept in list(storage_of(get_settings()).listed()):
        storage_of(get_settings()).remove(kept.name)
    score_submission(run_id)
    run = the_run(engine, run_id)
    assert (run.status, run.attempts) == (RunStatus.QUEUED, 1)
    assert (run.failure or "").startswith("FileNotFoundError")


def test_what_a_worker_seals_goes_to_the_bucket(engine: Engine, ada: User, store: FaultyStore) -> None:
    sealed = sealed_storage_of(get_settings())
    stored = store_upload([b"ciphertext"], sealed, 100)
    assert [path for method, path in store.asked if method == "PUT"] == [
        f"/{store.asked[0][1].split('/')[1]}/sealed/{stored.sha256[:2]}/{stored.sha256}"
    ]
