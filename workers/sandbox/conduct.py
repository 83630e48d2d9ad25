"""One run from outside: feeds the sandbox, reads its frames, checks its limits every tenth of a second, and ends it."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from subprocess import Popen
from typing import Protocol

from workers.sandbox.stream import CHUNK, BrokenStream, Feed, Frames, stream_of
from workers.sandbox.terms import Ended, Limits, Outcome, SandboxUnavailable
from workers.sandbox.watching import memory_words

LOOK_SECONDS = 0.1
#: Maximum number of bytes of a message from bubblewrap, docker or the supervisor itself.
_SAID = 16 * 1024
#: Signals of the kernel for processor time: SIGXCPU, and SIGKILL a second later.
_OUT_OF_PROCESSOR_TIME = -24
#: Time limit from the end of the program until its files are out: the supervisor only reads and sends.
COLLECTING_SECONDS = 30.0


class Box(Protocol):
    """A started sandbox whose supervisor waits for its stream."""

    process: Popen[bytes]
    counts_processes: bool

    def look(self, limits: Limits) -> tuple[Ended, str] | None:
        """Return the limit that is exceeded, with a message; None if none is."""

    def end(self) -> None:
        """Kill all processes of the sandbox; may be called more than once."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reason why a run was ended from outside."""

    ended: Ended
    words: str


def conduct(box: Box, feed: Feed, command: Sequence[str], limits: Limits) -> Outcome:
    """Run to the end and return the outcome; nothing of the sandbox is left then. Raises SandboxUnavailable if it never
    started.
    """
    frames, output, began = Frames(limits), bytearray(), time.monotonic()
    pieces = stream_of(feed, command, limits, counts_processes=box.counts_processes)
    try:
        verdict = _follow(box, pieces, frames, output)
    finally:
        box.end()
        _close(box.process)
    seconds = time.monotonic() - began
    if verdict is None and not frames.is_begun:
        words = frames.trouble or output.decode("utf-8", "replace").strip() or "it ended without output"
        raise SandboxUnavailable(f"the sandbox could not be started: {words}")
    return _outcome(frames, verdict, seconds)


def _follow(box: Box, pieces: Iterator[bytes], frames: Frames, output: bytearray) -> Verdict | None:
    """Send input and read output until everything is read, or a limit is exceeded, which is returned."""
    pipes = _Pipes(box.process, pieces)
    ends_at, look_at = time.monotonic() + frames.limits.seconds, time.monotonic() + LOOK_SECONDS
    is_collecting = False
    while pipes.is_open and not frames.is_whole:
        try:
            for piece in pipes.exchange(min(look_at, ends_at) - time.monotonic(), output):
                frames.add(piece)
        except BrokenStream as error:
            return Verdict(Ended.KILLED, f"it changed its supervisor: {error}")
        now = time.monotonic()
        if frames.status is not None and not is_collecting:
            is_collecting, ends_at = True, now + COLLECTING_SECONDS
        if now >= ends_at and not frames.is_whole:
            return Verdict(Ended.TOO_LATE, f"it took more than {frames.limits.seconds:g} s")
        if now >= look_at:
            look_at = now + LOOK_SECONDS
            if (found := box.look(frames.limits)) is not None:
                return Verdict(*found)
    if not frames.is_whole and (found := box.look(frames.limits)) is not None:
        return Verdict(*found)  # the kernel has ended it
    return None


class _Pipes:
    """The three pipes of a sandbox: its stream in, its frames out, and messages of bubblewrap, docker or Python."""

    def __init__(self, process: Popen[bytes], pieces: Iterator[bytes]) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the process has no pipes")
        self._in, self._out, self._err = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
        self._pieces, self._rest = pieces, b""
        self._poll = select.poll()
        for descriptor, event in ((self._in, select.POLLOUT), (self._out, select.POLLIN), (self._err, select.POLLIN)):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, event)
        self.is_open = True

    def exchange(self, seconds: float, output: bytearray) -> Iterator[bytes]:
        """Wait at most this many seconds, write what can be written, and yield the output read."""
        for descriptor, _ in self._poll.poll(max(0.0, 1000 * seconds)):
            if descriptor == self._in:
                self._feed()
                continue
            piece = os.read(descriptor, CHUNK)
            if not piece:
                self._poll.unregister(descriptor)
                self.is_open = self.is_open and descriptor != self._out
            elif descriptor == self._err:
                output += piece[: max(0, _SAID - len(output))]
            else:
                yield piece

    def _feed(self) -> None:
        """Write the next piece; stdin then stays open, because the sandbox ends when it is closed."""
        self._rest = self._rest or next(self._pieces, b"")
        try:
            self._rest = self._rest[os.write(self._in, self._rest) :] if self._rest else self._unregister()
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest = self._unregister()

    def _unregister(self) -> bytes:
        self._poll.unregister(self._in)
        return b""


def _close(process: Popen[bytes]) -> None:
    """Close the pipes and wait for the process, which has ended or will soon."""
    for file in (process.stdin, process.stdout, process.stderr):
        if file is not None:
            with suppress(OSError):
                file.close()
    process.wait()


def _outcome(frames: Frames, verdict: Verdict | None, seconds: float) -> Outcome:
    ended, words = _ended(frames) if verdict is None else (verdict.ended, verdict.words)
    is_finished = ended is Ended.FINISHED
    return Outcome(
        ended=ended,
        exit_code=frames.status if verdict is None else None,
        scores_name=frames.scores_name if is_finished else None,
        scores=frames.scores if is_finished else None,
        page=frames.page if is_finished else None,
        stdout=bytes(frames.stdout),
        stderr=bytes(frames.stderr),
        seconds=seconds,
        detail="; ".join([words, *frames.notes] if words else frames.notes),
    )


#: The message for a run that was ended by something other than a limit or itself.
OUTSIDE = "it was killed from outside"


def _ended(frames: Frames) -> tuple[Ended, str]:
    """Return how a run ended that was not ended from outside, with a message."""
    if not frames.is_whole or frames.status is None:
        return Ended.KILLED, OUTSIDE
    if frames.is_out_of_memory:
        return Ended.TOO_MUCH_MEMORY, memory_words(frames.limits)
    if frames.status == 0:
        return (Ended.TOO_MUCH_WRITTEN, frames.too_large) if frames.too_large else (Ended.FINISHED, "")
    if frames.status == _OUT_OF_PROCESSOR_TIME:
        return Ended.TOO_LATE, f"it took more than {frames.limits.processor_seconds:g} s of processor time"
    if frames.is_full:
        return Ended.TOO_MUCH_WRITTEN, "it wrote more than its limit"
    if frames.status < 0:
        return Ended.FAILED, f"it was ended by the signal {_signal_name(-frames.status)}"
    return Ended.FAILED, f"it ended with exit code {frames.status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
