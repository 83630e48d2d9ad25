"""The web process, single or several on one socket: uvicorn with our application.

Settings that lead to gold are removed from its environment.
"""

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
from app.base.db import dispose_engines, get_engine
from app.base.logs import log_libraries
from app.base.permissions import prepare_folders
from app.operations.database_revision import OtherRevision, check_revision
from app.server.connections import PatientProtocol, connections_limit, raise_open_files
from app.server.datadir import ServeError
from app.server.port import local_address
from app.server.programs import WAYS_TO_GOLD

if TYPE_CHECKING:
    from fastapi import FastAPI

#: Time for requests in flight (uploads, long polls) to finish.
GRACEFUL_SECONDS = 3
#: Garbage is collected after this many new containers: with the default, a board of thousands of rows would be
#: scanned again and again while it is built.
COLLECT_AFTER = 100_000
#: One of several processes that is silent for this long is killed and replaced.
SILENT_SECONDS = 60


def run_web(
    host: str = "127.0.0.1", port: int = 8321, listener: socket.socket | None = None, processes: int = 1
) -> None:
    """Serve on a host and port, or on an open socket; the first process with time takes a connection.

    Raises ServeError for several processes on SQLite, see `check_processes`, and for tables of another revision, unless
    the socket was open already: its opener has checked the tables.
    """
    for name in WAYS_TO_GOLD:
        os.environ.pop(name, None)
    check_processes(processes)
    _log_uvicorn()
    prepare_folders(get_settings())
    if listener is None:  # otherwise the opener of the socket has done both
        check_tables()
        note_address(get_settings().data_dir, local_address(host, port))
    if processes == 1:
        config = web_config(served_application(is_watched_over=listener is not None), host, port)
        uvicorn.Server(config).run(sockets=[listener] if listener else None)
    else:
        config = web_config("app.server.web:served_application", host, port, processes)
        Multiprocess(config, [listener or config.bind_socket()]).run()


def check_processes(processes: int) -> None:
    """Raise ServeError if this many processes cannot share the database, which would serialise their writes."""
    if processes > 1 and get_settings().database_address.startswith("sqlite"):
        raise ServeError(
            "Several web processes need PostgreSQL: with SQLite one writes at a time. See docs/running.md."
        )


def check_tables() -> None:
    """Raise ServeError for tables of another revision. An unreachable database is retried later."""
    try:
        with suppress(SQLAlchemyError), get_engine(get_settings().database_address).connect() as connection:
            check_revision(connection)
    except OtherRevision as other:
        raise ServeError(str(other)) from None
    finally:
        dispose_engines()  # no connection is shared with forked processes


def served_application(*, is_watched_over: bool = False) -> FastAPI:
    """Return the application for a dedicated process; one of several processes ends with its parent.

    is_watched_over: as for `create_app`; always true for one of several, which their parent supervises.
    """
    is_watched_over |= multiprocessing.parent_process() is not None
    gc.disable()  # objects created here stay: they must not be scanned for garbage, now or during requests
    from app.web.main import create_app  # the slow part, after the settings that lead to gold were removed

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
    """Terminate with the parent, however that ended: nobody else would end or restart this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def web_config(application: FastAPI | str, host: str, port: int, processes: int = 1) -> uvicorn.Config:
    """Return uvicorn's configuration; each of several processes creates its application by the name of a function."""
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
        proxy_headers=False,  # the application decides which proxies to trust, see `trusted_proxies`
        access_log=False,  # our own request log has more detail
        log_config=None,  # see `log_libraries`
    )


def main() -> None:
    """Run `evergold web`, also for the supervisor: with a socket descriptor and a gate to wait at after imports."""
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
