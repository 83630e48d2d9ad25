"""Several machines without a shared disk: a journey over both web processes, a storm of 600, and no word of gold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.base.stores.bucket import Bucket
from app.competitions.find import find_competition
from app.models import Heartbeat, Role, ScoringRun
from app.people import auth
from app.people.rights import grant_role
from tests.canary import MARK, Visitor
from tests.chaos.machines import GOLD, Machines, machines
from tests.chaos.place import LABELS
from tests.chaos.storm import CALM, CHAOS, HEADER, register, run_phase
from tests.chaos.verdict import wrongs
from tests.faulty_store import Fate
from tests.processes import kill, wait_until
from tests.s3 import s3_settings
from tests.sealed import files_with
from tests.world import add_user

SUBMISSIONS = 300  # in each of the two phases
TASK = "/api/v1/competitions/storm/phases/calm/tasks/detection"

pytestmark = [pytest.mark.services, pytest.mark.soak]


@pytest.fixture(scope="module")
def place(postgres_server: str) -> Iterator[Machines]:
    with machines(postgres_server) as found:
        yield found


def visitors(place: Machines, username: str, role: Role | None = None) -> tuple[Visitor, Visitor]:
    """Return one person's clients at both web processes; any quote of gold fails the test."""
    user = add_user(place.engine, username)
    with writing(place.engine) as session:
        if role:
            grant_role(session, find_competition(session, "storm"), user, role, datetime.now(UTC))
        _, secret = auth.create_token(session, user, "test", datetime.now(UTC))
    one, other = (
        Visitor(base_url=web, headers={"Authorization": f"Bearer {secret}"}, timeout=60) for web in place.webs
    )
    return one, other


def waited_for(client: httpx.Client, path: str, states: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def is_there() -> bool:
        found.update(client.get(path).raise_for_status().json())
        return found.get("status", found.get("state")) in states

    wait_until(is_there, f"{path} is one of {states}", seconds=120)
    return found


def test_a_storm_of_600_is_lost_nowhere_and_doubled_nowhere(place: Machines) -> None:
    """The second half with a store that refuses, cuts, loses and spoils, while a worker and the leading sweep die."""
    seed = random.randrange(10**6)
    clients = register(place, seed, SUBMISSIONS)  # type: ignore[arg-type]  # it asks for address, folder and engine alone
    calm = run_phase(place, clients, CALM, [])  # type: ignore[arg-type]
    dice = random.Random(seed)
    faults: tuple[Fate, ...] = ("refuse", "cut", "lose-answer", "spoil", "pass", "pass", "pass")
    place.store.fates = dice.choices(faults, k=400)
    kill(place.workers[0])
    kill(place.sweeps[0])
    stormy = run_phase(place, clients, CHAOS, [])  # type: ignore[arg-type]
    # Here outcomes are sealed, and boards change once more with each statistic that is made of them.
    found = [wrong for wrong in wrongs(calm, stormy, SUBMISSIONS) if not wrong.startswith("the board changed")]
    assert not found, "\n".join([f"seed {seed}", *found, place.logs()])


def test_what_is_sent_to_one_machine_is_served_by_the_other(place: Machines) -> None:
    here, there = visitors(place, "ada")
    organiser_here, organiser_there = visitors(place, "olga", Role.ORGANISER)
    assert here.get(f"{TASK}/files/items.csv").content == there.get(f"{TASK}/files/items.csv").content != b""
    labels = "".join(f"{n},EN,zero_shot,{label}\n" for n, label in enumerate(LABELS))
    content = (HEADER + labels).encode()
    sent = here.post(f"{TASK}/submissions", files={"file": ("mine.csv", content)}).raise_for_status().json()
    path = f"/api/v1/submissions/{sent['id']}"
    assert waited_for(there, path, {"scored", "rejected", "failed"})["status"] == "scored"
    assert there.get(f"{path}/file").content == here.get(f"{path}/file").content == content
    checked = here.post(f"{TASK}/validations", files={"file": ("mine.csv", content)}).raise_for_status().json()
    assert waited_for(there, f"/api/v1/validations/{checked['id']}", {"valid", "invalid", "failed"})
    put = organiser_here.post(f"{TASK}/gold", files={"file": ("gold.csv", GOLD.encode())})
    assert put.status_code == 201, put.text
    archive = organiser_there.get("/api/v1/competitions/storm/predictions.zip")
    assert archive.status_code == 200
    for client in (here, there, organiser_here, organiser_there):
        client.close()


def test_another_sweep_goes_on_when_one_is_gone(place: Machines) -> None:
    def last_beat() -> datetime:
        with reading(place.engine) as session:
            return session.get_one(Heartbeat, "sweep").beat_at

    before = last_beat()
    wait_until(lambda: last_beat() > before, "the other sweep beats", place.sweeps[1])


def test_every_machine_has_a_part_and_gold_is_where_it_was_put_alone(place: Machines) -> None:
    with reading(place.engine) as session:
        scored_by = {str(worker) for worker in session.scalars(select(ScoringRun.worker).distinct())}
    assert len(scored_by) >= 2, "one worker did it all"
    told = [path for path in files_with(place.folder, MARK.encode()) if not path.startswith("gold/")]
    assert told == []
    place.store.fates = []
    bucket = Bucket(s3_settings(place.store.address, place.bucket))
    keys = [kept.name for kept in bucket.listed("")]
    assert {key.partition("/")[0] for key in keys} == {"storage", "sealed"}, "gold and outcomes went there, too"
    assert [key for key in keys if MARK.encode() in b"".join(bucket.pieces(key))] == []
    assert not [folder for folder in place.folder.glob("*/data/storage/??") if any(folder.iterdir())]
