"""A deadline rush: 500 uploads of 100 teams in the last seconds, over HTTP, on PostgreSQL or SQLite; how long is p99?

The sweep is as seldom as on any server. Each leaves at its moment, whether its team's last one was answered or not.
Each must be accepted or refused by the server's clock alone, none twice, none lost: anything else exits with 1. Times
are told in seconds and as ratios to what one upload takes on the same server while nobody else is there; processor time
is that of all who take part, for they share the machine.
`--uploads 1500 --lead-seconds 10` sends 125 a second, whether they are answered or not.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from app.base.db import writing
from app.models import Phase
from bench._command import BenchParser, run
from bench._open_loop import UNANSWERED, Plan, Sender, plans, send_all
from bench._people import token_of
from bench._processors import processor_seconds_of_family
from tests.chaos.place import Place, a_place
from tests.chaos.rush import Tried, wrongs

SUBMISSIONS = "/api/v1/competitions/storm/phases/chaos/tasks/detection/submissions"
DATABASES = ("postgresql", "sqlite")
SEED = 6
WARM_UP = 5
LEAD_SECONDS = 5.0
SMOKE = {"uploads": 20, "teams": 5, "alone": 3, "lead_seconds": 1.0, "database": "sqlite"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print figures."""
    parser = BenchParser(__doc__, smoke=SMOKE)
    parser.add_argument("--uploads", type=int, default=500)
    parser.add_argument("--teams", type=int, default=100)
    parser.add_argument("--alone", type=int, default=30, help="uploads while nobody else is there")
    parser.add_argument("--database", choices=DATABASES, default=DATABASES[0])
    parser.add_argument("--web-processes", type=int, default=1)
    parser.add_argument("--lead-seconds", type=float, default=LEAD_SECONDS, help="how long before the end it begins")
    arguments = parser.parse(argv)
    with a_place(
        on_sqlite=arguments.database == "sqlite", web_processes=arguments.web_processes, sweep_seconds=30
    ) as place:
        tokens = [token_of(place.engine, f"rusher{number}") for number in range(arguments.teams)]
        alone = one_by_one(place, arguments.alone)
        ends_at = datetime.now(UTC) + timedelta(seconds=arguments.lead_seconds + 1)
        end_phase(place, ends_at)
        url = f"{place.address}{SUBMISSIONS}"
        before = spent(place)
        tried = send_all(plans(url, tokens, arguments.uploads, ends_at, arguments.lead_seconds, seed=SEED))
        used = {who: seconds - before[who] for who, seconds in spent(place).items()}
        requests = len(tried) + sum(one.was_lost for one in tried)
        wrong = wrongs(place.engine, tried, ends_at)
    print("\n".join(wrong), file=sys.stderr)
    figures = {
        "database": arguments.database,
        "uploads": arguments.uploads,
        "teams": arguments.teams,
        **figures_of(alone, tried, ends_at),
        **{f"processor of {who}, ms each": round(1000 * seconds / requests, 1) for who, seconds in used.items()},
        "so many a second would use two processors up": round(2 * requests / sum(used.values())),
        "wrong": len(wrong),
    }
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            print(f"{name:46} {value}")
    return 1 if wrong else 0


def one_by_one(place: Place, count: int) -> list[Tried]:
    """Return the times of uploads on an idle server, without the first few, which warm it up."""
    sender = Sender(f"{place.address}{SUBMISSIONS}", token_of(place.engine, "alone"))
    answers = [send_all([Plan(0.0, sender, f"alone-{number}", impatient=False)]) for number in range(WARM_UP + count)]
    return [answer for (answer,) in answers[WARM_UP:]]


def end_phase(place: Place, ends_at: datetime) -> None:
    """Set the deadline."""
    with writing(place.engine) as session:
        session.execute(update(Phase).where(Phase.name == "chaos").values(ends_at=ends_at))


def spent(place: Place) -> dict[str, float]:
    """Return the processor seconds used so far, by process."""
    database = {"PostgreSQL": processor_seconds_of_family(place.database.pid)} if place.database else {}
    return {
        "the web": processor_seconds_of_family(place.web.process.pid),
        **database,
        "the senders": time.process_time(),
    }


def figures_of(alone: list[Tried], tried: list[Tried], ends_at: datetime) -> dict[str, object]:
    """Return the numbers of outcomes, and how much longer accepting took in the rush."""
    usual = statistics.median(one.seconds for one in alone)
    accepted = sorted(one.seconds for one in tried if one.status == 202 and not one.was_lost)
    in_time = [one for one in tried if one.left_at < ends_at.timestamp()]
    last_answer = max(one.left_at + one.seconds for one in tried)
    return {
        "left before the end": len(in_time),
        "of these accepted": sum(one.status == 202 for one in in_time),
        "accepting p99, seconds": round(accepted[int(0.99 * (len(accepted) - 1))], 2),
        "the last answer came, seconds behind the end": round(last_answer - ends_at.timestamp(), 2),
        "accepted": sum(one.status == 202 for one in tried),
        "refused: too late": sum(one.status == 409 for one in tried),
        "never answered": sum(one.status == UNANSWERED for one in tried),
        "sent again after a time-out": sum(one.was_lost for one in tried),
        "accepting p50, rush / alone": round(statistics.median(accepted) / usual, 2),
        "accepting p99, rush / alone": round(accepted[int(0.99 * (len(accepted) - 1))] / usual, 2),
    }


if __name__ == "__main__":
    sys.exit(run(main))
