"""`evergold worker`, but slow, so that a kill finds it at work; it dies by itself over files that request it.

Run as `python -m tests.chaos.dawdling`, with the arguments of `workers.start`.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

from app.base.config import get_settings
from app.base.storage import check_name, stored_path
from app.runs.claims import Claim
from app.runs.validations import CheckClaim
from workers import check, score, start

#: What a file holds whose scoring ends the process, as the system does when memory is short: before it is scored …
DEADLY = b"DEADLY"
#: … after its scores were recorded, and before anybody heard of it: these empty lines stand at its end, and are passed
#: over by who reads it …
DEADLY_AFTERWARDS = b"\n" * 8
#: … or without a signal, as a library does that calls exit().
DEADLY_QUIETLY = b"EXIT"
#: What a file holds whose scoring, or checking, does not end; with work or without.
ENDLESS = b"ENDLESS"
BUSY = b"BUSY"
#: What a file holds whose scoring takes all the memory that it gets.
HEAVY = b"HEAVY"
BLOCK_BYTES = 32 * 1024 * 1024


def dawdle() -> None:
    time.sleep(random.uniform(0, float(os.environ.get("DAWDLE_SECONDS", "0"))))


def fill_memory() -> None:
    """Fill the memory until there is none left; the frame keeps it. It is never written to, so that the machine is not
    disturbed.
    """
    blocks = []
    while True:
        blocks.append(numpy.empty(BLOCK_BYTES, numpy.uint8))


def misbehave(content: bytes) -> None:
    """Do what the content of a file, submitted or only checked, requests."""
    if HEAVY in content:
        fill_memory()
    if ENDLESS in content:
        time.sleep(3600)
    while BUSY in content:
        pass


def content_of(claim: Claim | CheckClaim) -> bytes:
    folder = get_settings().storage_dir
    if isinstance(claim, CheckClaim):
        return (folder / check_name(claim.validation_id)).read_bytes()
    return stored_path(folder, claim.sha256).read_bytes()


def slowly(score_claim: Callable[..., Any]) -> Callable[..., Any]:
    def scored(claim: Claim, *more: Any) -> Any:
        dawdle()
        content = content_of(claim)
        if DEADLY in content:
            os.kill(os.getpid(), signal.SIGKILL)
        if DEADLY_QUIETLY in content:
            os._exit(1)
        misbehave(content)
        found = score_claim(claim, *more)
        dawdle()
        return found

    return scored


def as_badly(warnings_of: Callable[[CheckClaim], Any]) -> Callable[[CheckClaim], Any]:
    def checked(claim: CheckClaim) -> Any:
        misbehave(content_of(claim))
        return warnings_of(claim)

    return checked


def then_dying(record: Callable[..., bool]) -> Callable[..., bool]:
    def recorded(engine: Any, claim: Claim, outcome: Any) -> bool:
        done = record(engine, claim, outcome)
        if content_of(claim).endswith(DEADLY_AFTERWARDS):
            os.kill(os.getpid(), signal.SIGKILL)
        dawdle()
        return done

    return recorded


if __name__ == "__main__":
    score.score_claim = slowly(score.score_claim)
    score._record = then_dying(score._record)
    check.warnings_of = as_badly(check.warnings_of)  # type: ignore[assignment]  # the same, by another name
    sys.exit(start.main())
