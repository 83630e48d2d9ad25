"""Texts and archives of an organiser that are small to send and large to read: 45 of each are sent at once, and their
cost for the web process and for somebody who wants to log in is measured.

`python -m tests.attacks.organisers_texts` starts a server of its own and prints a line for each attack.
"""

from __future__ import annotations

import io
import os
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import httpx
from sqlalchemy import update

from app.base.db import make_engine, writing
from app.models import Announcement, Competition, User
from tests.processes import START_SECONDS, short_folder, stop
from tests.services import environment_of, evergold, start_web
from tests.web.declarations.linguist import Linguist, version_of

AT_ONCE = 45
PASSWORD = "a long pass phrase"
#: 1,500 characters: rows are filled up to the width of the first.
TABLE = "|" + "a|" * 250 + "\n|" + "-|" * 250 + "\n" + "|\n" * 250
DECLARATION = (
    'version: 1\ncompetitions:\n  - name: {name}\n    title: T\n    description: "{text}"\n'
    "    tasks: [{{name: main, type: table, title: T, options: {{metrics: [macro_f1], labels: [a, b]}}}}]\n"
    "    boards: [{{name: main, title: T, task: main, columns: [{{metric: macro_f1, split: all}}]}}]\n"
    "    phases: [{{name: one, title: P, start: 2030-01-01 00:00 UTC, tasks: {{main: {{gold: sealed{files}}}}}}}]\n"
)
#: What the standing competition offers to download: 8 MiB that are small to send.
LARGE = "".join(f"{number},a line of a file that many lines have\n" for number in range(180_000))


def zip_of(**files: str) -> bytes:
    """Return a zip with these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return out.getvalue()


def directory_of(entries: int) -> bytes:
    """Return a zip that consists almost only of its list of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for number in range(entries):
            archive.writestr(f"{number}", "")
    return out.getvalue()


def declaration(name: str, text: str, files: str = "") -> str:
    """Return a sound declaration whose description is this text. files: further keys of its task in the phase."""
    return DECLARATION.format(name=name, text=text.replace("\n", "\\n").replace('"', '\\"'), files=files)


#: Texts that a form takes, each hard to read in a way of its own.
YAMLS = {
    "values": "competitions: [" + "a," * 55_000 + "]",
    "aliases": "a: &a [" + "1," * 1_000 + "]\ncompetitions:\n" + "- *a\n" * 15_000,
    "long aliases": "a: &a " + "x" * 20_000 + "\ncompetitions:\n" + "- *a\n" * 15_000,
    "keys twice": "k:\n" * 35_000,
    "deep": "competitions: " + "[" * 100_000,
}


@dataclass
class Attacked:
    """A started server with an organiser. seconds: processor time of its web process so far."""

    url: str
    pid: int
    ada: Linguist
    place: str

    @property
    def seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def attacked() -> Iterator[Attacked]:
    """Yield a server where anybody may organise, with a competition whose texts are already in the database."""
    with short_folder() as folder, ExitStack() as stack:
        (folder / "phases.yaml").write_text("version: 1\ncompetitions: []\n")
        environment = environment_of(data_dir=folder / "data", phases_file=folder / "phases.yaml", organise="anybody")
        if evergold("apply", folder, environment, "apply", "--migrate").process.wait(2 * START_SECONDS):
            raise SystemExit("The database cannot be made.")
        web, url = start_web(folder, environment)
        stack.callback(stop, web)
        engine = make_engine(f"sqlite:///{folder / 'data' / 'evergold.db'}")
        stack.callback(engine.dispose)
        browser = stack.enter_context(httpx.Client(base_url=url, timeout=300, follow_redirects=True, headers=_BROWSER))
        page = browser.get("/register").text
        token = page.split('name="csrf_token" value="', 1)[1].split('"', 1)[0]
        fields = {"username": "ada", "email": "ada@example.org", "display_name": "Ada", "password": PASSWORD}
        browser.post("/register", data={"csrf_token": token, **fields})
        with writing(engine) as session:
            session.execute(update(User).values(email_confirmed_at=User.created_at))
        ada = Linguist(browser)
        place = ada.begin(name="written", title="T")
        files = ", downloads: [{file: large.csv, title: Large}]"
        content = zip_of(competition__yaml=declaration("standing", "A text.", files), large__csv=LARGE)
        ada.upload("/organise/zip", "a.zip", content)
        built = [one for one in range(1, 9) if "standing" in browser.get(f"/organise/{one}").text][-1]
        ada.send(f"/organise/{built}/build", action="apply")
        with writing(engine) as session:
            standing = session.query(Competition).filter_by(name="standing").one()
            standing.description = TABLE
            for number in range(20):
                text = f"{TABLE}\n\n{number}"
                one = Announcement(competition_id=standing.id, title=f"{number}", text=text, author_id=1)
                one.published_at = datetime.now(UTC)
                session.add(one)
        yield Attacked(url, web.process.pid, ada, place)


