"""Tables in CSV: their allowed forms, and the reported problem with its line for all others."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from evergold.scoring.errors import Problem, Problems
from evergold.scoring.tables.reading import Table, TableLimits, decode_text, is_text, read_table

COLUMNS = ["ID", "Language", "Label"]


def read(data: bytes | str, **options: object) -> tuple[Table | None, list[Problem]]:
    problems = Problems()
    content = data.encode() if isinstance(data, str) else data
    return read_table(content, COLUMNS, problems, **options), problems.errors  # type: ignore[arg-type]  # test data


def said(data: bytes | str, **options: object) -> list[str]:
    return [str(problem) for problem in read(data, **options)[1]]


def good(data: bytes | str, **options: object) -> Table:
    table, problems = read(data, **options)
    assert problems == []
    assert table is not None
    return table


def test_cells_are_given_by_column_with_their_line() -> None:
    table = good("ID,Language,Label\n7,EN,1\n8,PT, 0\n")
    assert table.lines == [2, 3]
    assert list(table["ID"]) == ["7", "8"]
    assert list(table["Label"]) == ["1", " 0"]
    assert len(table) == 2


def test_columns_may_be_in_any_order() -> None:
    table = good("Label,ID,Language\n1,7,EN\n")
    assert (table["ID"], table["Language"], table["Label"]) == (("7",), ("EN",), ("1",))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_line_end_and_a_byte_order_mark_are_fine(end: str, mark: bytes) -> None:
    table = good(mark + end.join(["ID,Language,Label", "7,EN,1", "8,EN,0"]).encode())
    assert table.lines == [2, 3]
    assert list(table["Label"]) == ["1", "0"]


def test_line_numbers_stay_right_after_newlines_in_quotes_and_blank_lines() -> None:
    table = good('\nID,Language,Label\n7,"E\nN",1\n\n\n8,EN,0\r\n9,"a ""b"", c",1\n\n')
    assert table.lines == [3, 7, 8]
    assert list(table["Language"]) == ["E\nN", "EN", 'a "b", c']


def test_file_with_only_a_header_is_an_empty_table() -> None:
    table = good("ID,Language,Label\n")
    assert len(table) == 0
    assert list(table["ID"]) == []


@pytest.mark.parametrize("data", ["", " \n \r\n", "\ufeff"])
def test_empty_file(data: str) -> None:
    assert said(data) == ["the file is empty"]


@pytest.mark.parametrize(
    ("header", "sentences"),
    [
        ("ID,Language", ["line 1: the column Label is missing; the header must be ID,Language,Label"]),
        (
            "ID,Language,Label,Model",
            ["line 1: the column Model is not expected; the header must be ID,Language,Label"],
        ),
        ("id,Language,Label", ["line 1: the column 'id' must be written 'ID'"]),
        (
            "ID, Language,label ",
            [
                "line 1: the column ' Language' must be written 'Language'",
                "line 1: the column 'label ' must be written 'Label'",
            ],
        ),
        ("ID;Language;Label", ["line 1: the columns are separated by semicolons, they must be separated by commas"]),
        ("ID\tLanguage\tLabel", ["line 1: the columns are separated by tabs, they must be separated by commas"]),
        ("ID,Language,Label,ID", ["line 1: the column ID occurs twice"]),
        ("7,EN,1", ["line 1: the first line must be the header ID,Language,Label; it is 7,EN,1"]),
        (
            ",ID,Language,Label",
            [
                "line 1: there is a column without a name; the header must be ID,Language,Label "
                "(pandas writes its row numbers there, unless told to_csv(…, index=False))"
            ],
        ),
    ],
)
def test_wrong_header_is_said_with_the_likely_cause(header: str, sentences: list[str]) -> None:
    assert said(header + "\n7,EN,1\n") == sentences
    assert read(header + "\n7,EN,1\n")[0] is None


def test_further_columns_are_passed_over_or_allowed_where_asked() -> None:
    data = "ID,MWE,Language,Label,Note\n7,big fish,EN,1,x\n"
    assert "Note" not in good(data, others=True)
    assert list(good(data, optional=["MWE", "Note", "Other"])["Note"]) == ["x"]
    assert "MWE" not in good("ID,Language,Label\n7,EN,1\n", optional=["MWE"])


def test_every_row_with_a_wrong_number_of_fields_is_named_and_left_out() -> None:
    data = "ID,Language,Label\n1,EN\n2,EN,1\n3,EN,1,\n \n4,EN,0,5\n"
    table, problems = read(data)
    assert [str(problem) for problem in problems] == [
        "line 2: 2 fields, the header has 3",
        "line 4: 4 fields, the header has 3",
        "line 5: 1 field, the header has 3",
        "line 6: 4 fields, the header has 3",
    ]
    assert table is not None
    assert list(table["ID"]) == ["2"]
    assert table.skipped_rows == 4


def test_broken_quoting_is_said_where_it_begins_and_reading_goes_on() -> None:
    table, problems = read('ID,Language,Label\n1,"E"N,1\n2,EN,1\n3,EN,"1\n4,EN,1\n')
    assert [(problem.code, problem.line) for problem in problems] == [("bad-quoting", 2), ("bad-quoting", 4)]
    assert "opened here and never closed" in problems[1].message
    assert table is not None
    assert list(table["ID"]) == ["2"]


def test_endless_field_is_refused_once() -> None:
    problems = read('ID,Language,Label\n1,EN,"' + "x,1\n" * 100_000)[1]
    assert [(problem.code, problem.line) for problem in problems] == [("bad-quoting", 2)]
    assert "far too long" in problems[0].message


def test_utf_16_is_named() -> None:
    text = "ID,Language,Label\n7,EN,1\n"
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        assert said(text.encode(encoding)) == [
            "the file is UTF-16 (Excel calls it Unicode text), not UTF-8: save it again as UTF-8"
        ]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be"])
def test_utf_32_is_not_taken_for_utf_16(encoding: str) -> None:
    found = said("ID,Language,Label\n7,EN,1\n".encode(encoding))
    assert found == ["the file is UTF-32, not UTF-8: save it again as UTF-8"]


def test_latin_1_is_named_with_the_line_of_the_first_bad_byte() -> None:
    for mark in (b"", b"\xef\xbb\xbf"):
        assert said(mark + "ID,Language,Label\r\n7,EN,1\r\n8,português,1\r\n9,é,1\r\n".encode("latin-1")) == [
            "line 3: the byte 0xEA is not UTF-8: the file looks like Latin-1 or Windows-1252 (Excel's plain CSV); "
            "save it again as UTF-8"
        ]


def test_file_cut_off_inside_a_character_is_named() -> None:
    data = "ID,Language,Label\n7,EN,é".encode()[:-1]
    assert said(data) == ["line 2: the file ends in the middle of a character: is it complete?"]


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\x80\x04\x95\x1b\x01\x02\x03\x05", bytes(100)])
def test_binary_file_is_named(data: bytes) -> None:
    assert "this is not a text file" in said(data)[0]


def test_nul_byte_is_found_on_its_line() -> None:
    assert said("ID,Language,Label\n7,EN,1\n8,\0,1\n") == ["line 3: this is not a text file: it contains NUL bytes"]


def test_too_many_rows_are_refused() -> None:
    data = "ID,Language,Label\n" + "7,EN,1\n" * 11
    assert len(good(data, limits=TableLimits(rows=11))) == 11
    table, problems = read(data, limits=TableLimits(rows=10))
    assert [str(problem) for problem in problems] == ["the file has more than 10 rows"]
    assert table is not None
    assert len(table) == 0


def test_rows_of_the_wrong_width_count_towards_the_limit() -> None:
    """Check that they count: each costs as much to read as a right one, and more to report."""
    for wrong in ("7\n", '"a"b,EN,1\n'):
        problems = Problems(shown=1000)
        read_table(("ID,Language,Label\n" + wrong * 500).encode(), COLUMNS, problems, limits=TableLimits(rows=10))
        assert 10 < len(problems.errors) <= 12


def test_too_many_lines_are_refused_before_they_are_read_blank_ones_too() -> None:
    data = "ID,Language,Label\n" + "\r\n" * 11
    assert len(good(data, limits=TableLimits(lines=12))) == 0
    assert said(data, limits=TableLimits(lines=11)) == ["the file has more than 11 lines"]


@pytest.mark.timeout(60)
def test_a_header_of_very_many_columns_is_not_compared_name_by_name() -> None:
    """Check the time: comparing all pairs of names, or counting each among the others, would take some minutes."""
    data = ",".join(f"{number:x}" for number in range(170_000)).encode()
    assert len(data) < TableLimits().line_characters
    assert said(data.decode() + "\n") == [
        "line 1: the first line must be the header ID,Language,Label; it is 0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f,10,11,12,"
        "13,14,15,16,17,18,…"
    ]


def test_overlong_line_is_refused_before_it_is_split() -> None:
    data = "ID,Language,Label\n" + "," * 2000 + "\n"
    assert said(data, limits=TableLimits(line_characters=1000)) == [
        "line 2: a line of more than 1,000 characters: is this a CSV file?"
    ]


def test_the_archive_member_is_named_where_there_are_several() -> None:
    assert said("ID,Language,Label\n1\n", file="EN/a.csv") == ["EN/a.csv, line 2: 1 field, the header has 3"]
    assert said("", file="EN/a.csv") == ["EN/a.csv: the file is empty"]


CSV_LIKE = st.text(st.sampled_from('ID,Language\n\r";\t 1é\0'), max_size=80).map(str.encode)


@given(st.one_of(st.binary(max_size=200), CSV_LIKE), st.sampled_from([b"", b"ID,Language,Label\n", b"\xef\xbb\xbf"]))
def test_any_bytes_become_a_table_or_problems(data: bytes, start: bytes) -> None:
    problems = Problems()
    table = read_table(start + data, COLUMNS, problems)
    assert table is not None or problems.errors
    if table is not None:
        assert all(len(table[name]) == len(table) for name in COLUMNS)
        assert bool(problems.errors) == bool(table.skipped_rows)
    assert_both_say_the_same(start + data)
    decoded = decode_text(data, Problems())
    assert decoded is None or decoded.encode() in (data, data[3:])


def assert_both_say_the_same(data: bytes) -> list[str]:
    decoding, looking = Problems(), Problems()
    assert is_text(data, looking) == (decode_text(data, decoding) is not None)
    assert looking.errors == decoding.errors
    return [str(problem) for problem in looking.errors]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("bad", [b"\xe4\n", b"\xe4 and more", b"\xe2\x82\n", b"\xe2\x82"])
def test_a_byte_far_into_a_large_file_is_found_on_its_line(mark: bytes, bad: bytes) -> None:
    lines = "é€🦊\n".encode() * 200_000
    assert assert_both_say_the_same(mark + lines) == []
    (problem,) = assert_both_say_the_same(mark + lines + bad)
    assert problem.startswith("line 200001: ")


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5), st.text(max_size=5)), max_size=5))
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[str, str, str]]) -> None:
    cells = [[cell.replace("\0", "") for cell in row] for row in rows]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    text = "\r\n".join(["ID,Language,Label", *quoted])
    table = good(text)
    assert [list(table[name]) for name in COLUMNS] == [[row[n] for row in cells] for n in range(3)]


def test_five_thousand_rows_take_milliseconds() -> None:
    data = ("ID,Language,Label\n" + "".join(f"{n},EN,1\n" for n in range(5000))).encode()
    seconds = []
    for _ in range(5):
        started = time.process_time()
        read_table(data, COLUMNS, Problems())
        seconds.append(time.process_time() - started)
    assert min(seconds) < 0.1  # about 3 ms; the rest is room for slow machines


def test_a_header_in_brackets_is_no_json() -> None:
    problems = Problems()
    table = read_table(b"[a],b\n1,2\n", ["[a]", "b"], problems)
    assert problems.errors == []
    assert table is not None
    assert list(table["[a]"]) == ["1"]
