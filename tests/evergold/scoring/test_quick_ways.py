"""Files with nothing wrong are read by a quicker way, which gives what the thorough one gives or leaves it to that."""

from __future__ import annotations

import random
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from evergold.scoring.cupt import prediction, scan as cupt_scan
from evergold.scoring.cupt.corpus import read_items
from evergold.scoring.cupt.lines import opened
from evergold.scoring.errors import InvalidPrediction, Problems
from evergold.scoring.numerals import finite_number, finite_numbers
from evergold.scoring.tables import entries, reading
from evergold.scoring.tables.reading import Table, read_table
from evergold.scoring.tables.settings import Items

TEXTS = (
    "a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4", "a,b\n1,2\n\n3,4\n", "a,b\n1,2\r3,4\n", 'a,b\n"1",2\n', "a,b\n1,2,3\n4,5\n",
    "a,b\n1\n2,3\n", "a,b\n", "a,b", "\na,b\n1,2\n", "a,b\n1,2\n\n\n", "b,a\n ,\n,é\n", "a,b\n1,\x0b2\n\x85,\u2028\n",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("tabs", [False, True])
def test_a_plain_table_is_read_as_any_other(text: str, tabs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (text.replace(",", "\t") if tabs else text).encode()

    def read() -> tuple[object, ...]:
        problems = Problems()
        table = read_table(data, ["a", "b"], problems, tabs=tabs)
        assert table is not None
        columns = {name: list(column) for name, column in table.columns.items()}
        return list(table.lines), columns, table.skipped_rows, problems.errors

    quick = read()
    monkeypatch.setattr(reading, "_plain_columns", lambda *_: None)
    assert read() == quick


def test_the_quick_way_is_for_plain_tables_alone() -> None:
    plain = [reading._plain_columns(text, 2, ",", reading.TABLE_LIMITS) is not None for text in TEXTS]
    assert plain == [at in (0, 1, 7, 8, 11, 12) for at in range(len(TEXTS))]


@pytest.mark.parametrize(
    "text", ["1", "-1.5e3", "+.5", "1.", "1_0", " 1", "1\n", "nan", "inf", "1e999", "1,5", "", "٣", "0x1", "\ud800"]
)
def test_many_numbers_are_what_each_is(text: str) -> None:
    number = finite_number(text)
    assert finite_numbers(["0.25", text]) == (None if number is None else [0.25, number])


def test_rows_without_fault_are_placed_as_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    items = Items(("1", "2", "3"), ("EN", "PT", "EN"))
    rows = [(id_, lang, s) for s in ("x", "y") for id_, lang in zip(items.ids, items.languages, strict=True)]
    random.Random(1).shuffle(rows)

    def placed(rows: list[tuple[str, str, str]]) -> tuple[dict[str, list[int]], object]:
        columns = zip(("ID", "Language", "Setting"), zip(*rows, strict=True), strict=True)
        problems = Problems()
        table = Table(range(2, 2 + len(rows)), {name: list(column) for name, column in columns})
        return entries._place_rows(table, items, ("x", "y"), problems), problems.errors

    kinds = [rows, rows[:-1], [*rows, rows[0]], [*rows, ("4", "EN", "x")], [*rows[1:], ("1", "PT", "x")]]
    quick = [placed(kind) for kind in [*kinds, [*rows[1:], ("1", "EN", "z")]]]
    assert [bool(errors) for _, errors in quick] == [False, False, True, True, True, True]
    monkeypatch.setattr(entries, "_sound_places", lambda *_: None)
    assert [placed(kind) for kind in [*kinds, [*rows[1:], ("1", "EN", "z")]]] == quick


CUPT_HEADER = b"# global.columns = ID FORM LEMMA UPOS PARSEME:MWE\n"
SENTENCES = b"# sent_id = a\n1\tlet\tlet\tV\t%b\n2-3\tit's\t_\t_\t%b\n2\tit\tit\tP\t*\n3\tbe\tbe\tV\t%b\n\n"
SENTENCES += b"1\tYes\tyes\tI\t*\n\n"
GOLD_CUPT = CUPT_HEADER + SENTENCES % (b"1:VID", b"*", b"1")
CUPT_FILES = {
    "perfect": GOLD_CUPT,
    "none": CUPT_HEADER + SENTENCES % (b"*", b"*", b"*"),
    "on a range": CUPT_HEADER + SENTENCES % (b"1:VID", b"1", b"*"),
    "several": CUPT_HEADER + SENTENCES % (b"1:VID;2", b"*", b"2:IRV;1"),
    "malformed": CUPT_HEADER + SENTENCES % (b"VID", b"*", b"1"),
    "unannotated": CUPT_HEADER + SENTENCES % (b"_", b"_", b"_"),
    "other token": GOLD_CUPT.replace(b"Yes", b"No"),
    "column too few": GOLD_CUPT.replace(b"1\tYes\tyes\tI", b"1\tYes\tyes"),
    "cut off": GOLD_CUPT[:-6],
    "no empty line": GOLD_CUPT[:-1],
    "one sentence": GOLD_CUPT[: GOLD_CUPT.index(b"1\tYes")],
    "windows": GOLD_CUPT.replace(b"\n", b"\r\n"),
    "comments inside": GOLD_CUPT.replace(b"3\tbe", b"# so\n3\tbe"),
    "too many comments": GOLD_CUPT.replace(b"# sent_id", b"# so\n" * 3000 + b"# sent_id"),
    "too many codes": CUPT_HEADER + SENTENCES % (b";".join(b"%d" % n for n in range(1, 20_100)), b"*", b"malformed"),
}


@pytest.mark.parametrize("kind", CUPT_FILES)
def test_a_cupt_file_is_read_without_numpy_as_with_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    items = read_items(GOLD_CUPT)

    def read() -> tuple[object, ...]:
        problems = Problems()
        predicted = prediction.read_predicted_mwes(CUPT_FILES[kind], items, problems)
        return predicted, problems.errors, problems.warnings, problems.omitted

    with_numpy = read()
    monkeypatch.setattr(prediction, "sys", SimpleNamespace(modules={}))
    scan = Mock(wraps=cupt_scan.scan)
    monkeypatch.setattr(cupt_scan, "scan", scan)
    assert read() == with_numpy
    assert scan.called == kind.startswith("too many"), "what only one of the ways looks at is left to the same one"


def test_a_cupt_file_that_asks_for_nothing_else_is_read_by_numpy() -> None:
    items, problems = read_items(GOLD_CUPT), Problems()
    read = {}
    for kind, data in CUPT_FILES.items():
        opened_data, header = opened(data, None, problems, InvalidPrediction, ("ID", "FORM", "PARSEME:MWE"))
        read[kind] = cupt_scan.scan(opened_data, header, items) is not None
    thorough = {"on a range", "unannotated", "other token", "column too few", "cut off", "one sentence"}
    assert {kind for kind, is_quick in read.items() if not is_quick} == thorough
