"""score_submission(run_id): claims a run, reads its files, scores it, and records the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, selectinload

from app.base.config import Settings, get_settings
from app.base.db import get_engine, reading, writing
from app.base.errors import StorageAway, StorageFull
from app.base.logs import bound, log
from app.base.packing import packed, unpacked
from app.base.storage import Storage, check_name, local_file, sealed_storage_of, storage_of, stored_name
from app.base.traces import span
from app.competitions.private_part import division_of
from app.gold.recorded import KeysChanged
from app.gold.sealing import Sealed, forget_sealed, seal_packed_outcomes
from app.models import PROGRAM, ScoringRun, SealedFile, SealedKind
from app.runs.claims import Claim, SealedGold, claim_next_upload, claim_run
from app.runs.outcomes import (
    RunResult,
    put_back,
    record_failure,
    record_overrun,
    record_program_failure,
    record_rejection,
    record_scores,
)
from app.runs.report import packed_results
from app.runs.validations import CheckClaim
from evergold.scoring.errors import (
    InvalidOptions,
    InvalidPrediction,
    Problem,
)
from evergold.scoring.excerpts import with_excerpts
from evergold.scoring.halves import Division, Half, half, signed
from evergold.scoring.task import AnyTask, ItemResult, Options, Score, item_results, read_options, score_with_outcomes
from evergold.scoring.tasks import TASKS, get_task
from workers.claimed import Job, carry_out, host_name, worker_name
from workers.confined import confined
from workers.device import ready_for
from workers.gold import gold_of, read_items
from workers.gold_errors import GoldRefused
from workers.keys import Keys, key_file, own_recipients, read_keys
from workers.lease import Progress, renewing_lease, reporting_progress, retry_while_db_down
from workers.overrun import (
    Bound,
    Ending,
    in_time,
    scoring_seconds,
)
from workers.program_runner import must_have_sandbox, sandboxed
from workers.programs import run_program
from workers.sealed import opened_bytes

#: Key of the outcomes of both parts of divided items; no task type uses it itself.
_PARTS = "parts"


def seal_outcomes(engine: Engine, outcomes: dict[str, Any] | None) -> Sealed | None:
    """Seal and store the outcomes; return None if there are none, or no key to seal them with.

    They are sealed only to keys in this worker's file that are in use: anybody could have added other keys to the
    database. Keys in use are cached until recording fails with KeysChanged, see `ask_for_keys`. If the outcomes cannot
    be
    stored, the team still gets its scores: the error is logged, and the run has no outcomes.
    """
    if outcomes is None:
        return None
    own = read_keys(key_file())
    recipients = _recipients(engine, own)
    if not recipients:
        log.warning("outcomes_not_sealed", reason="no key of this worker is in use", keys=list(own))
        return None
    kept = packed(outcomes)
    try:
        return seal_packed_outcomes(kept, sealed_storage_of(get_settings()), recipients)
    except (OSError, StorageFull, StorageAway) as error:
        log.error("outcomes_not_stored", error=str(error))
        return None


def ask_for_keys() -> None:
    """Clear the cache of keys in use, so that they are queried again."""
    _in_use.clear()


#: This worker's own keys that were in use at the last look-up.
_in_use: set[str] = set()


def _recipients(engine: Engine, own: Keys) -> dict[str, bytes]:
    if own.keys() <= _in_use:
        return {key_id: bytes(key.public_key) for key_id, key in own.items()}
    with reading(engine) as session:
        recipients = own_recipients(session, own)
    _in_use.update(recipients)
    return recipients


def in_parts(public: dict[str, Any] | None, private: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the outcomes of both parts of the items as one document; None if the task type has none."""
    return None if public is None or private is None else {_PARTS: {Half.PUBLIC: public, Half.PRIVATE: private}}


def forget_outcomes(sealed: Sealed | None) -> None:
    """Delete outcomes that no run references."""
    if sealed is not None:
        forget_sealed(sealed, sealed_storage_of(get_settings()))


