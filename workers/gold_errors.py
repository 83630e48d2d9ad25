"""Errors of opening gold, in a separate module for code that reports errors but must not be able to open gold."""

from __future__ import annotations


class GoldNotFound(Exception):
    """The gold of a run is not in this worker's folder."""


class SealBroken(Exception):
    """The file differs from what was sealed: truncated, modified, replaced, or of another kind."""


class GoldRefused(SealBroken):
    """Gold cannot be opened for an organisers' program, because it was sealed for another one or is not sealed."""
