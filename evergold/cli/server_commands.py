"""The commands that only `evergold-server` has: without it they end with an explanation, not as unknown commands."""

from __future__ import annotations

from collections.abc import Sequence

#: As typed; a group covers all commands in it. A test compares them with what the server registers.
SERVER_COMMANDS = frozenset(
    {
        "account",
        "allowance",
        "life",
        "apply",
        "audit",
        "backup",
        "check",
        "check-host",
        "climbers",
        "export yaml",
        "gold",
        "history",
        "import",
        "init",
        "migrate",
        "models",
        "plan",
        "registrations",
        "restore",
        "role",
        "row",
        "runs",
        "selfcheck",
        "serve",
        "set",
        "standings",
        "storage",
        "sweep",
        "undo",
        "web",
        "worker",
        "workers",
    }
)
INSTALL_SERVER = "pip install 'evergold-server[web,worker,embedded]'"


def server_command(arguments: Sequence[str]) -> str | None:
    """Return the server's command that a command line begins with, if it does."""
    names = (" ".join(arguments[:length]) for length in (2, 1))
    return next((name for name in names if name in SERVER_COMMANDS), None)
