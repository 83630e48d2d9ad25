"""A sandbox for tests: real bubblewrap, a bare environment, and programs that a test writes itself."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import bubblewrap
from tests.processes import missing
from workers.sandbox import Environment, Limits, Outcome, Program, run

MEBIBYTE = 1 << 20
#: Small enough that nothing in a test can harm the machine that it should hold, should a bound fail.
LIMITS = Limits(seconds=60, processor_seconds=30, memory=200 * MEBIBYTE, processes=16, written=16 * MEBIBYTE)

#: A program that starts as many processes as it may, and says how many.
MANY = """
import os, time
started = 0
try:
    while started < 100:
        if os.fork() == 0:
            time.sleep(60)
        started += 1
except OSError as error:
    print(started, error.strerror)
"""


@pytest.fixture(scope="session")
def bare() -> Iterator[Path]:
    """Yield the folder of an environment without packages."""
    if words := bubblewrap.why_not():
        missing(words)
    with bubblewrap.bare_environment() as folder:
        yield folder


@dataclass(frozen=True, slots=True)
class Place:
    """Folders for one program, its gold and a submission."""

    folder: Path
    environment: Path

    @property
    def program(self) -> Path:
        return self.folder / "program"

    @property
    def gold(self) -> Path:
        return self.folder / "gold"

    @property
    def submission(self) -> Path:
        return self.folder / "submission"

    def run(self, code: str, limits: Limits = LIMITS, command: tuple[str, ...] = ()) -> Outcome:
        """Run Python code as the program."""
        (self.program / "score.py").write_text(textwrap.dedent(code), encoding="utf-8")
        words = command or ("python3", "$program/score.py", "$input", "$output")
        program, environment = Program(self.program, words), Environment(self.environment)
        return run(program, self.gold, self.submission, environment, limits)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files below program, gold or submission, by their names."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


@pytest.fixture
def place(bare: Path, tmp_path: Path) -> Place:
    """Return a program that is still to be written, gold, and a submission."""
    found = Place(tmp_path, bare)
    found.write(
        {"program/metadata.yaml": "command: …\n", "gold/gold.txt": "right\n", "submission/answer.txt": "right\n"}
    )
    return found
