"""The part of a server that is not well, and its numbers, counted by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

import pytest
from sqlalchemy import Engine, delete, select, text, update

from app.base.config import Settings, get_settings
from app.base.db import make_engine, reading, writing
from app.competitions.find import find_competition
from app.models import CompetitionTask, Heartbeat, ScoreRow, ScoringRun, Standing, Submission, Worker
from app.operations import metrics
from app.operations.health import PartOut, beat, broker_answers, last_beat, parts
from app.operations.metrics import TOTALS, keep_totals
from app.people.act import Act
from app.people.mail import send_mail
from app.rescoring.sets import start_rescoring
from tests.rich_rows import add_gold
from tests.services import Valkey, free_port
from tests.threads import in_threads
from tests.world import (
    COMPETITION,
    HOUR,
    NOW,
    PHASE,
    SECOND,
    TASK,
    ZERO_SHOT,
    add_competition,
    add_user,
    claim,
    fail,
    finish,
    reject,
    scores_of,
    submit,
    sure,
)

MINUTE = timedelta(minutes=1)


def add_worker(engine: Engine) -> None:
    with writing(engine) as session:
        session.add(
            Worker(
                name="worker:1",
                host="worker",
                processes=1,
                queues=["cpu"],
                device=None,
                versions={},
                models=[],
                self_check=None,
                self_check_words=[],
                self_checked_at=None,
                started_at=NOW,
                seen_at=NOW,
            )
        )


def sweep_ran(engine: Engine, at=NOW, **done: int) -> None:  # type: ignore[no-untyped-def]
    with writing(engine) as session:
        beat(session, "sweep", at, done)


def asked(engine: Engine, now=NOW, **settings: object) -> dict[str, PartOut]:  # type: ignore[no-untyped-def]
    return {part.name: part for part in parts(engine, get_settings().model_copy(update=settings), now)}


def unwell(found: Mapping[str, PartOut]) -> set[str]:
    return {name for name, part in found.items() if not part.is_well}


def test_a_server_whose_parts_all_work_is_well(engine: Engine) -> None:
    add_worker(engine)
    sweep_ran(engine, NOW - 12 * SECOND)
    found = asked(engine)
    assert set(found) == {"database", "migrations", "broker", "sweep", "queue", "workers"}
    assert unwell(found) == set()
    assert found["sweep"].says == "last ran 12 s ago"


def test_how_far_bertscores_are_from_the_official_librarys_is_said_once_a_worker_has_compared(engine: Engine) -> None:
    add_worker(engine)
    compared = {"model": "a", "package": "bert-score 0.3.13", "pairs": 92}
    values = [{"difference": 0.0018326, "in_its_batches": 1e-7}, {"difference": 0.0007, "in_its_batches": 3e-7}]
    with writing(engine) as session:
        session.execute(update(Worker).values(comparisons=[{**compared, **of_model} for of_model in values]))
    assert asked(engine)["bertscore"] == PartOut(
        name="bertscore",
        is_well=True,
        says="differs from bert-score 0.3.13 by at most 0.0018326 on 92 pairs of the demo, and by at most 0.0000003 "
        "in batches like the package's",
    )


def test_a_sweep_that_stopped_is_noticed(engine: Engine) -> None:
    add_worker(engine)
    assert unwell(asked(engine)) == {"sweep"}, "it never ran"
    sweep_ran(engine, NOW - 2 * MINUTE)  # four rounds of 30 seconds
    assert unwell(asked(engine)) == set()
    assert unwell(asked(engine, NOW + SECOND)) == {"sweep"}


def test_a_run_that_waits_for_too_long_is_noticed(engine: Engine) -> None:
    add_competition(engine)
    add_worker(engine)
    sweep_ran(engine)
    submit(engine, add_user(engine, "ada"), NOW - 15 * MINUTE)
    assert unwell(asked(engine)) == set()
    late = asked(engine, NOW + SECOND)
    assert unwell(late) == {"queue"}
    assert late["queue"].says == "has waiting runs: the oldest has waited for 15 min"


def test_what_is_rescored_may_wait_for_days(engine: Engine) -> None:
    add_competition(engine)
    add_worker(engine)
    sweep_ran(engine)
    root = add_user(engine, "root", is_administrator=True)
    run_id = submit(engine, add_user(engine, "ada"), NOW - HOUR).run_id
    finish(engine, sure(claim(engine, run_id)), scores_of(ZERO_SHOT, 0.5))
    add_gold(engine, COMPETITION, PHASE, TASK, NOW - HOUR)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        start_rescoring(
            Act(session, root, NOW - HOUR, get_settings()), here, [f"{PHASE}/{TASK}"], note="Labels were wrong."
        )
    assert unwell(asked(engine)) == set()
    assert numbers(engine)["evergold_queue_oldest_seconds"] == 0


def test_what_waits_for_torch_where_torch_was_left_out_is_no_fault(engine: Engine) -> None:
    add_competition(engine)
    add_worker(engine)
    sweep_ran(engine)
    submit(engine, add_user(engine, "ada"), NOW - HOUR)
    with writing(engine) as session:
        session.execute(update(CompetitionTask).values(task_type="mwe-paraphrase"))
    assert unwell(asked(engine)) == {"queue"}
    left_out = asked(engine, lean=True)
    assert unwell(left_out) == set()
    assert left_out["queue"].says == "has only submissions that wait for a worker with torch"
    with writing(engine) as session:  # what any worker could take is still looked at
        session.execute(update(CompetitionTask).values(task_type="idiom-detection"))
    assert unwell(asked(engine, lean=True)) == {"queue"}


def test_missing_workers_are_noticed(engine: Engine) -> None:
    sweep_ran(engine)
    assert unwell(asked(engine)) == {"workers"}
    add_worker(engine)
    sweep_ran(engine, NOW + HOUR)
    assert unwell(asked(engine, NOW + HOUR)) == {"workers"}, "it has been silent"


def test_missing_migrations_are_noticed(engine: Engine) -> None:
    with writing(engine) as session:
        known = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    try:
        assert unwell(asked(engine)) == {"migrations"}
    finally:
        with writing(engine) as session:
            session.execute(text("UPDATE alembic_version SET version_num = :known"), {"known": known})


def test_a_database_that_is_away_is_told_apart_from_what_hangs_on_it(postgres_server: str) -> None:
    away = make_engine(f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/none")
    found = asked(away)
    assert unwell(found) == {"database", "migrations", "sweep", "queue", "workers"}
    assert "nobody" not in str(found), "no address is told"
    away.dispose()


def test_the_broker_is_asked_for_a_moment_only(valkey: Valkey) -> None:
    settings = Settings(broker_url=valkey.address)
    assert broker_answers(settings)
    valkey.hang()
    assert not broker_answers(settings)
    valkey.wake()
    assert broker_answers(settings)
    valkey.stop()
    assert not broker_answers(settings)


def test_signs_of_life_add_up(engine: Engine) -> None:
    with writing(engine) as session:
        for name, at in (("postman", NOW - HOUR), ("watchman", NOW + HOUR)):
            beat(session, name, at, {"announced": 9})
    sweep_ran(engine, NOW, announced=2)
    sweep_ran(engine, NOW + MINUTE, announced=1, requeued=4)
    sweep_ran(engine, NOW + SECOND)  # another sweep, whose clock or network is behind
    with reading(engine) as session:
        assert last_beat(session, "sweep") == NOW + MINUTE
        assert session.get_one(Heartbeat, "sweep").counts == {"announced": 3, "requeued": 4}


@pytest.mark.both
def test_sweeps_at_the_same_moment_lose_no_count(engine: Engine) -> None:
    in_threads(8, lambda _: sweep_ran(engine, NOW, announced=1))
    with reading(engine) as session:
        assert session.get_one(Heartbeat, "sweep").counts == {"announced": 8}


# -------------------------------------------------------------------------------------------------------------- metrics


def numbers(engine: Engine, now=NOW) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Return what Prometheus would read: name with labels -> value."""
    with reading(engine) as session:
        text = metrics.exposition(session, now).decode()
    return {
        name: float(value)
        for name, value in re.findall(r"^(\S+(?:{[^}]*})?) (\S+)$", text, re.MULTILINE)
        if not name.startswith("#")
    }


