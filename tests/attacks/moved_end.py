"""An organiser who moves the end of a phase after its boards were frozen, so that cited results might disappear.

`python -m tests.attacks.moved_end` starts a server, and reports every address of the frozen board that is lost or
answers otherwise than before, and what supersedes it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from app.base.db import writing
from app.people import auth
from tests.processes import wait_until
from tests.server.processes import GOLD, ITEMS, Server, embedded
from tests.world import add_user

API = "/api/v1"
PLACE = "/competitions/moved/phases/evaluation/boards/zero-shot"
PHASES = """\
version: 1
competitions:
  - name: moved
    title: "Moved"
    registration: {mode: open}
    tasks: [{name: detection, type: idiom-detection, title: "Detection", options: {languages: [en]}}]
    boards:
      - {name: zero-shot, title: "Zero-shot", task: detection, columns: [{metric: macro_f1, split: zero_shot/all}]}
    phases:
      - name: evaluation
        title: "Evaluation"
        start: "2020-01-01 00:00 UTC"
        end: "2999-01-01 00:00 UTC"
        visibility: {board: hidden, public_from: close}
        tasks: {detection: {gold: moved/gold.csv, items: items.csv}}
"""
PREDICTION = "ID,Language,Setting,Label\n" + "".join(f"{number},EN,zero_shot,{number % 2}\n" for number in (1, 2, 3, 4))
DAY = timedelta(days=1)


def main() -> int:
    """Move the end several times, and count the addresses that were lost."""
    with embedded(_write) as server, _clients(server) as (organiser, public):
        _submit(organiser)
        _move(organiser, datetime.now(UTC) - timedelta(minutes=2))
        wait_until(lambda: public.get(f"{API}{PLACE}/official").status_code == 200, "the board is frozen")
        before = {address: public.get(address) for address in _addresses(public)}
        faults = 0
        for title, end in _moves():
            _move(organiser, end)
            if end < datetime.now(UTC):
                wait_until(lambda: public.get(f"{API}{PLACE}/official/2").status_code == 200, "it is frozen again")
            lost = [address for address, answer in before.items() if not _stays(public.get(address), answer)]
            mark = public.get(f"{API}{PLACE}/official/1").json()["official"]["superseded_by"]
            faults += len(lost) + (mark is None)
            _report(
                f"{title:<22} {len(before) - len(lost)} of {len(before)} addresses stay, superseded by {_name(mark)}"
            )
            for address in lost:
                _report(f"    lost: {address}")
        _set(organiser, {"phases.evaluation.visibility.public_from": _moment(datetime.now(UTC) + DAY)})
        shown = [address for address in before if public.get(address).status_code != 404]
        _report(f"{'embargo until a date':<22} {len(shown)} of {len(before)} addresses answer")
        return int(faults + len(shown) > 0)


def _moves() -> Iterator[tuple[str, datetime]]:
    now = datetime.now(UTC)
    yield "end moved by a day", now + DAY
    yield "end moved by a year", now + 365 * DAY
    yield "closed and frozen anew", datetime.now(UTC) - timedelta(seconds=61)


def _name(mark: dict[str, Any] | None) -> str:
    if mark is None:
        return "nothing"
    return f"no. {mark['number']}" if mark["number"] else "the live board"


def _write(folder: Path) -> None:
    (folder / "gold" / "moved").mkdir()
    (folder / "gold" / "moved" / "gold.csv").write_text(GOLD)
    (folder / "items.csv").write_text(ITEMS)
    (folder / "phases.yaml").write_text(PHASES)


@contextmanager
def _clients(server: Server) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """Yield two clients: one of an administrator, who also takes part, and one without a log-in."""
    user = add_user(server.engine, "root", is_administrator=True)
    with writing(server.engine) as session:
        _, secret = auth.create_token(session, user, "attack", datetime.now(UTC))
    with (
        httpx.Client(base_url=server.address, headers={"Authorization": f"Bearer {secret}"}, timeout=60) as organiser,
        httpx.Client(base_url=server.address, timeout=60) as public,
    ):
        yield organiser, public


def _submit(client: httpx.Client) -> None:
    place = f"{API}/competitions/moved/phases/evaluation/tasks/detection/submissions"
    sent = client.post(place, files={"file": ("mine.csv", PREDICTION)}).raise_for_status()
    wait_until(lambda: client.get(sent.headers["Location"]).json()["status"] == "scored", "it is scored")


def _move(client: httpx.Client, end: datetime) -> None:
    _set(client, {"phases.evaluation.end": _moment(end)})


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _set(client: httpx.Client, values: dict[str, str]) -> None:
    place = f"{API}/competitions/moved/declaration"
    base = client.get(place).raise_for_status().json()["revision"]["number"]
    answer = client.patch(place, json={"base": base, "values": values})
    assert answer.status_code == 200, answer.text


def _addresses(public: httpx.Client) -> list[str]:
    """Return the addresses of every form of the first official board."""
    frozen = f"{PLACE}/official/1"
    [row] = set(re.findall(rf"{frozen}/rows/[0-9a-f-]+", public.get(frozen, headers={"Accept": "text/html"}).text))
    forms = [frozen, row, f"{API}{frozen}", f"{API}{frozen}?format=csv", f"{API}{PLACE}/citation?number=1"]
    return [*forms, f"{API}{PLACE}/table?official=true", f"{API}{PLACE}/table?official=true&format=latex"]


def _stays(now: httpx.Response, before: httpx.Response) -> bool:
    """Return whether the address still answers, with the same rows where these can be compared."""
    if now.status_code != 200 or "json" not in now.headers["Content-Type"]:
        return now.status_code == 200
    return bool(now.json()["rows"] == before.json()["rows"])


def _report(line: str) -> None:
    print(line)  # noqa: T201 - a script reports


if __name__ == "__main__":
    sys.exit(main())
