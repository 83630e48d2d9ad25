"""Runs a program and sends out its results: the first process of a sandbox, started as `python3 -c` with this text.

It reads one stream from stdin: settings, the words of the command, and the files of program and submission. It writes
frames to stdout: a letter, a length, and bytes (`workers.sandbox.stream`). As process 1 it cannot be signalled from
inside, and when it ends, for whatever reason, the kernel ends all others. It ends as soon as no process holds its stdin
open.

Needs only Python 3.6 and its standard library, because organisers' images may have no newer one. Annotations are quoted
for that reason.
"""

import errno
import os
import resource
import select
import signal
import stat
import struct
import sys

#: Settings come in this order, as decimal numbers.
SETTINGS = ("output", "scores", "page", "processor_seconds", "processes", "files", "data")
CHUNK = 1 << 16
#: Names in the order in which they are looked for.
SCORES = ("scores.json", "scores.txt")
PAGE = "detailed_results.html"
#: Numbering and binding of OpenMP's threads follow the processors that a process may use: more than these, and a
#: library that starts a thread for each has no process left to start.
PROCESSORS = 16


class Stream:
    """The stream on stdin, read in complete parts."""

    def __init__(self) -> None:
        self.file = os.fdopen(0, "rb", CHUNK, closefd=False)

    def number(self) -> int:
        """Read and return a length."""
        found = struct.unpack(">Q", self.exactly(8))[0]
        return int(found)

    def text(self) -> bytes:
        """Read and return a part that is preceded by its length."""
        return self.exactly(self.number())

    def exactly(self, size: int) -> bytes:
        """Read and return exactly this many bytes. Raises EOFError."""
        found = self.file.read(size)
        if len(found) != size:
            raise EOFError
        return found

    def copy(self, descriptor: int, size: int) -> None:
        """Write the next bytes of the stream to a file."""
        while size:
            piece = self.exactly(min(size, CHUNK))
            size -= len(piece)
            write(descriptor, piece)


def main() -> None:
    """Set up, run the program, and send its results; all other processes end with this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        stream = Stream()
        settings = dict(zip(SETTINGS, (int(stream.text()) for _ in SETTINGS)))  # noqa: B905 - not in Python 3.6
        folder = os.fsdecode(stream.text())
        words = [os.fsdecode(stream.text()) for _ in range(stream.number())]
        unpack(stream, folder)
    except EOFError:
        return
    except OSError as error:
        send(b"t", ("the files of the run cannot be written: " + str(error)).encode())
        return
    stay_on_few_processors()
    bound(settings)
    child, pipes = start(words, folder, settings)
    send(b"b")
    try:
        status = follow(child, pipes, settings["output"])
    except EOFError:
        return
    end_all_others()
    drain(pipes, settings["output"])
    places = (folder, os.path.join(folder, "input"), "/tmp")  # noqa: S108 - in a container three, else one
    send(b"x", f"{status} {int(any(map(is_full, places)))} {int(was_out_of_memory())}".encode())
    collect(os.path.join(folder, "output"), settings)
    send(b"d")


def unpack(stream: Stream, folder: str) -> None:
    """Write folders (D) and files (F, X: executable), named relative to the folder, until E."""
    while True:
        kind = stream.exactly(1)
        if kind == b"E":
            return
        path = os.path.join(folder, os.fsdecode(stream.text()))
        if kind == b"D":
            os.makedirs(path, exist_ok=True)
            continue
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755 if kind == b"X" else 0o644)
        stream.copy(file, stream.number())
        os.close(file)


def stay_on_few_processors() -> None:
    """Use at most PROCESSORS processors, starting with a random one, so that programs are spread over all of them."""
    if hasattr(os, "sched_setaffinity"):
        here = sorted(os.sched_getaffinity(0))
        if len(here) > PROCESSORS:
            first = int.from_bytes(os.urandom(4), "big") % len(here)
            os.sched_setaffinity(0, (here + here)[first : first + PROCESSORS])


def start(words: "list[str]", folder: str, settings: "dict[str, int]") -> "tuple[int, dict[int, bytes]]":
    """Start the program; return its process, and its pipes with the letters of their frames."""
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((nothing, 0), (out_end, 1), (err_end, 2)):
                os.dup2(source, target)
            for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, or we
                signal.signal(number, signal.SIG_DFL)
            os.chdir(os.path.join(folder, "program"))
            os.environ.pop("PWD", None)
            os.execvp(words[0], words)  # noqa: S606 - no shell, on purpose
        except BaseException as error:
            reason = "there is no " + words[0] if isinstance(error, FileNotFoundError) else str(error)
            write(2, ("the command cannot be started: " + reason + "\n").encode())
        os._exit(127)
    os.close(out_end)
    os.close(err_end)
    return child, {out: b"o", err: b"e"}


def bound(settings: "dict[str, int]") -> None:
    """Set the kernel's limits for each process, including this one; the totals are limited from outside."""
    seconds, processes = settings["processor_seconds"], settings["processes"]
    for which, soft, hard in (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_DATA, settings["data"], settings["data"]),
        (resource.RLIMIT_NOFILE, settings["files"], settings["files"]),
        (resource.RLIMIT_NPROC, processes + 1, processes + 1),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    ):
        if which == resource.RLIMIT_NPROC and not processes:
            continue  # where the kernel would count those of other sandboxes, too
        largest = resource.getrlimit(which)[1]
        if largest != resource.RLIM_INFINITY:
            soft, hard = min(soft, largest), min(hard, largest)
        resource.setrlimit(which, (soft, hard))


