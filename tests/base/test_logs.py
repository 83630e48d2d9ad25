"""A line per event: JSON for collectors, columns for people, with what is bound and without values of variables."""

from __future__ import annotations

import json
import logging
import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.logs import bound, bound_fields, configure_logging, log, log_libraries

STAMP = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    configure_logging("text")


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the logged lines, with each time replaced by `NOW`."""
    return [STAMP.sub("NOW", line) for line in capsys.readouterr().out.splitlines()]


def test_a_line_of_json_has_its_own_fields_then_what_is_bound(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("json")
    with bound(request_id="trace", run_id=7):
        log.info("request", path=Path("/ä"), request_id="own", odd="a\n\x1b[0m", many=(1, None))
    log.warning("slow")
    assert lines_of(capsys) == [
        r"""{"path": "PosixPath('/ä')", "request_id": "own", "odd": "a\n\u001b[0m", "many": [1, null], """
        '"event": "request", "run_id": 7, "level": "info", "timestamp": "NOW"}',
        '{"event": "slow", "level": "warning", "timestamp": "NOW"}',
    ]


def test_a_line_for_people_has_columns_and_quotes_what_has_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("text")
    log.info("sweep_announced", runs=3)
    log.info("bare")
    log.warning(
        "more_than_thirty_characters_of_an_event",
        b="a b",
        a="ä",
        c="",
        d="k=v",
        e="it's",
        f="1\n2",
        g=[1, "x"],
        h="\x1b[2J",
    )
    assert lines_of(capsys) == [
        "NOW [info     ] sweep_announced                runs=3",
        "NOW [info     ] bare",
        "NOW [warning  ] more_than_thirty_characters_of_an_event "
        r"""a=ä b='a b' c= d='k=v' e="it's" f='1\n2' g=[1, 'x'] h='\x1b[2J'""",
    ]


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_exception_has_its_traceback_without_variables(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure_logging("json" if form == "json" else "text")
    variable = "a-value"
    try:
        raise ValueError("broken", len(variable))
    except ValueError:
        log.exception("internal_error", method="GET")
    log.exception("nothing_is_handled")
    first, *below, last = lines_of(capsys)
    if form == "json":
        assert list(json.loads(first)) == ["method", "event", "level", "timestamp", "exception"]
        below = json.loads(first)["exception"].split("\n")
    else:
        assert first == "NOW [error    ] internal_error                 method=GET"
    assert (below[0], below[-1]) == ("Traceback (most recent call last):", "ValueError: ('broken', 7)")
    assert [line for line in below if variable in line] == []
    assert "Traceback" not in last


def test_what_is_bound_ends_with_its_block_and_is_no_other_thread_s() -> None:
    seen = []
    with bound(request_id="outer"):
        with bound(request_id="inner", run_id=1):
            seen.append(dict(bound_fields()))
            other = threading.Thread(target=lambda: seen.append(dict(bound_fields())))
            other.start()
            other.join()
        seen.append(dict(bound_fields()))
    assert seen == [{"request_id": "inner", "run_id": 1}, {}, {"request_id": "outer"}]
    assert bound_fields() == {}


def test_what_libraries_log_is_a_line_as_ours_from_warnings_on_or_as_they_are_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("handlers", []), ("level", logging.WARNING)):
        monkeypatch.setattr(logging.getLogger(), name, value)
    log_libraries(info=("their",), warning=("their.chatter",))
    warnings.showwarning("do not", UserWarning, "their.py", 3)
    configure_logging("json")
    logging.getLogger("their.server").info("listens on %s", "a socket")
    for name in ("their.chatter", "another"):
        logging.getLogger(name).info("not wanted")
    with bound(run_id=7):
        logging.getLogger("another").warning("a\nb")
    logging.getLogger("another").log(logging.WARNING + 5, "between")
    try:
        raise ValueError("0")
    except ValueError:
        logging.getLogger("another").exception("broke")
    warned, *lines, last = lines_of(capsys)
    assert "UserWarning: do not" in warned
    assert lines == [
        '{"says": "listens on a socket", "event": "their.server", "level": "info", "timestamp": "NOW"}',
        r'{"says": "a\nb", "event": "another", "run_id": 7, "level": "warning", "timestamp": "NOW"}',
        '{"says": "between", "event": "another", "level": "warning", "timestamp": "NOW"}',
    ]
    broke = json.loads(last)
    assert (broke["level"], broke["says"]) == ("error", "broke")
    assert broke["exception"].splitlines()[-1] == "ValueError: 0"


def test_a_library_whose_own_line_is_wrong_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("handlers", []), ("level", logging.WARNING)):
        monkeypatch.setattr(logging.getLogger(), name, value)
    log_libraries()
    logging.getLogger("another").warning("%d of %d", "one")
    said = capsys.readouterr()
    assert said.out == ""
    assert "not enough arguments" in said.err or "%d format" in said.err
