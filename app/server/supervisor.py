"""`evergold serve`: the whole server under one supervisor, which uses only the standard library.

It locks the data directory, opens the port, starts the broker, has `app.server.prepare` update the database, then runs
web, worker and sweep until a signal arrives. `app.server.children` handles child processes and their unexpected ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from app.base.addresses import note_address
from app.base.exit_status import OTHER_REVISION
from app.server import programs
from app.server.children import (
    LONGEST_DELAY_SECONDS,
    Child,
    Guard,
    Program,
    StopRequest,
    dismiss_guard,
    is_running,
    keep_guard,
    last_lines,
    reap,
    shorten_log,
    start,
    start_guard,
    stop,
)
from app.server.datadir import ServeError, lock_data_dir, note_holder
from app.server.programs import ServeOptions
from app.server.web import address_of, answers, is_private, listening

Say = Callable[[str], None]

READY_SECONDS = 180.0
#: Maximum time for which the address is withheld while the demo's history is generated.
HISTORY_SECONDS = 60.0
CHANGES_SHOWN = 5
_TICK_SECONDS = 0.1
_LOG_CHECK_SECONDS = 60.0


@dataclass
class Server:
    """The running server: its socket, its guard and its children. children: in start order."""

    options: ServeOptions
    listener: socket.socket
    guard: Guard
    wish: StopRequest
    say: Say
    environment: dict[str, str]
    children: dict[str, Child] = field(default_factory=dict)


class Stopped(Exception):
    """A signal arrived before the server was up."""


def serve(options: ServeOptions, say: Say) -> None:
    """Run until SIGINT, SIGTERM or SIGHUP. Raises ServeError, with a sentence, if the server cannot start."""
    wish = StopRequest()
    with lock_data_dir(options.data_dir) as lock, _signals(wish), listening(options.host, options.port) as listener:
        address = address_of(options.host, listener)
        note_holder(lock, address)
        note_address(options.data_dir, address)
        environment = programs.child_environment(options)
        server = Server(options, listener, start_guard(lock.fileno()), wish, _unfailing(say), environment)
        try:
            with suppress(Stopped):
                bring_up(server)
                look_after(server)
            server.say("\nStopping after the scoring in progress (Ctrl-C again: at once) ...")
        finally:
            take_down(server)
        server.say("Stopped.")


# ------------------------------------------------------------------------------------------------------------ start


def bring_up(server: Server) -> None:
    """Start everything, each part as early as possible; return when the server responds at its address."""
    options, environment, listener = server.options, server.environment, server.listener.fileno()
    broker_name = _start_broker(server)
    gate, opener = os.pipe()
    try:
        web = _add(server, programs.web(options, environment, listener, gate))  # imports while the database is prepared
        prepared = _prepare(server)
        os.write(opener, b"1")
    finally:
        os.close(opener)
        os.close(gate)
    web.program = programs.web(options, environment, listener)  # for restarts
    _add(server, programs.worker(options, environment))
    if prepared["encodes"] and programs.has_torch() and not options.lean:
        _add(server, programs.gpu_worker(options, environment))
    _add(server, programs.sweep(options, environment))
    if prepared["tells_history"]:
        server.say("Writing the demo's history and comparing its systems: the address follows within a minute ...")
        _add(server, programs.history(options, environment))
    _wait_until_ready(server, web)
    _wait_for_history(server)
    _say_summary(server, prepared, broker_name)


def _start_broker(server: Server) -> str:
    """Start the embedded broker unless another one is configured; return its name for messages."""
    if server.environment.get("EVERGOLD_BROKER_URL"):
        return "the one of EVERGOLD_BROKER_URL"
    files = f"files in {server.options.data_dir / 'broker'}"
    binary, path = programs.find_valkey(), programs.socket_path(server.options.data_dir)
    if binary is None or path is None:
        return files
    child = _add(server, programs.valkey(server.options, binary, path))
    if not _wait(server, lambda: programs.answers(path) or not is_running(child), programs.START_SECONDS):
        server.say(f"Valkey did not start (see {child.program.log}); the broker works over files instead.")
    elif is_running(child):
        server.environment["EVERGOLD_BROKER_URL"] = programs.broker_address(path)
        return "Valkey, embedded"
    stop([child], server.guard, server.wish)
    del server.children["broker"]
    return files


def _prepare(server: Server) -> dict[str, Any]:
    """Run the migration of the database and the application of phases.yaml; return the report of changes, or raise
    ServeError.
    """
    report = server.options.data_dir / "prepared.json"
    report.unlink(missing_ok=True)
    child = _add(server, programs.prepare(server.options, server.environment, report))
    _wait(server, lambda: not is_running(child), seconds=None)
    status = reap(child, server.guard)
    del server.children["prepare"]
    prepared: dict[str, Any] = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    report.unlink(missing_ok=True)
    if status or not prepared:
        raise ServeError(prepared.get("error") or _death(child, status, "Preparing the database failed"))
    return prepared


def _add(server: Server, program: Program) -> Child:
    shorten_log(program.log)
    child = server.children[program.name] = Child(program)
    start(child, server.guard)
    return child


def _wait_until_ready(server: Server, web: Child) -> None:
    if not _wait(server, lambda: answers(server.listener) or not is_running(web), READY_SECONDS):
        raise ServeError(f"The web process did not answer within {READY_SECONDS:.0f} s; see {web.program.log}.")
    if not is_running(web):
        raise ServeError(_death(web, reap(web, server.guard), "The web process could not start"))


def _wait_for_history(server: Server) -> None:
    """Wait until the demo's boards are complete before the address is printed, unless that takes too long."""
    child = server.children.get("history")
    if child is not None and _wait(server, lambda: not is_running(child), HISTORY_SECONDS):
        _look_at(server, child)


