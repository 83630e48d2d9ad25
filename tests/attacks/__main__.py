"""Run every attack, one after the other, each against a server of its own: `make attacks`, `ONLY=heavy_file`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: Modules that a person can start.
ATTACKS = tuple(
    path.stem
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if not path.stem.startswith("_") and '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


def main(chosen: Sequence[str]) -> int:
    """Return 1 if an attack got further than it may."""
    failed = [name for name in chosen or ATTACKS if not _held(name)]
    sys.stdout.write(
        f"{len(failed)} attacks got through: {', '.join(failed)}\n" if failed else "Every attack was held.\n"
    )
    return 1 if failed else 0


def _held(name: str) -> bool:
    sys.stdout.write(f"--- {name}\n")
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", f"tests.attacks.{name}"], check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
