"""Uploads for programs: which files they hold, whether these are as declared, and how they are laid out for a run.

Codabench: a zip is unpacked (a single folder that contains everything is dropped), and a plain file is used unchanged,
under its name.
EvalAI: the file is handed on as it was sent, with its name. Content of a team is data: nothing of it is ever run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from evergold.scoring.archives import LIMITS, Limits, begins_as_zip, iterate_members, member_names
from evergold.scoring.errors import InvalidPrediction, Problem, Problems, shorten
from evergold.scoring.program.options import Contract, ProgramOptions
from evergold.scoring.program.packing import METADATA, METADATA_BYTES, command_in
from evergold.scoring.program.schemas import faults_of, validator_of
from evergold.scoring.tables.reading import decode_text, read_table

#: A name that is not known here is not compared with what is declared.
UNNAMED = "submission"


@dataclass(frozen=True, slots=True)
class CheckedUpload:
    """A checked upload: the names of its files, sorted, and warnings, which do not prevent scoring."""

    names: tuple[str, ...]
    warnings: tuple[Problem, ...] = ()


def read_upload(path: Path, options: ProgramOptions) -> CheckedUpload:
    """Check the files of an upload; raises InvalidPrediction with every problem, by file and line.

    path: the file under the name that the team gave it.
    """
    problems, names = Problems(), list[str]()
    for name, content in upload_files(path, options):
        names.append(name)
        _check_content(name, content, options, problems)
    _check_names(names, options, problems)
    problems.raise_if_any()
    return CheckedUpload(tuple(sorted(names)), tuple(problems.warnings))


def lay_out(path: Path, options: ProgramOptions, folder: Path) -> None:
    """Write the files of a checked upload below an empty folder; raises InvalidPrediction as `read_upload`."""
    for name, content in upload_files(path, options):
        target = folder.joinpath(*PurePosixPath(name).parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def upload_files(path: Path, options: ProgramOptions) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents, one at a time; raises InvalidPrediction if the upload cannot be unpacked, or is too
    large.
    """
    limits = _limits(options)
    if options.contract is Contract.EVALAI or not (path.is_dir() or begins_as_zip(path)):
        yield own_name(path), _plain(path, limits)
        return
    outer = _outer_folder(member_names(path, limits))
    for name, content in iterate_members(path, limits):
        yield name.removeprefix(outer), content


def own_name(path: Path) -> str:
    """Return the name of the file as programs see it."""
    name = "".join(character for character in path.name if character.isprintable() and character not in "/\\")
    return name.lstrip(".") or UNNAMED


def _limits(options: ProgramOptions) -> Limits:
    """Return the bounds of an upload: what is declared, and never more than the program may write."""
    largest = options.files.largest
    return replace(LIMITS, member_bytes=largest, total_bytes=max(largest, options.limits.written))


def _plain(path: Path, limits: Limits) -> bytes:
    with path.open("rb") as file:
        content = file.read(limits.member_bytes + 1)
    if len(content) > limits.member_bytes:
        message = f"the file is larger than the {limits.member_bytes:,} bytes that are allowed"
        raise InvalidPrediction([Problem("file-too-large", message)])
    return content


def _outer_folder(names: Sequence[str]) -> str:
    """Return the folder that everything lies in, with its `/`; empty if there is none."""
    first = {name.partition("/")[0] for name in names}
    return f"{first.pop()}/" if len(first) == 1 and all("/" in name for name in names) else ""


# ------------------------------------------------------------------------------------------------------------- names


def _check_names(names: Sequence[str], options: ProgramOptions, problems: Problems) -> None:
    rules = options.files
    there = ", ".join(map(shorten, sorted(names)[:5])) + (", …" if len(names) > 5 else "")
    for wanted in rules.required:
        if wanted not in names:
            problems.add("missing-file", f"the file {wanted} is missing; the upload has {there or 'no file'}")
    if not rules.allowed:
        return
    for name in names:
        if name not in rules.required and not _matches_any(name, rules.allowed):
            expected = ", ".join((*rules.required, *rules.allowed))
            problems.add("unexpected-file", f"{shorten(name)} is not expected; the file must be {expected}", file=name)


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(matches(name, pattern) for pattern in patterns)


def matches(name: str, pattern: str) -> bool:
    """Return whether the path of a file matches the pattern; a pattern without folders may also match the file's name
    alone.
    """
    return fnmatchcase(name, pattern) or ("/" not in pattern and fnmatchcase(PurePosixPath(name).name, pattern))


# ----------------------------------------------------------------------------------------------------------- contents


def _check_content(name: str, content: bytes, options: ProgramOptions, problems: Problems) -> None:
    if name in METADATA and _has_command(content):
        problems.add(
            "code-submission",
            f"{name} has a command, so this is code to be run: here predictions are scored, code is not run; send the "
            "files with your system's answers alone",
            file=name,
        )
    for pattern, columns in options.tables.items():
        if matches(name, pattern):
            read_table(content, columns, problems, file=name, tabs=name.lower().endswith((".tsv", ".tab")))
    for pattern, schema in options.json_schema.items():
        if matches(name, pattern):
            _check_json(name, content, schema, problems)


def _has_command(content: bytes) -> bool:
    start = content[:METADATA_BYTES]
    return command_in(start) is not None or any(line.strip().startswith(b"command:") for line in start.splitlines())


def _check_json(name: str, content: bytes, schema: Mapping[str, object], problems: Problems) -> None:
    text = decode_text(content, problems, file=name)
    if text is None:
        return
    validator = validator_of(schema)
    by_line = name.lower().endswith((".jsonl", ".ndjson"))
    for line, part in enumerate(text.split("\n") if by_line else [text], start=1):
        if by_line and not part.strip():
            continue
        try:
            document = json.loads(part, parse_constant=_no_constant)
        except json.JSONDecodeError as fault:
            at = line if by_line else fault.lineno
            problems.add("not-json", f"this is not JSON: {fault.msg}, column {fault.colno}", file=name, line=at)
            continue
        except (ValueError, RecursionError) as fault:
            sentence = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)
            problems.add("not-json", f"this is not JSON: {sentence}", file=name, line=line if by_line else None)
            continue
        for sentence in faults_of(validator, document):
            problems.add("not-as-declared", sentence, file=name, line=line if by_line else None)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