def _wait(server: Server, done: Callable[[], bool], seconds: float | None) -> bool:
    """Return True as soon as `done` returns True, False after `seconds`. Raises Stopped after a signal."""
    began = time.monotonic()
    while not done():
        if server.wish.stop:
            raise Stopped
        if seconds is not None and time.monotonic() - began > seconds:
            return False
        time.sleep(0.01)
    return True


# ------------------------------------------------------------------------------------------------------------- life


def look_after(server: Server) -> None:
    """Report and restart dead children, and shorten long logs, until a signal arrives."""
    logs_checked = time.monotonic()
    while not server.wish.stop:
        keep_guard(server.guard)
        for child in list(server.children.values()):
            _look_at(server, child)
        if time.monotonic() - logs_checked > _LOG_CHECK_SECONDS:
            logs_checked = time.monotonic()
            for child in server.children.values():
                shorten_log(child.program.log)
        time.sleep(_TICK_SECONDS)


def _look_at(server: Server, child: Child) -> None:
    if child.process is None:
        if time.monotonic() >= child.start_again_at:
            start(child, server.guard)
    elif not is_running(child):
        status = reap(child, server.guard)
        if child.program.ends_by_itself:
            del server.children[child.program.name]
            if status:
                server.say(f"{_death(child, status, f'{child.program.name} died')}\nThe next start completes it.")
            return
        is_refused, was_refused = status == OTHER_REVISION, child.is_refused
        child.is_refused = is_refused
        if is_refused:
            _wait_for_tables(server, child, is_new=not was_refused)
            return
        again = max(0.0, child.start_again_at - time.monotonic())
        server.say(f"{_death(child, status, f'{child.program.name} died')}\nIt will be restarted in {again:.1f} s.")


def _wait_for_tables(server: Server, child: Child, *, is_new: bool) -> None:
    """Delay the restart of a child: the database was migrated, so a newer version must be started. Report it once."""
    child.start_again_at = time.monotonic() + LONGEST_DELAY_SECONDS
    if is_new:
        reason = " ".join(last_lines(child)[-1:]).removeprefix("Error: ")
        server.say(f"{child.program.name} does not start: {reason}\nIt will be tried again from time to time.")


def _death(child: Child, status: int, what: str) -> str:
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    lines = last_lines(child)
    where = f"its log, {child.program.log}, ends:" if lines else "its log is empty."
    return "\n    ".join([f"{what} ({how}); {where}", *lines])


# -------------------------------------------------------------------------------------------------------------- end


def take_down(server: Server) -> None:
    """Stop the web process first, so that nothing new arrives; then the others, the broker, and the guard last."""
    server.listener.close()
    for names in (("web", "prepare", "history", "worker", "gpu-worker", "sweep"), ("broker",)):
        stop([server.children[name] for name in names if name in server.children], server.guard, server.wish)
    dismiss_guard(server.guard)


@contextmanager
def _signals(wish: StopRequest) -> Iterator[None]:
    """Handle signals: the first one stops, the second one hurries. A SIGHUP ignored because of nohup stays ignored."""

    def note(number: int, frame: FrameType | None) -> None:
        wish.stop, wish.hurry = True, wish.stop

    before = {
        number: signal.signal(number, note)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---------------------------------------------------------------------------------------------------------- summary


def _say_summary(server: Server, prepared: dict[str, Any], broker_name: str) -> None:
    options, say = server.options, server.say
    say(f"\nEvergold runs at {address_of(options.host, server.listener)}  (Ctrl-C stops it)\n")
    for login in prepared["logins"]:
        say(f"  {login['title']:<12} {login['username']:<12} password {login['password']}")
    if prepared["logins"]:
        say(f"  {'Reader':<12} {address_of(options.host, server.listener)}/competitions/demo  (no log-in needed)")
    if "history" in server.children:
        say("  The demo's boards will be complete in about half a minute.")
    if prepared["logins"] and not is_private(server.listener):
        say("  Everybody who can reach this address can log in with these passwords.")
    for edits in prepared["edits"]:
        say(f"  {options.phases_file.name} was not applied unchanged, {edits}.")
        say("  `evergold export yaml` writes the current declaration, edits included.\n")
    facts = {
        "Set up" if prepared["is_new"] else "Changed": _changed(prepared, options),
        "Data": str(options.data_dir),
        "Database": prepared["database"],
        "Gold": str(options.gold_dir),
        "Broker": broker_name,
        "BERTScore": _said_of_bertscore(prepared, options),
        "Logs": str(options.log_dir),
    }
    for name, fact in facts.items():
        if fact:
            say(f"  {name:<12} {fact}")
    say("")


def _changed(prepared: dict[str, Any], options: ServeOptions) -> str:
    changes: list[str] = prepared["changes"]
    if prepared["is_new"]:
        return f"a new server, as {options.phases_file.name} says; {options.log_dir / 'prepare.log'} lists everything"
    if len(changes) <= CHANGES_SHOWN:
        return f"\n  {'':<12} ".join(changes)
    return (
        f"{len(changes)} things to be as {options.phases_file.name} says; {options.log_dir / 'prepare.log'} lists them"
    )


def _said_of_bertscore(prepared: dict[str, Any], options: ServeOptions) -> str:
    if not prepared["encodes"]:
        return ""
    if options.lean:
        return "left out: submissions wait for a worker with torch"
    if programs.has_torch():
        return "by a worker of its own, once its self-check has passed"
    return "not on this machine, torch is not installed: submissions wait for a worker that has it"


def _unfailing(say: Say) -> Say:
    """Return a version of the function that ignores write errors: a closed terminal must not prevent a clean stop."""

    def quietly(line: str) -> None:
        with suppress(OSError):
            say(line)

    return quietly
