"""The interface of EvalAI: a package with `evaluate(annotation, submission, phase, …)`, run like any other program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path


def evalai_command(phase: str, metadata: Mapping[str, object] | None = None) -> tuple[str, ...]:
    """Return the command that calls an evaluation script, for a `Program`.

    phase: the codename that the script gets. metadata: of the submission. The scores' keys are `split/label`, or only
    `label` if the result has a single split; its list `error` becomes `errors`.
    """
    folders = ("$program", "$hidden", "$predictions", "$output")
    given = json.dumps([phase, dict(metadata or {})]).replace("$", "\\u0024")  # which is replaced in commands
    return ("python3", "-c", _text(), *folders, given)


@lru_cache(maxsize=1)
def _text() -> str:
    return Path(__file__).with_name("evalai_inside.py").read_text(encoding="utf-8")
