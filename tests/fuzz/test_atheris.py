"""Every reader under atheris for a bounded number of inputs; `make fuzz` goes on for any time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fuzz.targets import NAMES

pytestmark = pytest.mark.skipif(
    find_spec("atheris") is None and os.environ.get("CI") != "true", reason="atheris is not built for this platform"
)


#: With each commit only the readers that are the most code; hypothesis sends its cases to all of them.
EVERY_COMMIT = ("mwe-identification", "table")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in EVERY_COMMIT else [pytest.mark.soak]) for name in NAMES]
)
def test_coverage_guided_inputs_are_scored_or_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.atheris_target",
        name,
        str(tmp_path / "corpus"),
        "-runs=400",
        "-seed=1",
    ]
    root = Path(__file__).resolve().parents[2]
    ended = subprocess.run(
        [*command, f"-artifact_prefix={tmp_path}/"], capture_output=True, text=True, cwd=root, timeout=300
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    # The library ends when it has time to look: now and then one input after the last that was asked for.
    done = re.search(r"^Done (\d+) runs", ended.stderr, re.MULTILINE)
    assert done, ended.stderr[-4000:]
    assert int(done[1]) >= 400, ended.stderr[-4000:]
