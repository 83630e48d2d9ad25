"""`evergold check`, `apply`, `import`, `migrate`: the commands for organisers, on a database of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.cli.declare import _sealed_here
from evergold.cli import run
from evergold.cli.output import Code
from tests import official_shapes
from tests.declarations.competition_folder import GOLD, make_competition
from tests.processes import REPOSITORY
from tests.rich_rows import add_gold
from tests.world import COMPETITION, NOW, PHASE, TASK, add_competition

Evergold = Callable[..., tuple[int, str, str]]

EMPTY = 'version: 1\ninclude: ["competitions/*/competition.yaml"]\n'
IMPORTED = "competitions/semeval2022-task2/competition.yaml"


@pytest.fixture
def evergold(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergold:
    """`evergold …` in an empty folder; exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVERGOLD_DATA_DIR")

    def evergold(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return evergold


def test_check_of_the_repository_s_own_file_finds_nothing(evergold: Evergold) -> None:
    code, out, _ = evergold("check", "--phases", REPOSITORY / "phases.yaml")
    lines = [line for line in out.splitlines() if not line.startswith(("public now: ", "gold that scores reveal: "))]
    assert (code, lines) == (Code.OK, [f"{REPOSITORY / 'phases.yaml'}: 0 errors, 0 warnings."])


def test_gold_that_a_server_elsewhere_has_is_known_to_be_there(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Check that the settings name its database, which need not be in the data folder."""
    monkeypatch.setenv("EVERGOLD_DATA_DIR", str(tmp_path / "empty"))
    get_settings.cache_clear()
    assert _sealed_here() == set()
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()
    add_competition(sqlite_engine)
    add_gold(sqlite_engine, COMPETITION, PHASE, TASK, NOW)
    assert _sealed_here() == {(COMPETITION, PHASE, TASK)}


def test_check_lists_everything_by_line(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "phases.yaml").write_text("version: 2\ncompetition: []\n")
    code, out, _ = evergold("check")
    assert code == Code.ERROR
    lines = out.splitlines()
    assert [line.partition(": error: ")[0] for line in lines[:2]] == ["phases.yaml:1:1", "phases.yaml:2:1"]
    assert lines[-1] == "phases.yaml: 2 errors, 0 warnings."


def test_check_as_json_names_file_and_line(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "phases.yaml").write_text("version: 2\n")
    code, out, _ = evergold("check", "--json")
    document = json.loads(out)
    assert (code, document["errors"]) == (Code.ERROR, 1)
    assert (document["findings"][0]["line"], document["findings"][0]["severity"]) == (1, "error")


def test_a_limit_above_the_server_s_own_is_said_by_check_and_by_apply(
    evergold: Evergold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check 256 MiB declared, and 70 MB refused: nobody should learn that from a team."""
    monkeypatch.setenv("EVERGOLD_UPLOAD_LIMIT_BYTES", str(64 * 1024 * 1024))
    make_competition(tmp_path).change("per_day: 5", "upload_bytes: 268435456, per_day: 5")
    words = "but this server takes no upload above 64 MiB: raise EVERGOLD_UPLOAD_LIMIT_BYTES, or declare a lower limit"
    _, out, _ = evergold("check", "--phases", tmp_path / "phases.yaml")
    assert f"phases.yaml:26:18: warning: upload_bytes is 256 MiB, {words}" in out
    _, out, _ = evergold("apply", "--migrate", "--phases", tmp_path / "phases.yaml", "--data-dir", tmp_path / "var")
    assert "declares uploads of 256 MiB, but this server takes none above 64 MiB" in out


def test_so_is_the_limit_of_a_task_above_that_of_its_phase(
    evergold: Evergold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGOLD_UPLOAD_LIMIT_BYTES", str(64 * 1024 * 1024))
    gold = "gold: demo/practice.csv"
    make_competition(tmp_path).change(gold, f"{gold}\n            limits: {{upload_bytes: 134217728}}")
    _, out, _ = evergold("apply", "--migrate", "--phases", tmp_path / "phases.yaml", "--data-dir", tmp_path / "var")
    assert "phase 'practice' of 'demo' declares uploads of 128 MiB, but this server takes none above 64 MiB" in out


def test_check_says_what_is_public_now(evergold: Evergold, tmp_path: Path) -> None:
    """The practice phase and the evaluation have begun by now; a phase of the far future has not."""
    folder = make_competition(tmp_path)
    folder.change('start: "2026-05-01 00:00 UTC"\n        end: "2026-07-01 00:00 AoE"', 'start: "2999-05-01 00:00 UTC"')
    _, out, _ = evergold("check", "--phases", folder.phases)
    public = [line for line in out.splitlines() if line.startswith("public now: ")]
    assert public == ["public now: demo/practice/detection: practice.csv (participants)"]
    folder.change("            items: items.csv\n", "            items: items.csv\n            items_from: now\n")
    _, out, _ = evergold("check", "--phases", folder.phases, "--json")
    early = [file for file in json.loads(out)["public_now"] if file["is_early"]]
    assert [(file["phase"], file["name"], file["audience"]) for file in early] == [
        ("evaluation", "items.csv", "participants")
    ]


def test_check_says_what_scores_tell_of_hidden_gold(evergold: Evergold, tmp_path: Path) -> None:
    """Check three items of two labels: a score shows how many are right, four values or two bits; ten submissions
    reveal all.
    """
    folder = make_competition(tmp_path)
    folder.write("gold/demo/practice.csv", GOLD)
    gold = ("--gold", tmp_path / "gold")
    _, out, _ = evergold("check", "--phases", folder.phases, *gold)
    told = next(
        line for line in out.splitlines() if line.startswith("gold that scores reveal: demo/practice/detection")
    )
    assert "3 items with 3 bits; a submission reveals at most 2.0 bits (1 score, 4 decimals)" in told
    assert "a team may submit 10 times: one team can infer" in told
    assert "one team can infer up to 100 % of the gold, 10 teams up to 100 % (warning: readable)" in told
    assert "Better: private_part: {share: 0.5, …} (nothing)" in told
    _, out, _ = evergold("check", "--phases", folder.phases, *gold, "--json")
    (first, second) = json.loads(out)["leaks"]
    assert (first["phase"], first["items"], first["gold_bits"], first["level"]) == ("practice", 3, 2.8, "warning")
    assert (second["phase"], second["is_measured"], second["submissions"]) == ("evaluation", False, 50)


def test_plan_says_what_scores_would_tell(evergold: Evergold, tmp_path: Path) -> None:
    folder = make_competition(tmp_path)
    place = ("--phases", folder.phases, "--data-dir", tmp_path / "var")
    evergold("apply", "--migrate", *place)
    _, out, _ = evergold("plan", folder.phases, "--data-dir", tmp_path / "var")
    assert "gold that scores reveal: demo/evaluation/detection: 3 items taken as 3 bits" in out
    _, out, _ = evergold("plan", folder.phases, "--data-dir", tmp_path / "var", "--json")
    assert [leak["task"] for leak in json.loads(out)["leaks"]] == ["detection", "detection"]
    folder.change(
        "            gold: demo/practice.csv\n",
        "            gold: demo/practice.csv\n            gold_is_public: true\n",
    )
    _, out, _ = evergold("check", "--phases", folder.phases)
    assert "gold that scores reveal: demo/practice" not in out, "everybody has it"


@pytest.mark.parametrize(
    "command", ["export yaml demo", "audit", "climbers demo", "role list demo", "row list demo/evaluation/detection"]
)
def test_a_database_that_is_not_there_is_said_in_one_line_by_every_command(evergold: Evergold, command: str) -> None:
    code, out, err = evergold(*command.split())
    assert (code, out) == (Code.ERROR, "")
    assert err.startswith("Error: The database (SQLite, ")
    assert err.endswith("cannot be used: unable to open database file.\n")


def test_check_without_a_file_says_which_is_missing(evergold: Evergold) -> None:
    code, out, _ = evergold("check")
    assert code == Code.ERROR
    assert "phases.yaml cannot be read: No such file or directory" in out


def test_apply_migrates_when_asked_and_is_idempotent(evergold: Evergold) -> None:
    arguments = ("apply", "--migrate", "--phases", REPOSITORY / "phases.yaml")
    code, out, err = evergold(*arguments)
    assert code == Code.OK
    assert err.startswith("revision 0001: The tables of Evergold 0.1.0")
    assert err.endswith("\nThe database was migrated.\n")
    assert out.splitlines()[0] == "added competition 'demo'"
    assert evergold(*arguments) == (Code.OK, "Nothing to change.\n", "")


def test_apply_as_json_lists_the_changes(evergold: Evergold) -> None:
    _, out, _ = evergold("apply", "--migrate", "--phases", REPOSITORY / "phases.yaml", "--json")
    assert json.loads(out)["changes"][0] == {"message": "added competition 'demo'", "counts": True}


def test_apply_changes_nothing_when_there_are_errors(evergold: Evergold, tmp_path: Path) -> None:
    evergold("migrate")
    (tmp_path / "phases.yaml").write_text("version: 1\ncompetitions: [{}]\n")
    code, out, err = evergold("apply")
    assert (code, out) == (Code.ERROR, "")
    assert "phases.yaml:2:16" in err


def test_apply_without_tables_says_so_in_one_line(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    code, _, err = evergold("apply", "--phases", REPOSITORY / "phases.yaml")
    assert code == Code.ERROR
    assert len(err.splitlines()) == 1
    assert "evergold migrate" in err


def test_migrate_says_whether_there_was_something_to_do(evergold: Evergold) -> None:
    code, out, err = evergold("migrate")
    assert (code, err) == (Code.OK, "")
    *revisions, last = out.splitlines()
    assert [line.partition(":")[0] for line in revisions][:2] == ["revision 0001", "revision 0002"]
    assert last == "The database was migrated."
    assert evergold("migrate") == (Code.OK, "The database is up to date.\n", "")
    assert json.loads(evergold("migrate", "--json")[1]) == {"changed": False, "revisions": []}


def test_settings_come_from_the_folder_s_env_file(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("EVERGOLD_DATA_DIR=elsewhere\nEVERGOLD_PHASES_FILE=mine.yaml\n")
    (tmp_path / "mine.yaml").write_text("version: 1\n")
    assert evergold("apply", "--migrate")[0] == Code.OK
    assert (tmp_path / "elsewhere/evergold.db").exists()
    assert not (tmp_path / "var").exists()


def test_unknown_queue_is_wrong_usage(evergold: Evergold) -> None:
    code, _, err = evergold("worker", "--queues", "tpu")
    assert (code, err) == (Code.USAGE, "Error: --queues is auto, cpu or gpu.\n")


# ------------------------------------------------------------------------------------------------------------ import


def test_import_writes_checks_and_applies(evergold: Evergold, tmp_path: Path) -> None:
    source = official_shapes.semeval2022(tmp_path / "checkout")
    (tmp_path / "phases.yaml").write_text(EMPTY)
    code, out, _ = evergold("import", "semeval2022", source)
    assert code == Code.OK
    assert "added competition 'semeval2022-task2'" in out
    assert (tmp_path / "var/gold/semeval2022-task2/dev/idiom-detection.csv").is_file()
    assert "evergold apply" in out  # what to do once there is gold
    assert evergold("apply")[1].splitlines()[-1] == "Nothing to change."


def test_import_without_apply_leaves_the_database_alone(evergold: Evergold, tmp_path: Path) -> None:
    source = official_shapes.semeval2022(tmp_path / "checkout")
    (tmp_path / "phases.yaml").write_text(EMPTY)
    gold = tmp_path / "secret"
    code, out, _ = evergold("import", "semeval2022", source, "--no-apply", "--gold-dir", gold)
    assert code == Code.OK
    assert "`evergold check`, then `evergold apply`" in out
    assert not (tmp_path / "var").exists()
    assert (gold / "semeval2022-task2/dev/idiom-detection.csv").is_file()


def test_import_that_phases_do_not_include_is_said(evergold: Evergold, tmp_path: Path) -> None:
    source = official_shapes.semeval2022(tmp_path / "checkout")
    (tmp_path / "phases.yaml").write_text("version: 1\n")
    code, _, err = evergold("import", "semeval2022", source)
    assert code == Code.ERROR
    assert "phases.yaml does not include the competition" in err


def test_import_never_overwrites(evergold: Evergold, tmp_path: Path) -> None:
    source = official_shapes.semeval2022(tmp_path / "checkout")
    (tmp_path / IMPORTED).parent.mkdir(parents=True)
    (tmp_path / IMPORTED).write_text("# mine\n")
    code, _, err = evergold("import", "semeval2022", source)
    assert code == Code.ERROR
    assert f"{IMPORTED}: this file exists already" in err
    assert (tmp_path / IMPORTED).read_text() == "# mine\n"


def test_import_from_another_folder_says_what_it_looked_for(evergold: Evergold, tmp_path: Path) -> None:
    code, _, err = evergold("import", "semeval2022", tmp_path)
    assert code == Code.ERROR
    assert "SubTaskA/Data/dev.csv" in err


def test_new_competitions_of_the_file_begin_as_drafts_where_that_is_asked_for(
    evergold: Evergold, tmp_path: Path
) -> None:
    make_competition(tmp_path)
    place = ("--phases", tmp_path / "phases.yaml", "--data-dir", tmp_path / "var")
    shown = ("life", "show", "demo", "--json", "--data-dir", tmp_path / "var")
    code, out, _ = evergold("apply", "--migrate", "--draft", *place)
    assert (code, "added competition 'demo', as a draft" in out) == (Code.OK, True)
    assert json.loads(evergold(*shown)[1])["stage"] == "draft"
    assert evergold("apply", *place)[:2] == (Code.OK, "Nothing to change.\n"), "the file publishes nothing"
    evergold("life", "set", "demo", "--stage", "published", "--data-dir", tmp_path / "var")
    evergold("apply", "--draft", *place)
    assert json.loads(evergold(*shown)[1])["stage"] == "published", "and hides nothing"
