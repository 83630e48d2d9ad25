"""`evergold worker`, but slow, so that a kill finds it at work; and dying by itself over files that say so.

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

from app.base.config import get_settings
from app.base.storage import stored_path
from app.runs.claims import Claim
from workers import score, start

#: What a file holds whose scoring ends the process, as the system does when memory is short: before it is scored …
DEADLY = b"DEADLY"
#: … after its scores were recorded, and before anybody heard of it: these empty lines stand at its end, and are passed
#: over by who reads it …
DEADLY_AFTERWARDS = b"\n" * 8
#: … or without a signal, as a library does that calls exit().
DEADLY_QUIETLY = b"EXIT"
#: What a file holds whose scoring does not end.
ENDLESS = b"ENDLESS"


def dawdle() -> None:
    time.sleep(random.uniform(0, float(os.environ.get("DAWDLE_SECONDS", "0"))))


def content_of(claim: Claim) -> bytes:
    return stored_path(get_settings().storage_dir, claim.sha256).read_bytes()


def slowly(score_claim: Callable[..., Any]) -> Callable[..., Any]:
    def scored(claim: Claim, *more: Any) -> Any:
        dawdle()
        content = content_of(claim)
        if DEADLY in content:
            os.kill(os.getpid(), signal.SIGKILL)
        if DEADLY_QUIETLY in content:
            os._exit(1)
        if ENDLESS in content:
            time.sleep(3600)
        found = score_claim(claim, *more)
        dawdle()
        return found

    return scored


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
    sys.exit(start.main())
