"""The web process alone, or several on one socket: uvicorn with our application. Gold is not for them: the settings
that lead there are dropped."""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from uvicorn.supervisors import Multiprocess

from app.base.addresses import note_address
from app.base.config import get_settings
from app.base.db import forget_engines, get_engine
from app.base.logs import log_libraries
from app.base.permissions import prepare_folders
from app.operations.database_revision import OtherRevision, check_revision
from app.server.connections import PatientProtocol, connections_limit, raise_open_files
from app.server.datadir import ServeError
from app.server.port import local_address
from app.server.programs import WAYS_TO_GOLD

if TYPE_CHECKING:
    from fastapi import FastAPI

#: Requests in flight (uploads, long polls) may end within.
GRACEFUL_SECONDS = 3
#: So many things made that may hold others, and not gone again, after which garbage is looked for: a board of thousands
#: of rows, which is none, would be looked through again and again while it is made.
COLLECT_AFTER = 100_000
#: One of several processes that says nothing for so long is ended, and another takes its place.
SILENT_SECONDS = 60


def run_web(
    host: str = "127.0.0.1", port: int = 8321, listener: socket.socket | None = None, processes: int = 1
) -> None:
    """Serve on a host and port, or on a socket that is already open; the first that has time takes a connection.

    Raises ServeError for several processes on SQLite, see `check_processes`, and for tables of another revision, unless
    the socket was open before: whoever opened it looked at them.
    """
    for name in WAYS_TO_GOLD:
        os.environ.pop(name, None)
    check_processes(processes)
    _log_uvicorn()
    prepare_folders(get_settings())
    if listener is None:  # else whoever opened it has done both
        check_tables()
        note_address(get_settings().data_dir, local_address(host, port))
    if processes == 1:
        config = web_config(served_application(is_watched_over=listener is not None), host, port)
        uvicorn.Server(config).run(sockets=[listener] if listener else None)
    else:
        config = web_config("app.server.web:served_application", host, port, processes)
        Multiprocess(config, [listener or config.bind_socket()]).run()


def check_processes(processes: int) -> None:
    """Raise ServeError where so many cannot share the database: they would wait for each other's turn to write."""
    if processes > 1 and get_settings().database_address.startswith("sqlite"):
        raise ServeError(
            "Several web processes need PostgreSQL: with SQLite one writes at a time. See docs/running.md."
        )


def check_tables() -> None:
    """Raise ServeError for tables of another revision. A database that is away is waited for later."""
    try:
        with suppress(SQLAlchemyError), get_engine(get_settings().database_address).connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        raise ServeError(str(other)) from None
    finally:
        forget_engines()  # no connection is shared with processes that are forked from this one


def served_application(*, is_watched_over: bool = False) -> FastAPI:
    """The application in a process that does nothing else; where that is one of several, it ends with their parent.

    is_watched_over: as for `create_app`; one of several is, by their parent.
    """
    is_watched_over |= multiprocessing.parent_process() is not None
    gc.disable()  # what is made now stays: it is not looked through for garbage, neither now nor while requests wait
    from app.web.main import create_app  # noqa: PLC0415 - the slow part, after what leads to gold was dropped

    application = create_app(is_watched_over=is_watched_over)
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(COLLECT_AFTER)
    if multiprocessing.parent_process() is not None:
        _log_uvicorn()
        threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
    return application


def _log_uvicorn() -> None:
    log_libraries(info=("uvicorn.error",))


def _end_with_parent() -> None:
    """By whatever it was ended: nobody else would end this process, or start it again."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def web_config(application: FastAPI | str, host: str, port: int, processes: int = 1) -> uvicorn.Config:
    """How uvicorn serves the application; of several processes each makes its own, by the name of a function."""
    return uvicorn.Config(
        application,
        factory=isinstance(application, str),
        workers=processes,
        timeout_worker_healthcheck=SILENT_SECONDS,
        host=host,
        port=port,
        http=PatientProtocol,
        limit_concurrency=connections_limit(raise_open_files()),
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        server_header=False,
        proxy_headers=False,  # the application itself knows whose to believe, see `trusted_proxies`
        access_log=False,  # our own line for each request says more
        log_config=None,  # see `log_libraries`
    )


def main() -> None:
    """What `evergold web` becomes; or as the supervisor starts it: a socket by its descriptor, and a gate to wait at
    when everything is imported."""
    parser = argparse.ArgumentParser(prog="app.server.web")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8321)
    parser.add_argument("--socket", type=int, help="descriptor of a listening socket, instead of a host and a port")
    parser.add_argument("--gate", type=int, help="descriptor to read one byte from before serving")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.gate is not None:
        if arguments.processes == 1:
            gc.disable()
            import app.web.main  # noqa: F401, PLC0415 - the slow part, done before the gate

        if not os.read(arguments.gate, 1):  # closed without a byte: the supervisor is gone
            return
        os.close(arguments.gate)
    listener = None if arguments.socket is None else socket.socket(fileno=arguments.socket)
    try:
        run_web(arguments.host, arguments.port, listener, arguments.processes)
    except ServeError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
