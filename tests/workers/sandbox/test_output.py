"""The output of a program: links and things that are no files are not read."""

from __future__ import annotations

import pytest

from tests.workers.sandbox.conftest import Place
from workers.sandbox import Ended


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("os.symlink('/app/input/ref/gold.txt', 'scores.json')", "cannot be read: Too many levels of symbolic links"),
        ("os.symlink('/etc/passwd', 'scores.json')", "cannot be read: Too many levels of symbolic links"),
        ("os.symlink('scores.json', 'scores.json')", "cannot be read: Too many levels of symbolic links"),
        ("open('x', 'w').write('x'); os.link('x', 'scores.json')", "is not a plain file with one name"),
        ("os.mkfifo('scores.json')", "is not a plain file with one name"),
        ("os.mkdir('scores.json')", "is not a plain file with one name"),
        ("socket.socket(socket.AF_UNIX).bind('scores.json')", "cannot be read: No such device or address"),
        ("open('scores.json', 'w').close(); os.chmod('scores.json', 0)", "cannot be read: Permission denied"),
    ],
)
def test_scores_that_are_no_plain_file_are_not_read(place: Place, code: str, detail: str) -> None:
    outcome = place.run(f"import os, socket\nos.chdir('/app/output')\n{code}\n")
    assert outcome.ended is Ended.FINISHED, outcome.stderr.decode()
    assert (outcome.scores_name, outcome.scores) == (None, None)
    assert outcome.detail == f"scores.json {detail}"


def test_scores_txt_stands_in_for_a_link(place: Place) -> None:
    outcome = place.run("""
        import os
        os.symlink("/app/input/ref/gold.txt", "/app/output/scores.json")
        open("/app/output/scores.txt", "w").write("a: 1")
    """)
    assert (outcome.scores_name, outcome.scores) == ("scores.txt", b"a: 1")


def test_output_that_is_a_link_itself_is_not_followed(place: Place) -> None:
    place.write({"gold/scores.json": "{}"})
    outcome = place.run("""
        import os
        os.rmdir("/app/output")
        os.symlink("/app/input/ref", "/app/output")
    """)
    assert (outcome.ended, outcome.scores, outcome.detail) == (Ended.FINISHED, None, "the folder $output is gone")


def test_a_program_may_remove_its_folders(place: Place) -> None:
    outcome = place.run("""
        import shutil
        for folder in ("tmp", "shm", "shared", "output", "program", "input/res"):
            shutil.rmtree("/app/" + folder)
    """)
    assert (outcome.ended, outcome.scores, outcome.detail) == (Ended.FINISHED, None, "the folder $output is gone")


def test_pages_that_are_links_are_passed_over(place: Place) -> None:
    outcome = place.run("""
        import os
        os.symlink("/app/input/ref/gold.txt", "/app/output/detailed_results.html")
        os.mkfifo("/app/output/a.html")
        open("/app/output/b.html", "w").write("page")
    """)
    assert outcome.page == b"page"
    assert outcome.detail == (
        "detailed_results.html cannot be read: Too many levels of symbolic links; "
        "a.html is not a plain file with one name"
    )


def test_names_that_hurt_are_shown_safely(place: Place) -> None:
    outcome = place.run(r"""
        import os
        os.mkfifo(b"/app/output/\x1b[2J\xff\n.html")
    """)
    assert outcome.ended is Ended.FINISHED
    assert outcome.detail == "�[2J��.html is not a plain file with one name"


def test_what_is_not_text_goes_through_as_it_is(place: Place) -> None:
    outcome = place.run("""
        import os
        os.write(1, bytes(range(256)))
        open("/app/output/scores.txt", "wb").write(bytes(range(256)))
    """)
    assert outcome.stdout == outcome.scores == bytes(range(256))
