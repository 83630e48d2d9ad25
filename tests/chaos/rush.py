"""A deadline rush: many teams upload in the last seconds, and some lose patience and send again; is everything decided
correctly?
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle

import httpx
from sqlalchemy import Engine, select

from app.base.db import reading
from app.models import Submission

CONTENT = "ID,Language,Setting,Label\n1,EN,zero_shot,0\n"
#: Of all uploads, how many are given up by their sender at once, and sent again with the same key.
IMPATIENT = 0.2
IMPATIENCE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Tried:
    """An upload and its answer. seconds: of the last attempt; was_lost: True if the sender got no answer to the first;
    left_at: when the sender began, or had sent it.
    """

    key: str
    status: int
    document: dict[str, object]
    seconds: float
    was_lost: bool
    left_at: float = 0.0


def rush(
    submissions_url: str,
    tokens: list[str],
    uploads: int,
    ends_at: datetime,
    lead_seconds: float,
    seed: int,
    name: str = "rush",
) -> list[Tried]:
    """Upload at random moments and return all answers.

    Uploads begin from `lead_seconds` before the end until a fifth of that after it; a team sends the next one when it
    has the answer to the last.
    """
    dice = random.Random(seed)
    plans: list[list[tuple[float, str, bool]]] = [[] for _ in tokens]
    for number in range(uploads):
        moment = ends_at.timestamp() + lead_seconds * dice.uniform(-1.0, 0.2)
        plans[number % len(tokens)].append((moment, f"{name}-{number}", dice.random() < IMPATIENT))
    # One client for all: making a hundred would take longer than the rush.
    with httpx.Client(limits=httpx.Limits(max_connections=None), timeout=60) as client:
        with ThreadPoolExecutor(len(tokens)) as pool:
            answers = [pool.submit(_one_team, client, *one) for one in zip(cycle([submissions_url]), tokens, plans)]
        return [tried for answered in answers for tried in answered.result()]


def _one_team(client: httpx.Client, url: str, token: str, plan: list[tuple[float, str, bool]]) -> list[Tried]:
    return [upload(client, url, token, *planned) for planned in sorted(plan)]


def upload(client: httpx.Client, url: str, token: str, moment: float, key: str, impatient: bool) -> Tried:
    """Upload a file at this moment (now, if it is past) and return the outcome."""
    time.sleep(max(0.0, moment - time.time()))
    left_at = time.time()
    was_lost = impatient and _is_lost(client, url, token, key)
    began = time.monotonic()
    answer = _send(client, url, token, key, 60)
    seconds = time.monotonic() - began
    return Tried(key, answer.status_code, answer.json(), seconds, was_lost, left_at)


def _is_lost(client: httpx.Client, url: str, token: str, key: str) -> bool:
    """Send the upload without waiting for the answer; return whether there was none."""
    try:
        _send(client, url, token, key, IMPATIENCE_SECONDS)
    except httpx.TimeoutException:
        return True
    return False


def _send(client: httpx.Client, url: str, token: str, key: str, seconds: float) -> httpx.Response:
    files = {"file": ("mine.csv", f"{CONTENT}{key}\n")}
    return client.post(
        url, files=files, headers={"Idempotency-Key": key, "Authorization": f"Bearer {token}"}, timeout=seconds
    )


def wrongs(engine: Engine, tried: list[Tried], ends_at: datetime) -> list[str]:
    """Return what is wrong, in sentences."""
    with reading(engine) as session:
        query = select(Submission.idempotency_key, Submission.id, Submission.submitted_at)
        rows = session.execute(query.where(Submission.idempotency_key.in_([one.key for one in tried]))).all()
    stored = {key: (str(submission_id), submitted_at) for key, submission_id, submitted_at in rows}
    wrong = [] if len(stored) == len(rows) else [f"{len(rows)} submissions with {len(stored)} keys"]
    for one in tried:
        kept = stored.pop(one.key, None)
        if one.status == 202:
            if kept is None or kept[0] != one.document["id"]:
                wrong.append(f"{one.key} was accepted as {one.document['id']}, and {kept} is stored")
            elif kept[1] >= ends_at:
                wrong.append(f"{one.key} was accepted at {kept[1]}, after the end {ends_at}")
        elif _code(one) != "phase_not_open":
            wrong.append(f"{one.key} was answered {one.status} {one.document}")
        elif kept is not None:
            wrong.append(f"{one.key} was refused, and is stored")
        elif _refused_at(one) < ends_at:
            wrong.append(f"{one.key} was refused at {_refused_at(one)}, before the end {ends_at}")
    return wrong


def _code(one: Tried) -> object:
    error = one.document.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _refused_at(one: Tried) -> datetime:
    error = one.document["error"]
    assert isinstance(error, dict)
    return datetime.fromisoformat(error["details"]["now"]).astimezone(UTC)
