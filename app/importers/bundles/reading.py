"""Values of a bundle that all versions share: times, files, data sets stored on another server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from app.importers.bundles.archive import Bundle, InvalidBundle
from app.importers.bundles.moments import Assumed, DateOrder, Question, Read, Unanswered, only_order, read_moment
from app.importers.bundles.notes import Fate, Keys, Notes, text_of
from app.importers.bundles.pages import PageTooLarge, page_text
from app.importers.bundles.plan import Page, Program, name_of
from evergold.yaml_lines import Node, read_yaml

_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
#: Maximum length of the terms, as of any text.
TERMS_CHARACTERS = 50_000
#: Maximum number of tags of all pages together; more would take long to parse.
TAGS_OF_ALL_PAGES = 20_000
_METADATA = ("metadata.yaml", "metadata")
RUNS_CODE = (
    "Evergold takes results (files of predictions), never code of teams: this task has a program that runs such "
    "code (ingestion), so it accepts no uploads"
)
#: A part of a sentence: the option that opens the draft for results, in the browser and on the command line.
OPENED_BY = "*Take results instead* (`--results`) opens it for results"


@dataclass(slots=True)
class Reading:
    """A bundle while it is read, with its assumptions and questions. programs: by the path that they came from."""

    bundle: Bundle
    assumed: Assumed
    notes: Notes = field(default_factory=Notes)
    questions: list[Question] = field(default_factory=list)
    programs: dict[Path, Program] = field(default_factory=dict)
    dates: list[str] = field(default_factory=list)
    tags_left: int = TAGS_OF_ALL_PAGES
    program_keys: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def root(self) -> Keys:
        """The keys at the top level."""
        return Keys(self.bundle.main, "", self.notes)

    def finish(self) -> None:
        """Add notes on unknown keys, then raise InvalidBundle with all problems, or Unanswered with all questions."""
        self.notes.add_unknown(self.bundle.main)
        self.notes.problems.raise_if_any(InvalidBundle)
        if self.questions:
            raise Unanswered([replace(one, text=one.text + self._hint(one)) for one in self.questions])

    def _hint(self, question: Question) -> str:
        """Return a hint for a question about the order of day and month: another date in the bundle with only one
        reading.
        """
        orders = {order: written for written in self.dates if (order := only_order(written)) is not None}
        if question.about != "order" or len(orders) != 1:
            return ""
        ((order, written),) = orders.items()
        first = "month" if order is DateOrder.MONTH_FIRST else "day"
        return f" ('{written}' in this bundle has the {first} first)"

    def moment(self, keys: Keys, key: str, became: str) -> datetime | None:
        """Return a time; None if it is absent, ambiguous (which adds a question) or invalid."""
        found = keys.take(key, became)
        if found is None or text_of(found).strip().lower() in ("", "null", "none"):
            return None
        written = text_of(found)
        self.dates.append(written)
        try:
            read = read_moment(written, self.assumed)
        except ValueError as fault:
            self.notes.refuse("no-moment", f"{keys.at(key)}: {fault}", found)
            return None
        if isinstance(read, Read):
            for text in read.notes:
                keys.note(key, Fate.ASSUMED, f"'{written}': {text}")
            return read.moment
        self.questions += [Question(one.about, keys.at(key), found.file, found.line, written, one.text) for one in read]
        return None

    def file(self, keys: Keys, key: str, became: str) -> Path | None:
        """Return a file or folder of the bundle; None, with a note, if the bundle lacks it."""
        node = keys.node.entries.get(key)
        if node is None or node.value is None:
            if node is not None:
                keys.take(key, became)
            return None
        return self.named_file(node, keys.at(key), became)

    def named_file(self, node: Node, path: str, became: str) -> Path | None:
        """Return a file or folder named by a value of the bundle; None, with a note, if the bundle lacks it."""
        name = text_of(node).strip()
        if isinstance(node.value, dict | list) or not name:
            self.notes.refuse("no-file", f"{path} is the name of a file", node)
            return None
        try:
            found = self.bundle.find(name)
        except ValueError as fault:
            self.notes.refuse("outside", f"{path}: {fault}", node)
            return None
        if found is not None:
            self.notes.add(Fate.BECAME, path, node.line, became)
        elif _UUID.fullmatch(name):
            words = (
                f"`{name}` is a data set on the other server that the bundle does not contain: download it there and "
                "add it here"
            )
            self.notes.add(Fate.OPEN, path, node.line, words)
        else:
            self.notes.add(Fate.OPEN, path, node.line, f"`{name[:80]}` is not in the bundle")
        return found

    def page(self, keys: Keys, key: str, title: str, became: str) -> Page | None:
        """Return a page, without text if it cannot be shown; None if there is none, or it is empty."""
        found = self.file(keys, key, became)
        if found is None:
            return None
        written = self.bundle.text(found)
        if written is None:
            keys.note(key, Fate.OPEN, "this is not text, or is larger than 256 KiB: it becomes a download")
            return Page(title, "", found)
        self.tags_left -= written.count("<")
        if self.tags_left < 0:
            keys.note(
                key, Fate.OPEN, "the pages of the bundle have too many tags in total: this page becomes a download"
            )
            return Page(title, "", found)
        try:
            text = page_text(written, found.suffix.lower() in (".html", ".htm"))
        except PageTooLarge as fault:
            keys.note(key, Fate.OPEN, f"{fault}: it becomes a download")
            return Page(title, "", found)
        if not text:
            keys.note(key, Fate.NONE, "the page is empty")
            return None
        return Page(title, text, found)

    def terms(self, page: Page | None, keys: Keys, key: str) -> str:
        """Return the terms; terms that are too long add a problem, because nobody can accept a part of them."""
        if page is None:
            return ""
        if len(page.text) > TERMS_CHARACTERS:
            keys.note(key, Fate.OPEN, f"terms have at most {TERMS_CHARACTERS:,} characters: put a link there")
            return ""
        return page.text

    def program(self, found: Path, key: tuple[str, int], image: str, contract: str = "codabench") -> Program:
        """Return the program in a file or folder of the bundle; the same path gives the same program.

        key: path and line of the key that names it; image: the container in which it ran.
        """
        folder = self.bundle.contents(found)
        if folder not in self.programs:
            taken = [one.place.rpartition("/")[2] for one in self.programs.values()]
            place = f"programs/{name_of(found.stem if found.is_file() else found.name, taken, 'scoring')}"
            self.programs[folder] = Program(folder, place, contract, image=image)
            self.program_keys[place] = key
        return self.programs[folder]

    def command(self, program: Program) -> str:
        """Return the command in a program's own metadata; "" if there is none."""
        for name in _METADATA:
            path = program.folder / name
            if path.is_file():
                node, _ = read_yaml(path, name)
                found = node.entries.get("command") if node is not None else None
                return (found.text or "").strip() if found is not None else ""
        return ""

    def is_code(self, found: Path) -> bool:
        """Return whether a sample submission is code, that is, has a command or a model."""
        folder = self.bundle.contents(found)
        return any((folder / name).is_file() for name in (*_METADATA, "model.py"))
