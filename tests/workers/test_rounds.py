"""Work beside the sweep continues, whatever part of it fails."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from workers.rounds import rounds
from workers.sweep import do_each


def fail(*_: object) -> None:
    raise RuntimeError("a bug")


def test_work_that_fails_takes_no_turn_of_what_follows_it(sqlite_engine: Engine) -> None:
    worked, forgot = threading.Event(), threading.Event()
    works = (fail, lambda stop: worked.set(), fail)
    with rounds("post", sqlite_engine, works, forgot.set):
        assert worked.wait(30)
        assert forgot.wait(30)


def test_a_part_of_the_sweep_that_fails_keeps_no_other() -> None:
    done: list[str] = []
    with capture_logs() as logged:
        do_each({"first": fail, "second": lambda: done.append("second")})
    assert done == ["second"]
    assert [(one["event"], one["part"], one["error"]) for one in logged] == [
        ("sweep_part_failed", "first", "RuntimeError")
    ]


def test_a_database_that_is_away_ends_the_sweep_at_once() -> None:
    done: list[str] = []

    def away() -> None:
        raise OperationalError("SELECT 1", None, ConnectionError("gone"))

    with pytest.raises(OperationalError):
        do_each({"first": away, "second": lambda: done.append("second")})
    assert done == []