def test_the_numbers_are_those_of_the_database(engine: Engine) -> None:
    add_competition(engine, per_day=None)
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    fast, slow = submit(engine, ada).run_id, submit(engine, bob).run_id
    for run_id, seconds in ((fast, 1.5), (slow, 4.0)):
        held = sure(claim(engine, run_id, NOW))
        finish(engine, held, scores_of(ZERO_SHOT, 0.5), NOW + timedelta(seconds=seconds))
    reject(engine, submit(engine, ada).run_id)
    fail(engine, submit(engine, ada).run_id)
    claim(engine, submit(engine, bob).run_id, NOW)
    submit(engine, ada, NOW)
    submit(engine, ada, NOW + MINUTE)
    with writing(engine) as session:
        send_mail(session, ada, "x", "y", now=NOW)
    sweep_ran(engine, NOW, announced=3, requeued=2, given_up=1)
    add_worker(engine)
    found = numbers(engine, NOW + 90 * SECOND - MINUTE)

    task = 'task="idiom-detection"'
    assert found[f"evergold_submissions_accepted_total{{{task}}}"] == 7
    assert found[f'evergold_runs_ended_total{{outcome="scored",{task}}}'] == 2
    assert found[f'evergold_runs_ended_total{{outcome="rejected",{task}}}'] == 1
    assert found[f'evergold_runs_ended_total{{outcome="failed",{task}}}'] == 1
    assert found[f'evergold_runs{{status="running",{task}}}'] == 1
    assert found[f'evergold_runs{{status="queued",{task}}}'] == 2
    assert found[f"evergold_scoring_seconds_count{{{task}}}"] == 2
    assert found[f"evergold_scoring_seconds_sum{{{task}}}"] == pytest.approx(5.5, abs=0.001)
    outcomes = {name for name in found if name.startswith("evergold_runs_ended_total")}
    assert len(outcomes) == 3, "what has not ended has no outcome"
    assert found["evergold_queue_oldest_seconds"] == 30
    assert found['evergold_sweep_actions_total{action="requeued"}'] == 2
    assert found['evergold_sweep_actions_total{action="given_up"}'] == 1
    assert found['evergold_sweep_actions_total{action="announced"}'] == 3
    assert found["evergold_sweep_last_timestamp_seconds"] == NOW.timestamp()
    assert found["evergold_mail_waiting"] == 1
    assert found["evergold_workers"] == 1


