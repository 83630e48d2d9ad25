"""The list of task types: its data, given without loading any type, equal those of the types."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from evergold.scoring.errors import UnknownTask
from evergold.scoring.tasks import OWN, TASKS, gpu_types, needs_gpu


@pytest.mark.parametrize("name", OWN)
def test_a_task_type_is_what_the_list_says(name: str) -> None:
    task = TASKS[name]
    assert (task.name, task.needs_gpu) == (name, OWN[name])
    assert TASKS[name] is task


def test_every_module_of_a_task_type_is_in_the_list() -> None:
    import pkgutil

    from evergold.scoring import tasks

    modules = {module.name for module in pkgutil.iter_modules(tasks.__path__)}
    assert modules == {name.replace("-", "_") for name in OWN}


def test_the_list_is_in_its_order_and_knows_its_length() -> None:
    assert list(TASKS)[: len(OWN)] == list(OWN)
    assert len(TASKS) == len(list(TASKS)) == len(TASKS.items())


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(TASKS, "ranking", dataclasses.replace(TASKS["ranking"], needs_gpu=True))
    monkeypatch.delitem(TASKS, "table")
    yield
    monkeypatch.undo()
    assert "table" in TASKS
    assert not needs_gpu("ranking")


def test_what_takes_the_place_of_a_task_type_counts(changed: None) -> None:
    assert "ranking" in gpu_types()
    assert needs_gpu("ranking")
    assert "table" not in TASKS
    assert TASKS.get("table") is None
    assert not needs_gpu("table")
    with pytest.raises(UnknownTask, match="there is no task type 'table'"):
        TASKS["table"]
    with pytest.raises(KeyError):
        del TASKS["table"]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    assert "rankings" not in TASKS
    assert not needs_gpu("rankings")
    with pytest.raises(UnknownTask, match="did you mean ranking"):
        TASKS["rankings"]
