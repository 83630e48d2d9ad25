"""Asks pip-audit whether anything pinned has a known vulnerability, and detect-secrets whether a secret was committed.

`make audit`; after looking, `make audit ACCEPT=1`: what is found now goes into requirements/secrets.json as accepted.
Files are scanned that changed since that list did; all of them with ACCEPT=1, with ALL=1 (`make soak`) or where git
cannot tell.
An index that knows nothing of vulnerabilities, or no network, is told in a line and fails nothing: that is no finding.
"""
# ruff: noqa: T201, S603 - it prints and runs the two programs: that is all it does

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PINNED = ("run.txt", "embedded.txt", "bertscore.txt")
ACCEPTED = ROOT / "requirements" / "secrets.json"
#: Written by programs, full of hashes: package digests, pictures, vendored libraries.
NOT_OURS = r"\.(svg|png|lock|npz|min\.js)$|app/static/vendor/|requirements/secrets\.json|bench/results\.json"


def main() -> None:
    """Both audits; exit 1 if either found something."""
    found = vulnerabilities() + secrets(accept="--accept" in sys.argv, is_whole="--all" in sys.argv)
    sys.exit(1 if found else 0)


def vulnerabilities() -> int:
    """How many known vulnerabilities the pinned packages have; printed."""
    command = [str(BIN / "pip-audit"), "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    for name in PINNED:
        command += ["--requirement", str(ROOT / "requirements" / name)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    try:
        packages = json.loads(ended.stdout)["dependencies"]
    except ValueError:
        print(f"pip-audit could not ask: {(ended.stderr.strip().splitlines() or ['no answer'])[-1][:200]}")
        return 0
    known = [(package, one) for package in packages for one in package.get("vulns", [])]
    for package, one in known:
        fixed = ", ".join(one["fix_versions"]) or "no version yet"
        print(f"{package['name']} {package['version']}: {one['id']}, fixed in {fixed}")
    skipped = sum("skip_reason" in package for package in packages)
    asked = f"{len(packages) - skipped} of {len(packages)} pinned packages looked up"
    print(f"pip-audit: {len(known)} known vulnerabilities; {asked}.")
    return len(known)


def secrets(*, accept: bool, is_whole: bool) -> int:
    """How many strings in tracked files look like secrets and were not accepted before; printed."""
    files = [name for name in (everything() if accept or is_whole else changed()) if (ROOT / name).is_file()]
    scan = [str(BIN / "detect-secrets"), "scan", "--no-verify", "--exclude-files", NOT_OURS, *files]
    document = json.loads(subprocess.run(scan, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    here = {(name, one["hashed_secret"]): one for name, list_ in document["results"].items() for one in list_}
    if accept:
        kept = sorted({f"{name} {digest}" for name, digest in here})
        ACCEPTED.write_text(json.dumps(kept, indent=1) + "\n")
    known = {tuple(line.split(" ")) for line in json.loads(ACCEPTED.read_text())}
    new = [(name, one) for (name, digest), one in here.items() if (name, digest) not in known]
    for name, one in new:
        print(f"{name}:{one['line_number']}: looks like a secret ({one['type']})")
    print(f"detect-secrets: {len(new)} new findings in {len(files)} tracked files.")
    return len(new)


def everything() -> list[str]:
    """All tracked files."""
    return git("ls-files", "-z").split("\0")[:-1]


def changed() -> list[str]:
    """Those that changed since the accepted list was written: whoever wrote it had scanned the others."""
    listed = git("log", "-1", "--format=%H", "--", str(ACCEPTED.relative_to(ROOT))).strip()
    if not listed or git("rev-parse", "--is-shallow-repository").strip() == "true":
        return everything()
    return git("diff", "--name-only", "-z", listed).split("\0")[:-1]


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S607


if __name__ == "__main__":
    main()
