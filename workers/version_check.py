"""check_gold_version(version_id): opens a gold version before its first use, to check that it is readable and matches
the items.

Problems are reported by line, without content: the web process and the database never have gold. `evergold gold check`,
on the worker, shows them in full.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import StorageAway
from app.base.logs import bound, log
from app.base.queue import send_runs
from app.declarations.apply.baselines import submit_waiting_baselines
from app.gold.checks import (
    begin_check,
    leave_check_to_others,
    note_failed_check,
    record_invalid_gold,
    record_valid_gold,
)
from app.models import GoldVersion
from app.runs.claims import SealedGold, sealed_gold
from evergold.scoring.errors import InvalidFile, InvalidItems, InvalidOptions, Problem, UnknownTask, shorten
from evergold.scoring.task import AnyTask, Options, read_options
from evergold.scoring.tasks import get_task, needs_gpu
from workers.apart import Failed, Lost, Run, here
from workers.confined import confined
from workers.describing import described
from workers.explaining import sealed_explanation
from workers.faults import logged, named, without_gold
from workers.gold import OpenGold, items_in_storage, open_sealed_gold, read_sealed_gold
from workers.gold_errors import GoldNotFound, SealBroken
from workers.keys import KeyFileBroken, NoKeyForIt
from workers.score import fetch_gold

#: Number of names that a message quotes.
QUOTED = 3


def items_misfits(task: AnyTask, options: Options, opened: OpenGold, items_sha256: str | None) -> list[Problem]:
    """List the differences between gold and the blind items of its phase, if there are any."""
    if items_sha256 is None or task.demands is None:
        return []
    try:
        items = task.demands(items_in_storage(task, options, items_sha256))
    except InvalidItems as invalid:
        return [Problem("bad-items", f"the blind items cannot be read: {invalid}")]
    demanded = task.demands(task.items_of(opened.content, options))
    return misfits(items, demanded) if demanded else []


def misfits(items: Mapping[str, object], gold: Mapping[str, object]) -> list[Problem]:
    """List the differences between items and gold: what each requires by item, as from `Task.demands`."""
    only_gold = sum(name not in items for name in gold)
    only_items = [name for name in items if name not in gold]
    other = [name for name in items if name in gold and items[name] != gold[name]]
    problems = []
    if only_gold:
        problems.append(Problem("unknown-item", f"it has {only_gold} that are not in the blind items"))
    if only_items:
        words = f"it lacks {len(only_items)} of the blind items: {_quoted(only_items)}"
        problems.append(Problem("missing-item", words))
    if other:
        words = f"{len(other)} differ from the blind items: {_quoted(other)}"
        problems.append(Problem("other-item", words))
    return problems


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - QUOTED} more" if len(names) > QUOTED else ""
    return ", ".join(f"'{shorten(name)}'" for name in names[:QUOTED]) + more


#: Errors that another machine may not hit.
LACKING = (NoKeyForIt, GoldNotFound, KeyFileBroken, StorageAway)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The problems of a version, free of gold, the number of those omitted, and an explanation or a description."""

    problems: Sequence[Problem]
    omitted: int
    explanation: str | None = None


def check_gold_version(version_id: int, run: Run[CheckResult | Failed] = here) -> None:
    """Check one version unless it has been checked. Safe to repeat."""
    with bound(gold_version_id=version_id):
        check_version(get_engine(get_settings().database_address), version_id, run)
        log.info("gold_check_ended", gold_version_id=version_id)


def check_version(engine: Engine, version_id: int, run: Run[CheckResult | Failed] = here) -> None:
    """Check a version, record the result, and submit and score the submissions that waited for this gold.

    run: executes the long part of the work, such as in another process.
    """
    with writing(engine) as session:
        version = begin_check(session, version_id, attempts=get_settings().attempts, now=datetime.now(UTC))
    if version is None:
        return
    with reading(engine) as session:
        sealed = sealed_gold(session, version.id)
    found = run(partial(_find, version, sealed))()
    if not isinstance(found, CheckResult):
        _leave(engine, version_id, found)
    elif found.problems:
        with writing(engine) as session:
            now = datetime.now(UTC)
            problems, explanation = found.problems, found.explanation
            record_invalid_gold(session, version_id, problems, found.omitted, now, explanation=explanation)
    else:
        _record_valid(engine, version_id, found.explanation)


def _find(version: GoldVersion, sealed: SealedGold) -> CheckResult | Failed:
    """Open and read the version; return its problems, or the reason why that failed."""
    try:
        fetch_gold(sealed, version.phase_task.items_sha256)
        with confined():
            found = _problems(version, sealed)
            return replace(found, explanation=_description(sealed) or found.explanation)
    except LACKING as lacking:
        return Failed(str(lacking), is_lacking=True)
    except Exception as error:
        log.error("gold_check_failed", gold_version_id=version.id, **logged(error))
        return Failed(named(error))


def _description(sealed: SealedGold) -> str | None:
    """Return the description of the columns if the binding allows it; None for gold that cannot be opened."""
    try:
        return described(sealed)
    except SealBroken:
        return None


def _leave(engine: Engine, version_id: int, found: Failed | Lost) -> None:
    """Leave the version unchecked for another worker or the next attempt."""
    with writing(engine) as session:
        if found.is_stopped if isinstance(found, Lost) else found.is_lacking:
            leave_check_to_others(session, version_id, found.reason)
        else:
            attempts = get_settings().attempts
            note_failed_check(session, version_id, found.reason, attempts=attempts, now=datetime.now(UTC))


def _problems(version: GoldVersion, sealed: SealedGold) -> CheckResult:
    """Read the version and compare it with the items; return the problems."""
    task_type, phase_task = version.phase_task.task.task_type, version.phase_task
    try:
        task = get_task(task_type)
        options = read_options(task, phase_task.options_of(phase_task.task))
        opened = read_sealed_gold(task, options, sealed)
        return CheckResult(items_misfits(task, options, opened, phase_task.items_sha256), 0)
    except SealBroken as broken:
        return CheckResult([Problem("broken-seal", str(broken))], 0)
    except (InvalidOptions, UnknownTask) as invalid:
        return CheckResult([Problem("bad-option", str(invalid))], 0)
    except InvalidFile as invalid:
        return _by_line(invalid, sealed)


def _by_line(invalid: InvalidFile, sealed: SealedGold) -> CheckResult:
    """Return the problems by line, without gold; only a general one if the task's options have changed since the
    upload.
    """
    with open(os.devnull, "wb") as nowhere:
        binding = open_sealed_gold(sealed, nowhere).binding
    if binding is not None and binding.has_options_of(sealed.place):
        reader = binding.reader
        explanation = sealed_explanation(invalid.problems, invalid.omitted, reader) if reader else None
        return CheckResult([without_gold(problem) for problem in invalid.problems], invalid.omitted, explanation)
    words = "the task's options have changed since this gold was uploaded, and it cannot be read with the new ones"
    message = f"{words}; upload it again, or ask the people who run the workers (evergold gold check)"
    return CheckResult([Problem("other-options", message)], 0)


def _record_valid(engine: Engine, version_id: int, description: str | None) -> None:
    now = datetime.now(UTC)
    with writing(engine) as session:
        phase_task = record_valid_gold(session, version_id, now, description=description)
        runs = submit_waiting_baselines(session, phase_task, now) if phase_task else []
        is_for_gpu = phase_task is not None and needs_gpu(phase_task.task.task_type)
    send_runs([(run_id, is_for_gpu) for run_id in runs])