def test_what_was_counted_once_stays_counted(engine: Engine) -> None:
    """Check that past hours are counted by the sweep and the others on request: together all, each once, including
    deleted submissions.
    """
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    for hour in range(4):
        run_id = submit(engine, ada, NOW + hour * HOUR, content=str(hour)).run_id
        held = sure(claim(engine, run_id, NOW + hour * HOUR))
        finish(engine, held, scores_of(ZERO_SHOT, 0.5), NOW + hour * HOUR + SECOND)
    now, names = NOW + 3 * HOUR + 2 * SECOND, ("submissions_accepted_total", "runs_ended_total", "scoring_seconds_sum")
    before = {name: value for name, value in numbers(engine, now).items() if any(one in name for one in names)}
    assert sorted(before.values()) == [pytest.approx(4, abs=0.001), 4, 4]
    assert keep_totals(engine, now)
    assert not keep_totals(engine, now), "that was done"
    with reading(engine) as session:
        assert session.get_one(Heartbeat, TOTALS).beat_at == NOW + 2 * HOUR
    assert numbers(engine, now).items() >= before.items()
    assert keep_totals(engine, now + HOUR)
    with writing(engine) as session:
        for table in (Standing, ScoreRow, ScoringRun, Submission):
            session.execute(delete(table))
    left = numbers(engine, now + HOUR)
    assert [left[name] for name in before] == pytest.approx([3, 3, 3], abs=0.001), "the hour that goes on is not kept"