_BROWSER = {"Accept": "text/html"}


def measured(server: Attacked, name: str, send: Callable[[int], httpx.Response]) -> str:
    """Send 45 at once; return a line with their cost."""
    over, took = threading.Event(), list[float]()

    def log_in() -> None:
        with httpx.Client(base_url=server.url, timeout=120) as client:
            while not over.is_set():
                began = time.perf_counter()
                client.get("/login").raise_for_status()
                took.append(time.perf_counter() - began)
                over.wait(0.05)

    before, began = server.seconds, time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE + 1) as crowd:
        looking = crowd.submit(log_in)
        answers = Counter(one.status_code for one in crowd.map(send, range(AT_ONCE)))
        lasted = time.perf_counter() - began
        over.set()
        looking.result()
    each = (server.seconds - before) / AT_ONCE
    took.sort()
    return (
        f"{name:34} {lasted:6.1f} s  {1000 * each:6.0f} ms of the web process each  log-in page: median "
        f"{1000 * took[len(took) // 2]:4.0f} ms, longest {1000 * took[-1]:5.0f} ms  {dict(answers)}"
    )


def attacks(server: Attacked) -> Iterator[tuple[str, Callable[[int], httpx.Response]]]:
    """Yield each attack with its name."""
    ada, browser = server.ada, server.ada.browser
    yield "view a table", lambda _: browser.get("/competitions/standing")
    yield "view twenty tables", lambda _: browser.get("/competitions/standing/announcements")

    yield "take the declaration home", lambda _: browser.get("/api/v1/competitions/standing/declaration.zip")

    def write(text: str) -> Callable[[int], httpx.Response]:
        version = version_of(browser.get(server.place).text)
        sent = {"csrf_token": ada.token, "version": version, "yaml": text}
        return lambda _: browser.post(f"{server.place}/yaml", files={name: (None, one) for name, one in sent.items()})

    for name, text in YAMLS.items():
        yield f"write YAML: {name}", write(text)
    yield "write a table", write(declaration("written", TABLE))
    yield "look at what is written", lambda _: browser.get(server.place)
    yield "preview what is written", lambda _: browser.get(f"{server.place}/preview")
    zips = {
        "YAML of dashes": zip_of(competition__yaml="- " * 2_000_000),
        "a directory alone": directory_of(60_000),
        "a long file": zip_of(competition__yaml=declaration("x", ""), a__csv="0" * 200_000_000),
    }
    for name, content in zips.items():
        yield f"upload a zip: {name}", partial(_upload, ada, content)


def _upload(ada: Linguist, content: bytes, _: int) -> httpx.Response:
    return ada.upload("/organise/zip", "a.zip", content)


def main() -> None:
    """Attack a server of our own, and print what each attack cost."""
    with attacked() as server:
        for name, send in attacks(server):
            print(measured(server, name, send), flush=True)  # noqa: T201 - the report


if __name__ == "__main__":
    main()
