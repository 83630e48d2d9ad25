"""A web process with a fixed clock, for data of another day: `python -m bench._web_at PORT 2026-01-10T12:00Z`."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import datetime

import uvicorn

from app.server.web import served_application, web_config


def main() -> None:
    port, now = int(sys.argv[1]), datetime.fromisoformat(sys.argv[2])
    application = served_application()
    application.state.server = replace(application.state.server, clock=lambda: now)
    uvicorn.Server(web_config(application, "127.0.0.1", port)).run()


if __name__ == "__main__":
    main()
