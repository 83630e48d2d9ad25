"""Scores sample submissions of an imported bundle by its own program, in a sandbox, before there is a competition.

`python -m workers.sample_scores` reads a JSON list of samples from stdin, each with `program`, `reference` and
`submission` (paths) and `options` (those of the task type program), and writes a list with `scores` by metric and
`words`, which has the reason where there are none. Nothing is stored.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from evergold.scoring.errors import ScoringError
from evergold.scoring.program.options import ProgramOptions
from evergold.scoring.program.packing import InvalidProgram, pack, unpack
from evergold.scoring.running import ProgramCall, ProgramEnd, RunFiles
from evergold.scoring.task import read_options
from evergold.scoring.tasks.program import TASK
from workers.program_runner import run_folder
from workers.programs import lay_out_gold


def scored(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return scores of one sample by metric, None for one that is undefined; `words` if there are none."""
    with tempfile.TemporaryDirectory(prefix="evergold-sample-") as name:
        folder = Path(name)
        packed, program, reference = folder / "program.zip", folder / "program", folder / "ref"
        program.mkdir()
        reference.mkdir()
        try:
            pack(Path(sample["program"]), packed)
            unpack(packed, program)
            options = cast(ProgramOptions, read_options(TASK, sample["options"]))

            def runner(call: ProgramCall, /) -> ProgramEnd:
                return run_folder(call, program)

            if TASK.run is None:  # the type would not be `program`
                raise InvalidProgram([])
            gold, submission = Path(sample["reference"]), Path(sample["submission"])
            lay_out_gold(Path(shutil.copyfile(gold, folder / "gold")), reference, gold.name)
            found = TASK.run(RunFiles(reference, submission, submission.name), options, runner)
        except ScoringError as fault:
            return {"scores": {}, "words": f"not scored: {fault}"}
    words = f"the program {found.failure}" if found.failure else ""
    if found.failure and (last := _last_line(found.log.get("stderr", ""))):
        words = f"{words} ({last})"
    return {"scores": {one.metric: one.value for one in found.scores}, "words": words}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "".join(character for character in lines[-1] if character.isprintable())[:200] if lines else ""


def main() -> int:
    """Score the samples on stdin and return the exit code."""
    samples = json.load(sys.stdin)
    json.dump([scored(one) for one in samples], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