def test_a_server_without_anything_has_numbers_too(engine: Engine) -> None:
    found = numbers(engine)
    assert found["evergold_queue_oldest_seconds"] == 0
    assert found["evergold_workers"] == 0
    assert not any(name.startswith("evergold_sweep") for name in found), "nothing is made up"


def test_what_is_usual_is_the_median_of_the_last_day(engine: Engine) -> None:
    with reading(engine) as session:
        assert metrics.usual_seconds(session, NOW) is None
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    for seconds in (1, 2, 30):
        run_id = submit(engine, ada).run_id
        finish(engine, sure(claim(engine, run_id)), scores_of(ZERO_SHOT, 0.5), NOW + seconds * SECOND)
    with reading(engine) as session:
        assert session.query(ScoringRun).count() == 3
        assert metrics.usual_seconds(session, NOW + HOUR) == 2.0
        assert metrics.usual_seconds(session, NOW + 25 * HOUR) is None


def test_what_is_usual_is_of_the_latest_uploads_that_were_scored(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of a file that was rejected, nor of a set, for which nobody waits."""
    add_competition(engine, per_day=None)
    ada = add_user(engine, "ada")
    sent = [submit(engine, ada, content=str(number)) for number in range(3)]
    for accepted, seconds in zip(sent[:2], (40, 4), strict=True):
        held = sure(claim(engine, accepted.run_id))
        finish(engine, held, scores_of(ZERO_SHOT, 0.5), NOW + seconds * SECOND)
    reject(engine, sent[2].run_id, NOW + 60 * SECOND)
    add_gold(engine, COMPETITION, PHASE, TASK, NOW)
    with writing(engine) as session:
        here = find_competition(session, COMPETITION)
        made = start_rescoring(Act(session, None, NOW, get_settings()), here, [f"{PHASE}/{TASK}"], note="Labels.").id
        of_set = session.scalars(select(ScoringRun.id).where(ScoringRun.rescoring_id == made)).all()
    for run_id in of_set:
        finish(engine, sure(claim(engine, run_id)), scores_of(ZERO_SHOT, 0.5), NOW + MINUTE)
    with reading(engine) as session:
        assert metrics.usual_seconds(session, NOW + HOUR) == 22.0
        monkeypatch.setattr(metrics, "USUAL_RUNS", 1)
        assert metrics.usual_seconds(session, NOW + HOUR) == 40.0


def test_each_type_of_task_has_its_own_numbers(engine: Engine) -> None:
    add_competition(engine)
    add_competition(engine, name="tables")
    ada, bob = add_user(engine, "ada"), add_user(engine, "bob")
    with writing(engine) as session:
        of_tables = find_competition(session, "tables").id
        session.execute(
            update(CompetitionTask).where(CompetitionTask.competition_id == of_tables).values(task_type="table")
        )
    for seconds, competition in ((2, COMPETITION), (5, "tables")):
        held = sure(claim(engine, submit(engine, ada, competition=competition).run_id, NOW))
        finish(engine, held, scores_of(ZERO_SHOT, 0.5), NOW + seconds * SECOND)
    reject(engine, submit(engine, bob, competition="tables").run_id, NOW + 7 * SECOND)
    submit(engine, bob)
    found = numbers(engine)
    of = {
        kind: [found.get(f'evergold_{name}{{{labels}task="{kind}"}}', 0) for name, labels in _EACH]
        for kind in ("idiom-detection", "table")
    }
    assert of == {
        "idiom-detection": [2, 1, 0, 1, 1, pytest.approx(2, abs=0.001)],
        "table": [2, 1, 1, 0, 1, pytest.approx(5, abs=0.001)],
    }


_EACH = (
    ("submissions_accepted_total", ""),
    ("runs_ended_total", 'outcome="scored",'),
    ("runs_ended_total", 'outcome="rejected",'),
    ("runs", 'status="queued",'),
    ("scoring_seconds_count", ""),
    ("scoring_seconds_sum", ""),
)
