"""The layout of PARSEME's data, `<LANG>/{train,dev,test,test.blind}.cupt`: finding, checking, blanking, zipping.

Every file is read by the functions that will score with it, so that errors are reported here, by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from evergold.scoring.cupt.codes import UNANNOTATED
from evergold.scoring.cupt.corpus import CuptGold, read_gold, read_items, read_training
from evergold.scoring.cupt.folders import BLIND, DEV, PROBLEMS_PER_FILE, TEST, TRAIN
from evergold.scoring.cupt.lines import MWE, opened, sentences
from evergold.scoring.errors import InvalidFile, Problems, shorten

#: Possible files of the shared task in a language's folder.
FILES = (TRAIN, DEV, TEST, BLIND)
README = "README.md"
_CODE = re.compile(rb"[0-9]+:([A-Za-z][A-Za-z0-9._+-]*)")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Language:
    """A language's folder. files: those of FILES that exist; categories: all that its annotated files use."""

    folder: Path
    files: frozenset[str]
    categories: frozenset[str]

    @property
    def name(self) -> str:
        """The name in splits and options."""
        return self.folder.name.lower()


def read_languages(source: Path, problems: Problems) -> list[Language]:
    """Return all languages by name, with their files checked; errors are added to `problems`."""
    folders = [folder for folder in sorted(source.iterdir()) if _holds_data(folder)] if source.is_dir() else []
    if not folders:
        message = f"this is not a folder of PARSEME data: there is no <LANG>/{TEST} in it"
        hint = "; give the folder above, which contains all languages" if _holds_data(source) else ""
        problems.add("missing-file", message + hint, file=str(source))
    first: dict[str, str] = {}
    for folder in folders:
        before = first.setdefault(folder.name.lower(), folder.name)
        if before != folder.name:
            problems.add("duplicate-language", f"a second folder for one language, after {before}", file=folder.name)
    return sorted((_read_language(folder, problems) for folder in folders), key=lambda language: language.name)


def write_zip(path: Path, members: Iterable[tuple[str, bytes]]) -> Path:
    """Write a reproducible zip and return its path: equal contents give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in members:
            entry = ZipInfo(name)  # dated 1980, the earliest possible in a zip
            entry.create_system, entry.external_attr, entry.compress_type = 3, 0o644 << 16, ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=6)
    return path


# ---------------------------------------------------------------------------------------------------------- checking


def _holds_data(folder: Path) -> bool:
    return not folder.name.startswith(".") and any((folder / name).is_file() for name in FILES)


def _read_language(folder: Path, problems: Problems) -> Language:
    files = frozenset(name for name in FILES if (folder / name).is_file())
    if TEST not in files:
        message = f"the folder has {', '.join(sorted(files))}, but not the gold"
        problems.add("missing-file", message, file=f"{folder.name}/{TEST}")
    categories: set[str] = set()
    for name in (TRAIN, DEV):
        if name in files:
            data, file = (folder / name).read_bytes(), f"{folder.name}/{name}"
            if _checked(read_training if name == TRAIN else read_gold, data, file, problems) is not None:
                categories |= _categories(data)
    if TEST in files:
        categories |= _read_test(folder, BLIND in files, problems)
    return Language(folder, files, frozenset(categories))


def _read_test(folder: Path, with_blind: bool, problems: Problems) -> set[str]:
    """Check gold, and the blind file against it; return the categories in gold."""
    data, file = (folder / TEST).read_bytes(), f"{folder.name}/{TEST}"
    gold = _checked(read_gold, data, file, problems)
    if gold is not None and not gold.mwes:
        problems.add("no-mwe", "no MWE is annotated: is this the gold?", file=file)
    if with_blind:
        _check_blind(folder, data, gold, problems)
    return _categories(data) if gold is not None else set()


def _check_blind(folder: Path, test: bytes, gold: CuptGold | None, problems: Problems) -> None:
    """Check that the blind file is readable, reveals nothing, and has the same tokens as gold."""
    data, file = (folder / BLIND).read_bytes(), f"{folder.name}/{BLIND}"
    items = _checked(read_items, data, file, problems)
    if items is None:
        return
    shown = next(((line, field) for line, field in _mwe_fields(data) if field != UNANNOTATED), None)
    if shown:
        message = f"this is not blind: it must be `_`; if you remove the file, it is made from {TEST}"
        text = shown[1].decode("utf-8", "replace")
        problems.add("not-blind", message, file=file, line=shown[0], column=MWE, text=text)
    if gold is not None and items.fingerprint != gold.items.fingerprint:
        place, words = _difference(test, data)
        problems.add("token-mismatch", words, file=file, line=place)


def _checked(read: Callable[[bytes, str], T], data: bytes, file: str, problems: Problems) -> T | None:
    """Return the result of `read`; if it fails, add its problems, up to a limit per file, and return None."""
    try:
        return read(data, file)
    except InvalidFile as invalid:
        problems.errors += invalid.problems[:PROBLEMS_PER_FILE]
        problems.omitted += len(invalid.problems[PROBLEMS_PER_FILE:]) + invalid.omitted
        return None


# --------------------------------------------------------------------------------------------- contents of valid files


def _mwe_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the line number and the MWE field of every token line."""
    data, header = opened(data, None, Problems(), InvalidFile)
    for sentence in sentences(data, header):
        for line, row in zip(sentence.lines, sentence.rows, strict=True):
            yield line, row.split(b"\t")[header.mwe]


def _categories(data: bytes) -> set[str]:
    fields = {field for _, field in _mwe_fields(data)}
    codes = (_CODE.fullmatch(code) for field in fields for code in field.split(b";"))
    return {code[1].decode("ascii") for code in codes if code}


_Token = tuple[int, tuple[int, bytes, bytes]]


def _tokens(data: bytes) -> Iterator[_Token]:
    """Yield the line number and (sentence, ID, FORM) of every token line."""
    data, header = opened(data, None, Problems(), InvalidFile)
    for number, sentence in enumerate(sentences(data, header)):
        for line, row in zip(sentence.lines, sentence.rows, strict=True):
            cells = row.split(b"\t")
            yield line, (number, cells[header.id], cells[header.form])


def _difference(test: bytes, blind: bytes) -> tuple[int | None, str]:
    """Return the line of the blind file where its tokens first differ from gold, and a description."""
    last: int | None = None
    for wanted, found in zip_longest(_tokens(test), _tokens(blind)):
        if found is None:
            return last, f"the file ends here, but {TEST} continues"
        if wanted is None:
            return found[0], f"{TEST} ends before this token"
        if wanted[1] != found[1]:
            theirs, ours = (shorten(b" ".join(token[1][1:]).decode("utf-8", "replace")) for token in (found, wanted))
            where = "" if wanted[1][0] == found[1][0] else ", in another sentence"
            return found[0], f"the token is {theirs}, in {TEST} (line {wanted[0]}) it is {ours}{where}"
        last = found[0]
    return last, f"its sentences are not those of {TEST}"
