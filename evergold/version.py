"""The version of Evergold: of what teams install and of the server, which are released together."""

from __future__ import annotations

VERSION = "0.1.0"
