"""A Docker daemon and an image for tests: the daemon that responds here, else one that root starts for the tests.

The image is made from this machine's own Python below /usr: nothing is pulled.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import START_SECONDS, start, stop, wait_until

ABSENT = "no Docker here: install the package docker.io (the tests start a daemon of their own as root)"


@contextmanager
def daemon() -> Iterator[str | None]:
    """Yield the address of a daemon (DOCKER_HOST); None if there is none and none can be started."""
    named = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if shutil.which("docker") is None:
        yield None
    elif _answers(named):
        yield named
    elif shutil.which("dockerd") is None or os.geteuid() != 0:
        yield None
    else:
        with _started() as address:
            yield address


@contextmanager
def _started() -> Iterator[str]:
    """Yield the address of a daemon without a bridge, which runs during the block."""
    with tempfile.TemporaryDirectory(prefix="evergold-docker-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        address = f"unix://{folder}/docker.sock"
        places = [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
        command = ["dockerd", "--bridge=none", "--iptables=false", *places, "--host", address]
        service = start("dockerd", command, folder, dict(os.environ))
        try:
            wait_until(lambda: _answers(address), "Docker answers", service, START_SECONDS)
            yield address
        finally:
            stop(service)


@contextmanager
def image(*command: str) -> Iterator[str]:
    """Make an image of this machine's /usr/bin/python3 and its libraries for the time of the block, and yield its
    digest.

    command: `docker`, with its options, or `podman`.
    """
    python = Path("/usr/bin/python3").resolve()
    libraries = {Path("/bin/sh").resolve(), Path("/usr/bin/env"), python}
    for binary in [*libraries, *Path(f"/usr/lib/{python.name}/lib-dynload").glob("*.so")]:
        said = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False).stdout
        libraries |= {Path(word) for word in said.split() if word.startswith("/")}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path in sorted(libraries):
            tar.add(path.resolve(), arcname=str(path).lstrip("/"), recursive=False)
        tar.add(f"/usr/lib/{python.name}", filter=_without_caches)
        for link, target in (("usr/bin/python3", python.name), ("bin/sh", Path("/bin/sh").resolve().name)):
            entry = tarfile.TarInfo(link)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    importing = [*command, "import", "-"]
    done = subprocess.run(importing, input=content.getvalue(), capture_output=True, check=True)
    digest = done.stdout.decode().split()[-1].removeprefix("sha256:")
    try:
        yield f"sha256:{digest}"
    finally:
        subprocess.run([*command, "rmi", "--force", digest], capture_output=True, check=False)


def _without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    left_out = ("__pycache__", "test", "dist-packages", sysconfig.get_config_var("LIBPL") or "config")
    return None if Path(entry.name).name in left_out else entry


def _answers(address: str) -> bool:
    command = ["docker", "--host", address, "version", "--format", "{{.Server.Version}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
