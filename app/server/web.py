"""The web process alone: uvicorn with our application. Gold is not for it: the settings that lead there are dropped."""

from __future__ import annotations

import argparse
import gc
import os
import socket

import uvicorn
from fastapi import FastAPI

from app.base.config import get_settings
from app.base.permissions import prepare_folders
from app.server.connections import PatientProtocol, connections_limit, raise_open_files
from app.server.programs import WAYS_TO_GOLD

#: Requests in flight (uploads, long polls) may end within.
GRACEFUL_SECONDS = 3


def run_web(host: str = "127.0.0.1", port: int = 8321, listener: socket.socket | None = None) -> None:
    """Serve on a host and port, or on a socket that is already open."""
    for name in WAYS_TO_GOLD:
        os.environ.pop(name, None)
    prepare_folders(get_settings())
    gc.disable()  # what is made now stays: it is not looked through for garbage, neither now nor while requests wait
    from app.web.main import create_app  # noqa: PLC0415 - the slow part, after what leads to gold was dropped

    application = create_app()
    gc.collect()
    gc.freeze()
    gc.enable()
    uvicorn.Server(web_config(application, host, port)).run(sockets=[listener] if listener else None)


def web_config(application: FastAPI, host: str, port: int) -> uvicorn.Config:
    """How uvicorn serves the application."""
    return uvicorn.Config(
        application,
        host=host,
        port=port,
        http=PatientProtocol,
        limit_concurrency=connections_limit(raise_open_files()),
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        server_header=False,
        proxy_headers=False,  # the application itself knows whose to believe, see `trusted_proxies`
        access_log=False,  # our own line for each request says more
    )


def main() -> None:
    """As the supervisor starts it: a socket by its descriptor, and a gate to wait at when everything is imported."""
    parser = argparse.ArgumentParser(prog="app.server.web")
    parser.add_argument("--socket", type=int, required=True, help="descriptor of the listening socket")
    parser.add_argument("--gate", type=int, help="descriptor to read one byte from before serving")
    arguments = parser.parse_args()
    if arguments.gate is not None:
        gc.disable()
        import app.web.main  # noqa: F401, PLC0415 - the slow part, done before the gate

        if not os.read(arguments.gate, 1):  # closed without a byte: the supervisor is gone
            return
        os.close(arguments.gate)
    run_web(listener=socket.socket(fileno=arguments.socket))


if __name__ == "__main__":
    main()