def read_outcomes(session: Session, run_id: int, of: Half = Half.PUBLIC) -> dict[str, Any] | None:
    """Return the outcomes of a run. of: the part of divided items.

    None if none are stored, or for the private part of items that were not divided. Raises NoKeyForIt, SealBroken,
    OSError.
    """
    query = (
        select(SealedFile)
        .join(ScoringRun, ScoringRun.outcomes_id == SealedFile.id)
        .where(ScoringRun.id == run_id)
        .options(selectinload(SealedFile.keys))
    )
    file = session.scalar(query)
    if file is None:
        return None
    sealed_keys = {key.key_id: key.sealed_key for key in file.keys}
    path = local_file(sealed_storage_of(get_settings()), file.sha256)
    kept = opened_bytes(path, SealedKind.OUTCOMES, sealed_keys, read_keys(key_file()))
    outcomes: dict[str, Any] = unpacked(kept)
    parts: dict[str, dict[str, Any]] = outcomes.get(_PARTS, {Half.PUBLIC: outcomes})
    return parts.get(of)


def fetch(claim: Claim | CheckClaim) -> None:
    """Fetch the file, blind items and sealed gold of a claim into the cache. Raises StorageAway, StorageDamaged."""
    name = check_name(claim.validation_id) if isinstance(claim, CheckClaim) else stored_name(claim.sha256)
    _fetch(storage_of(get_settings()), name, claim.sha256)
    if isinstance(claim, Claim) and (program := claim.options.get(PROGRAM)):
        _fetch(storage_of(get_settings()), stored_name(program), program)
    fetch_gold(claim.sealed_gold, claim.items_sha256)


def fetch_gold(sealed: SealedGold | None, items_sha256: str | None) -> None:
    """Fetch a gold version, and the blind items that it has to match, into the cache."""
    if items_sha256 is not None:
        _fetch(storage_of(get_settings()), stored_name(items_sha256), items_sha256)
    if sealed is not None:
        _fetch(sealed_storage_of(get_settings()), stored_name(sealed.sha256), sealed.sha256)


def _fetch(storage: Storage, name: str, sha256: str) -> None:
    with suppress(FileNotFoundError):
        storage.path(name, sha256)


@dataclass(frozen=True, slots=True)
class Scored:
    """The result of one scoring."""

    scores: list[Score]
    columns: frozenset[tuple[str, str]]
    task_version: int
    warnings: tuple[Problem, ...]
    aggregates: dict[str, Any] | None
    texts: dict[str, str]
    outcomes: dict[str, Any] | None
    items: list[ItemResult] | None = None  # None wherever gold is not public
    private_scores: Sequence[Score] = ()
    program_log: dict[str, Any] | None = None  # of an organisers' own program


@dataclass(frozen=True, slots=True)
class FailedByProgram:
    """The failure of an organisers' program to score a file. failure: to follow "the program"."""

    failure: str
    log: dict[str, Any]
    warnings: tuple[Problem, ...]


def score_submission(run_id: int) -> Ending:
    """Score one run if it is still pending. Safe to repeat."""
    return _claimed_and_scored(partial(claim_run, run_id=run_id)) or Ending.LEFT


def score_next(*, needs_gpu: bool) -> Ending | None:
    """Score the next upload in the queue; return None if none could be claimed."""
    return _claimed_and_scored(partial(claim_next_upload, needs_gpu=needs_gpu, host=host_name()))


def _claimed_and_scored(claiming: Callable[..., Claim | None]) -> Ending | None:
    settings = get_settings()
    engine = get_engine(settings.database_address)
    claim = retry_while_db_down(partial(_claim, engine, claiming, settings.lease_seconds), settings.lease_seconds)
    if claim is None:
        return None
    with bound(run_id=claim.run_id), span("run", run=claim.run_id, task_type=claim.task_type):
        return _score(engine, claim, settings)


