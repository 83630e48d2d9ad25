"""Organisers' own scoring programs, run where they can read nothing but their input and do no harm.

`run` is the interface; `find_backend` checks this machine. The declarations of tasks and the meaning of scores are not
handled here.
"""

from __future__ import annotations

from workers.sandbox.backends import Backend, find_backend, run
from workers.sandbox.terms import Ended, Environment, Limits, Outcome, Program, SandboxUnavailable

__all__ = [
    "Backend",
    "Ended",
    "Environment",
    "Limits",
    "Outcome",
    "Program",
    "SandboxUnavailable",
    "find_backend",
    "run",
]
