"""Recipients of sealed gold: current keys whose id is their own, or those of them that the operator names."""

from __future__ import annotations

from sqlalchemy import Engine

from app.base.db import reading, writing
from app.gold.recorded import recipients
from app.models import WorkerKey
from tests.sealed import a_key
from tests.world import NOW


def add_key(engine: Engine, *, key_id: str | None = None, is_retired: bool = False) -> str:
    """Add a key; return its id."""
    own_id, key = a_key()
    with writing(engine) as session:
        row = WorkerKey(key_id=key_id or own_id, public_key=bytes(key.public_key), created_at=NOW)
        row.retired_at = NOW if is_retired else None
        session.add(row)
    return key_id or own_id


def of(engine: Engine, named: str = "") -> set[str]:
    with reading(engine) as session:
        return set(recipients(session, named))


def test_a_key_under_another_id_and_a_retired_one_are_nobodys(sqlite_engine: Engine) -> None:
    first, second = add_key(sqlite_engine), add_key(sqlite_engine)
    planted = add_key(sqlite_engine, key_id="0" * 16)
    retired = add_key(sqlite_engine, is_retired=True)
    assert of(sqlite_engine) == {first, second}
    assert of(sqlite_engine, f"{planted},{retired}") == set()


def test_named_keys_are_the_only_ones_and_empty_names_are_none(sqlite_engine: Engine) -> None:
    first, second = add_key(sqlite_engine), add_key(sqlite_engine)
    assert of(sqlite_engine, f" {second} , ") == {second}
    assert of(sqlite_engine, " , ") == {first, second}