def _score(engine: Engine, claim: Claim, settings: Settings) -> Ending:
    return carry_out(
        Job(
            kind="run",
            failed="scoring_failed",
            done="scored",
            names={"run_id": claim.run_id},
            attempt=claim.attempt,
            work=partial(_scored_in_time, engine, claim, settings),
            record=partial(_record, engine, claim),
            put_back=partial(_put_back, engine, claim),
            overrun=partial(_record_overrun, engine, claim),
            fail=partial(_record_failure, engine, claim),
        )
    )


def _scored_in_time(engine: Engine, claim: Claim, settings: Settings) -> Scored | FailedByProgram | InvalidPrediction:
    """Score within the limits of the task, report the progress, and return the result."""
    first_seconds, allowed_seconds = scoring_seconds(TASKS.get(claim.task_type), claim.options)
    late = partial(_record_overrun, engine, claim)
    with (
        renewing_lease(engine, claim, settings.lease_seconds),
        in_time(first_seconds, late) as deadline,
        reporting_progress(engine, claim, partial(deadline.extend, allowed_seconds)) as progress,
    ):
        fetch(claim)
        with confined():
            return _outcome(claim, progress)


def score_as_of(engine: Engine, claim: Claim, now: datetime) -> bool:
    """Score a claimed run and record it as of a given moment, to generate a history; return False if the claim was
    invalid.

    Raises errors of the server, which the caller handles.
    """
    return _record(engine, claim, _outcome(claim, Progress()), now)


def score_claim(claim: Claim, progress: Progress) -> Scored | FailedByProgram:
    """Read gold, items and prediction, score them, and return the result. Raises the errors of scoring."""
    task = get_task(claim.task_type)
    options = read_options(task, claim.options)
    if task.run is not None:
        return _by_program(task, options, claim)
    opened = gold_of(task, options, claim)
    gold, shows_items = opened.content, opened.is_public and claim.gold_is_public
    items = read_items(task, options, claim, gold)
    prediction = task.read_prediction(local_file(storage_of(get_settings()), claim.sha256), items, options)
    progress.checked()
    division = division_of(claim.private_part)
    with ready_for(task, gold_is_sealed=claim.sealed_gold is not None):
        if division is None:
            return _scored(task, gold, prediction, options, shows_items)
        return _in_two(task, gold, prediction, options, division)


def _by_program(task: AnyTask, options: Options, claim: Claim) -> Scored | FailedByProgram:
    """Run the organisers' program in a sandbox, with gold opened for this run, and return the result."""
    if division_of(claim.private_part) is not None:
        raise InvalidOptions([Problem("private-part", "items of an organisers' own program cannot be divided")])
    must_have_sandbox(options)
    upload = local_file(storage_of(get_settings()), claim.sha256)
    found = run_program(task, options, claim, upload, sandboxed)
    if found.failure is not None:
        return FailedByProgram(found.failure, found.log, tuple(found.warnings))
    return Scored(
        scores=list(found.scores),
        columns=frozenset((column.metric, column.split) for column in task.columns(options)),
        task_version=task.version,
        warnings=tuple(found.warnings),
        aggregates=None,
        texts={},
        outcomes=None,
        program_log=found.log,
    )


def _scored(task: AnyTask, gold: Any, prediction: Any, options: Options, shows_items: bool) -> Scored:
    scores, outcomes = score_with_outcomes(task, gold, prediction, options)  # first: the report may depend on them
    report = task.report(gold, prediction, options) if task.report else None
    return Scored(
        scores=scores,
        columns=frozenset((column.metric, column.split) for column in task.columns(options)),
        task_version=task.version,
        warnings=prediction.warnings,
        aggregates=report,
        texts={name: write(report, options) for name, write in task.text_reports.items()},
        outcomes=outcomes,
        items=item_results(task, gold, prediction, options, outcomes) if shows_items else None,
    )


