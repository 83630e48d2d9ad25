"""The seccomp profile of the worker's container for organisers' programs: `program-worker.seccomp.json`.

Docker's default profile refuses user namespaces, which bubblewrap needs. This one allows what bubblewrap does and
refuses what no worker needs; the worker has no capabilities, and programs have the stricter filter of `filter`. `python
-m workers.sandbox.profile` prints it.
"""

from __future__ import annotations

import json
import sys

from workers.sandbox.filter import REFUSED

#: Calls of bubblewrap itself, and those that workers may use; `filter` refuses them to programs.
NEEDED = frozenset(
    {"unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "memfd_create", "mbind", "set_mempolicy"}
    | {"shmget", "shmat", "shmctl", "shmdt", "msgget", "mq_open", "migrate_pages", "move_pages"}
)


def profile() -> dict[str, object]:
    """Return the profile in Docker's form."""
    refused = {"names": sorted(set(REFUSED) - NEEDED), "action": "SCMP_ACT_ERRNO", "errnoRet": 1}
    architectures = [
        {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
        {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
    ]
    return {"defaultAction": "SCMP_ACT_ALLOW", "archMap": architectures, "syscalls": [refused]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(profile(), indent=1) + "\n")
