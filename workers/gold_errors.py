"""Errors on the way to gold, separate for modules that report errors but must not be able to open gold."""

from __future__ import annotations


class GoldNotFound(Exception):
    """The gold of a run is not in this worker's folder."""


class SealBroken(Exception):
    """The file is not what was sealed: truncated, modified, replaced, or of another kind."""


class GoldRefused(SealBroken):
    """Gold is not opened for an organisers' program: it was sealed for another one, or it is not sealed."""
