"""The version of Evergold: of the package for teams and of the server, which are released together."""

from __future__ import annotations

VERSION = "0.1.0"