def follow(child: int, pipes: "dict[int, bytes]", kept: int) -> int:
    """Forward the program's output, at most `kept` bytes of each pipe, until it ends; return how it ended.

    Raises EOFError when no process holds stdin open any more.
    """
    passed = {descriptor: 0 for descriptor in pipes}
    poll = select.poll()
    poll.register(0, 0)
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    poll.register(woken, select.POLLIN)
    for descriptor in pipes:
        poll.register(descriptor, select.POLLIN)
    status = reap(child)
    while status is None:
        for descriptor, _ in poll.poll():
            if descriptor == 0:
                raise EOFError
            if descriptor == woken:
                os.read(woken, CHUNK)
            elif not pass_on(descriptor, pipes[descriptor], passed, kept):
                poll.unregister(descriptor)
        status = reap(child)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    LEFT.update({descriptor: kept - passed[descriptor] for descriptor in pipes})
    return status


#: How many bytes of each pipe may still be handed on after the end.
LEFT: "dict[int, int]" = {}


def pass_on(descriptor: int, letter: bytes, passed: "dict[int, int]", kept: int) -> bool:
    """Read a piece and forward as much of it as the limit allows; return False at the end of the pipe."""
    piece = os.read(descriptor, CHUNK)
    part = piece[: max(0, kept - passed[descriptor])]
    passed[descriptor] += len(part)
    if part:
        send(letter, part)
    return bool(piece)


def reap(child: int) -> "int | None":
    """Reap ended processes, as process 1 must; return the exit code of the child, or minus its signal, if it ended."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except OSError as error:
            if error.errno == errno.ECHILD:
                return found
            raise
        if pid == 0:
            return found
        if pid == child:
            found = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def end_all_others() -> None:
    """Kill the processes that the program left behind, so that its files do not change while they are read."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except OSError:
        return


def is_full(place: str) -> bool:
    """Return True if no space is left here; False also if the program has removed the folder."""
    try:
        return os.statvfs(place).f_bavail == 0
    except OSError:
        return False


def was_out_of_memory() -> bool:
    """Return True if the kernel killed a process because memory was full; only visible in containers."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                counts = dict(line.split() for line in file)
        except (OSError, ValueError):
            continue
        return int(counts.get("oom_kill", 0)) > 0
    return False


def drain(pipes: "dict[int, bytes]", kept: int) -> None:
    """Forward the rest of the pipes, whose writers have all ended."""
    for descriptor, letter in pipes.items():
        passed = {descriptor: kept - LEFT[descriptor]}
        while pass_on(descriptor, letter, passed, kept):
            pass


def collect(folder: str, settings: "dict[str, int]") -> None:
    """Send scores and page if they are regular files with one link, none larger than its limit."""
    try:
        output = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        send(b"n", b"the folder $output is gone")
        return
    names = sorted(os.listdir(output))
    pages = [PAGE] + [name for name in names if name.endswith(".html") and name != PAGE]
    for letter, wanted, largest in ((b"s", SCORES, settings["scores"]), (b"p", pages, settings["page"])):
        for name in wanted:
            if name in names and hand_out(letter, output, name, largest):
                break


def hand_out(letter: bytes, output: int, name: str, largest: int) -> bool:
    """Send a file if it may be read; otherwise send the reason."""
    shown = os.fsencode(name)
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=output)
    except OSError as error:
        send(b"n", shown + b" cannot be read: " + str(os.strerror(error.errno or 0)).encode())
        return False
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            send(b"n", shown + b" is not a plain file with one name")
            return False
        content = b""
        while len(content) <= largest:
            piece = os.read(file, largest + 1 - len(content))
            if not piece:
                break
            content += piece
        if len(content) > largest:
            send(b"l", letter + shown)
            return True
        send(letter, struct.pack(">Q", len(shown)) + shown + content)
        return True
    finally:
        os.close(file)


def send(letter: bytes, content: bytes = b"") -> None:
    """Write a frame to stdout."""
    write(1, letter + struct.pack(">Q", len(content)) + content)


def write(descriptor: int, content: bytes) -> None:
    """Write all of the data."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
