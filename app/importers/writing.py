"""Writes the files of an imported competition: editable YAML, and copies of published files."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from evergold.scoring.errors import Problems
from evergold.scoring.tables.reading import Table, read_table


def read_published(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file in `app/data`."""
    return list(csv.DictReader(published_text(name).splitlines()))


def published_text(name: str) -> str:
    """Return a CSV file of `app/data` without the lines at its top that begin with # and name the source."""
    text = resources.files("app").joinpath("data", name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")) + "\n"


#: `gold: LATER name` becomes a comment to be activated once the gold exists.
LATER = "LATER "
_LATER_LINE = re.compile(rf"^( *)gold: {LATER}(.*)$", re.MULTILINE)


class Inline(dict[str, Any]):
    """A mapping to write on one line: `{metric: macro_f1, split: zero_shot/all}`."""


#: Visibility of a phase without an end, which would otherwise never show scores other than the ranking ones.
ALL_SLICES = {"visibility": Inline(slices="all")}
#: Visibility of a phase with public gold, whose scores reveal nothing.
EVERYTHING = {"visibility": Inline(precision="full", slices="all")}


def yaml_text(document: Mapping[str, Any], comment: str) -> str:
    """Return the document as YAML after a comment, with long texts as blocks and the keys in their order."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    text = _LATER_LINE.sub(r"\1# gold: \2", text)
    return "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines()) + text


def write_text(path: Path, text: str) -> Path:
    """Write a file and create its folders; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def copy_file(source: Path, target: Path) -> Path:
    """Copy a file and create its folders; return its path."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, target))


class _Dumper(yaml.SafeDumper):
    """A dumper that indents lists and never writes aliases, which are hard to read."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def _inline(dumper: _Dumper, value: Inline) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(Inline, _inline)


_Dumper.add_representer(str, _text)


def read_columns(source: Path, name: str, columns: Sequence[str], problems: Problems) -> Table | None:
    """Return these columns of the file `name` below `source`; None, with problems, if it is missing or malformed."""
    path = source / name
    if not path.is_file():
        problems.add("missing-file", "the file is not in this folder: is it a checkout of the repository?", file=name)
        return None
    return read_table(path.read_bytes(), columns, problems, others=True, file=name)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file and create its folders; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def refuse_existing(target: Path, problems: Problems) -> None:
    """Add a problem if there is an earlier import, which may have been edited."""
    path = target / "competition.yaml"
    if path.exists():
        problems.add("exists", "this file exists already; move it away to import again", file=str(path))
