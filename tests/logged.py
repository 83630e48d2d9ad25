"""Logged lines of a block, instead of being written: event, own fields, and the level as `log_level`."""

from structlog.testing import capture_logs as capture_logs
