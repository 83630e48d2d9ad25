"""`evergold plan`, `set`, `history`, `undo`, `export yaml`, and `apply` over edits: on a database of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.base.config import get_settings
from app.base.db import get_engine, writing
from app.models import Competition, Revision, RevisionSource
from app.server import prepare
from evergold.cli import run
from evergold.cli.output import Code
from tests.declarations.competition_folder import NOW, Competition as Folder, make_competition
from tests.declarations.place import END, EVEN_LATER, LATER

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a folder whose dates have long passed; it can still be edited."""
    return make_competition(tmp_path / "demo")


@pytest.fixture
def evergold(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Evergold:
    """Run `evergold …` next to the applied phases.yaml; return exit code, stdout, stderr."""
    monkeypatch.chdir(folder.folder)
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.setattr("getpass.getuser", lambda: "root")

    def evergold(*arguments: object) -> tuple[int, str, str]:
        get_settings.cache_clear()  # each is a process of its own
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    assert evergold("apply", "--migrate")[0] == Code.OK
    return evergold


MOVED = "changed end of phase 'evaluation' of 'demo' from 2026-07-01 12:00 UTC to 2026-07-08 12:00 UTC"


def test_plan_says_changes_and_effects_and_leaves_with_2(evergold: Evergold, folder: Folder) -> None:
    code, out, err = evergold("plan")
    assert (code, out.splitlines()[0], err) == (0, "Nothing to change.", "")
    folder.change("2026-07-01 00:00 AoE", LATER)
    code, out, _ = evergold("plan", "phases.yaml")
    assert (code, out.splitlines()[:2]) == (2, [MOVED, "1 change."])
    assert "demo/evaluation/detection (0 teams with 0 submissions): the deadline is Wed 8 Jul 2026, 00:00 AoE" in out
    assert evergold("apply")[1].splitlines() == [MOVED, "1 change."]
    assert evergold("plan")[0] == 0


def test_plan_as_json(evergold: Evergold, folder: Folder) -> None:
    folder.change("2026-07-01 00:00 AoE", LATER)
    code, out, _ = evergold("plan", "--json")
    document = json.loads(out)
    assert (code, document["changes"], document["rescore"]) == (2, [{"message": MOVED, "counts": True}], 0)
    assert document["effects"][0]["what"][0].startswith("the deadline is")


def test_plan_of_a_faulty_file_is_an_error(evergold: Evergold, folder: Folder) -> None:
    folder.change("2026-07-01 00:00 AoE", "soon")
    code, out, err = evergold("plan")
    assert (code, out) == (Code.ERROR, "")
    assert "phases.yaml:34" in err


def test_set_history_and_undo(evergold: Evergold) -> None:
    assert evergold("set", "demo", f"{END}={LATER}", "--preview")[1].splitlines()[0] == MOVED
    code, out, _ = evergold("set", "demo", f"{END}={LATER}", "phases.evaluation.entry=", "--note", "One more week")
    assert (code, out.splitlines()[0], out.splitlines()[-1]) == (0, MOVED, "This is revision 2 of 'demo'.")
    lines = evergold("history", "demo")[1].splitlines()
    assert lines[1].split("\t")[2:4] == ["command line (root)", "edit"]
    assert lines[1].split("\t")[4].startswith("One more week: changed")
    assert [line.split("\t")[0] for line in lines[1:]] == ["2", "1"]
    assert json.loads(evergold("undo", "demo", "--to", 1, "--json")[1])["revision"] == 3
    assert [one["source"] for one in json.loads(evergold("history", "demo", "--json")[1])["revisions"]] == [
        "undo",
        "edit",
        "file",
    ]


def test_set_tells_every_fault_and_changes_nothing(evergold: Evergold) -> None:
    code, _, err = evergold("set", "demo", f"{END}=soon", "phases.evaluation.tasks.detection.gold=x", "title=")
    assert code == Code.ERROR
    for part in (f"{END}: ", "gold: This cannot be edited here", "title: This is needed."):
        assert part in err
    assert evergold("set", "demo", "title")[0] == Code.USAGE
    assert evergold("set", "nothing", "title=x")[0] == Code.ERROR


def test_apply_asks_about_a_conflict_until_a_side_is_chosen(evergold: Evergold, folder: Folder) -> None:
    evergold("set", "demo", f"{END}={LATER}", "summary=Edited")
    folder.change("2026-07-01 00:00 AoE", EVEN_LATER)
    for command in ("plan", "apply"):
        code, out, err = evergold(command)
        assert code == (2 if command == "plan" else Code.REFUSED)
        assert "left alone: 'demo' was edited since its file was last applied, by command line (root)" in out
        assert f"{END} is '{EVEN_LATER}' in the file, '{LATER}' on the server; it was '2026-07-01 00:00 AoE'" in out
        assert "`evergold apply --conflicts file`" in out
    assert "--overwrite-edits" in err
    assert evergold("apply", "--overwrite-edits", "--conflicts", "file")[0] == Code.USAGE
    assert evergold("plan", "--conflicts", "server")[1].splitlines()[0].startswith("kept edits: 'demo'")
    code, out, _ = evergold("apply", "--conflicts", "file")
    assert (code, out.splitlines()[-1]) == (0, "1 change.")
    assert evergold("plan")[0] == 0
    code, out, _ = evergold("apply", "--overwrite-edits")
    assert (code, out.splitlines()[0].partition(":")[0]) == (0, "overwrote edits")
    assert evergold("apply") == (0, "Nothing to change.\n", "")


def test_export_lands_where_include_reads_it_and_brings_edits_into_a_file(evergold: Evergold, folder: Folder) -> None:
    """The demo moves into a folder of its own, is exported into its place, and is updated there."""
    home = folder.folder / "competitions/demo"
    folder.write("phases.yaml", 'version: 1\ninclude: ["more/*.yaml", "competitions/*/competition.yaml"]\n')
    written = evergold("export", "yaml", "demo")[1].splitlines()
    assert written[-3] == "wrote competitions/demo/competition.yaml"
    code, out, _ = evergold("plan")
    assert (code, out.splitlines()[0]) == (0, "Nothing to change.")
    evergold("set", "demo", f"{END}={LATER}", "summary=Edited")
    folder.change("title: Practice", "title: Mine", "competitions/demo/competition.yaml")
    code, _, err = evergold("export", "yaml", "demo", "--update")
    assert (code, "changes that are not applied" in err) == (Code.ERROR, True)
    assert evergold("apply")[0] == 0
    out = evergold("export", "yaml", "demo", "--update")[1]
    assert "wrote competitions/demo/competition.yaml" in out
    assert sorted(path.name for path in home.glob("*.before")) == ["competition.yaml.before"]
    text = (home / "competition.yaml").read_text("utf-8")
    assert all(one in text for one in (f"end: {LATER}", "Mine", "summary: Edited"))
    assert "Mine" in (home / "competition.yaml.before").read_text("utf-8")
    code, out, _ = evergold("plan")
    assert (code, out.splitlines()[0]) == (0, "Nothing to change.")
    assert evergold("export", "yaml", "demo")[1].splitlines()[-3] == "wrote demo/competition.yaml"  # its place is taken


def test_export_updates_no_file_that_declares_more(evergold: Evergold) -> None:
    code, _, err = evergold("export", "yaml", "demo", "--update")
    assert (code, "declares more than 'demo'" in err) == (Code.ERROR, True)
    assert evergold("export", "yaml", "demo", "--update", "--into", "x")[0] == Code.USAGE


def test_what_is_exported_says_what_was_edited(evergold: Evergold, folder: Folder) -> None:
    evergold("set", "demo", f"{END}={LATER}")
    code, out, _ = evergold("export", "yaml", "demo", "--into", "home")
    assert (code, out.splitlines()[-3]) == (0, "wrote home/competition.yaml")
    code, out, _ = evergold("plan", "home/competition.yaml")
    assert (code, out.splitlines()[0]) == (0, "Nothing to change.")
    assert evergold("apply", "--phases", "home/competition.yaml")[0] == 0
    folder.write("more.txt", "")
    assert evergold("export", "yaml", "demo", "--into", "home")[0] == Code.ERROR
    add_revision_of_another(get_settings().database_address)
    evergold("set", "demo", "summary=Edited")
    code, out, _ = evergold("export", "yaml", "demo", "--into", "fourth", "--json")
    assert (code, json.loads(out)["revision"]) == (0, 4), "its number, whatever other competitions have"
    assert evergold("export", "yaml", "demo", "--into", "fourth-again")[1].splitlines()[-1].startswith("Revision 4 of ")
    assert evergold("export", "yaml", "demo", "--into", "first", "--revision", 1)[0] == 0
    assert "2026-07-01 00:00 AoE" in (folder.folder / "first/competition.yaml").read_text("utf-8")


def add_revision_of_another(address: str) -> None:
    """Rows are numbered over all competitions, revisions in each."""
    with writing(get_engine(address)) as session:
        other = Competition(name="other", title="Other", position=9, created_at=NOW)
        session.add(other)
        session.flush()
        for number in (1, 2):
            session.add(
                Revision(
                    competition_id=other.id, number=number, source=RevisionSource.EDIT, made_at=NOW, author="Nina",
                    document={}, fingerprint="0" * 64, changes=[],
                )
            )  # fmt: skip


def test_a_server_that_starts_leaves_edits_and_says_so(evergold: Evergold, folder: Folder) -> None:
    """Check what `evergold serve` prepares, and shows before anything else."""
    evergold("set", "demo", "title=A demo")
    folder.change('title: "Demo"', 'title: "From the file"')
    document = prepare._prepare(with_demo=False)
    (edits,) = document["edits"]
    assert edits.startswith("left alone: 'demo' was edited since its file was last applied")
    assert "title is 'From the file' in the file, 'A demo' on the server" in edits
    assert document["changes"] == []
    assert json.loads(evergold("set", "demo", "title=A demo", "--json")[1])["changes"] == []
