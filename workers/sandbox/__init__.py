"""Organisers' own scoring programs, run where they can harm and read nothing but their own.

`run` is the interface; `find_backend` is the check of this machine. What a task declares, and what its
scores mean, is not decided here.
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