def _in_two(task: AnyTask, gold: Any, prediction: Any, options: Options, division: Division) -> Scored:
    """Return the result for divided items: everything for the public part, only scores and outcomes for the private
    part.
    """
    public = _scored(task, *half(task, gold, prediction, division, Half.PUBLIC), options, shows_items=False)
    scores, outcomes = score_with_outcomes(task, *half(task, gold, prediction, division, Half.PRIVATE), options)
    return replace(
        public,
        scores=signed(public.scores, division, Half.PUBLIC),
        private_scores=signed(scores, division, Half.PRIVATE),
        outcomes=in_parts(public.outcomes, outcomes),
    )


def _claim(engine: Engine, claiming: Callable[..., Claim | None], lease_seconds: float) -> Claim | None:
    with writing(engine) as session:
        return claiming(session, worker=worker_name(), lease_seconds=lease_seconds, now=datetime.now(UTC))


def _outcome(claim: Claim, progress: Progress) -> Scored | FailedByProgram | InvalidPrediction:
    try:
        return score_claim(claim, progress)
    except InvalidPrediction as error:
        explained = with_excerpts(error, local_file(storage_of(get_settings()), claim.sha256))
    return InvalidPrediction(explained.problems, explained.omitted)


def _record(
    engine: Engine, claim: Claim, outcome: Scored | FailedByProgram | InvalidPrediction, as_of: datetime | None = None
) -> bool:
    now = as_of or datetime.now(UTC)
    if isinstance(outcome, FailedByProgram):
        program_log, warnings = packed(outcome.log), outcome.warnings
        with writing(engine) as session:
            return record_program_failure(
                session, claim, failure=outcome.failure, program_log=program_log, warnings=warnings, now=now
            )
    if isinstance(outcome, InvalidPrediction):
        with writing(engine) as session:
            return record_rejection(session, claim, problems=outcome.problems, omitted=outcome.omitted, now=now)
    try:
        return _record_scored(engine, claim, outcome, now)
    except KeysChanged:  # since the look-up of the keys in use
        ask_for_keys()
        return _record_scored(engine, claim, outcome, now)


def _record_scored(engine: Engine, claim: Claim, outcome: Scored, now: datetime) -> bool:
    sealed = seal_outcomes(engine, outcome.outcomes)
    result = RunResult(
        scores=outcome.scores,
        columns=outcome.columns,
        task_version=outcome.task_version,
        warnings=outcome.warnings,
        aggregates=outcome.aggregates,
        texts=outcome.texts,
        outcomes=sealed,
        items=packed_results(outcome.items) if outcome.items is not None else None,
        private_scores=outcome.private_scores,
        program_log=packed(outcome.program_log) if outcome.program_log is not None else None,
    )
    try:
        with writing(engine) as session:
            recorded = record_scores(session, claim, result, now=now)
    except KeysChanged:
        forget_outcomes(sealed)
        raise
    if not recorded:  # not after other errors: the commit may have succeeded; the sweep deletes unreferenced files
        forget_outcomes(sealed)
    return recorded


def _put_back(engine: Engine, claim: Claim, lacking: Exception) -> bool:
    """Queue the run again, with the full reason, which names packages and models but never gold."""
    reason = f"{worker_name()} cannot score it: {lacking}"
    newer = isinstance(lacking, GoldRefused)
    with writing(engine) as session:
        return put_back(session, claim, reason=reason, now=datetime.now(UTC), with_newer_gold=newer)


def _record_overrun(engine: Engine, claim: Claim, bound: Bound) -> bool:
    log.warning("run_overran", run_id=claim.run_id, bound=bound.words)
    with writing(engine) as session:
        return record_overrun(session, claim, bound.problem("score"), datetime.now(UTC))


def _record_failure(engine: Engine, claim: Claim, error: str, attempts: int) -> bool:
    with writing(engine) as session:
        return record_failure(session, claim, error=error, attempts=attempts, now=datetime.now(UTC))
