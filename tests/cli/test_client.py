"""The commands for teams against a real server: web process, worker and broker as they run in life, with the demo."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evergold import scoring
from evergold.cli import run
from evergold.cli.output import Code
from evergold.client import Client, Submission, credentials, http
from tests import services
from tests.cli.flaky_proxy import flaky_proxy
from tests.processes import REPOSITORY, START_SECONDS, kill, short_folder, start, stop

pytestmark = pytest.mark.services

DEMO = REPOSITORY / "demo"
MAGPIE = DEMO / "submissions/practice/idiom-detection/magpie.csv"
PRACTICE = "demo/practice/idiom-detection"
PASSWORD = "correct horse battery"


@dataclass
class Answer:
    """The result of a command line: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        document: dict[str, object] = json.loads(self.out)
        return document


Evergold = Callable[..., Answer]


@dataclass
class Server:
    address: str
    gold: Path


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Prepared with the demo, as `evergold serve --demo` does it."""
    with short_folder() as folder, services.valkey() as broker:
        environment = services.environment_of(
            data_dir=folder / "var",
            gold_dir=folder / "gold",
            phases_file=REPOSITORY / "phases.yaml",
            broker_url=broker.address,
        )
        prepare = start(
            "prepare", [sys.executable, "-m", "app.server.prepare", folder / "report", "--demo"], folder, environment
        )
        assert prepare.process.wait(START_SECONDS) == 0, prepare.said()
        kill(prepare)
        web, address = services.start_web(folder, environment)
        worker = services.start_worker(folder, environment)
        try:
            yield Server(address, folder / "gold")
        finally:
            stop(worker)
            stop(web)


@pytest.fixture(autouse=True)
def _own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without a log-in, and with short waits."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(http, "PATIENT", (0.01,) * 5)
    monkeypatch.setattr(http, "BRIEF", (0.01,) * 2)


@pytest.fixture
def evergold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Evergold:
    """`evergold …` in this process, with something to read on stdin."""

    def evergold(*arguments: object, stdin: str = "") -> Answer:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Answer(code, captured.out, captured.err)

    return evergold


@pytest.fixture
def ada(server: Server, evergold: Evergold, request: pytest.FixtureRequest) -> str:
    """A new account, logged in; its name."""
    username = f"ada-{abs(hash(request.node.name)) % 10**8}"
    answer = evergold(
        *("register", "--server", server.address, "--username", username, "--email", f"{username}@example.org"),
        "--password-stdin",
        stdin=f"{PASSWORD}\n",
    )
    assert answer.code == Code.OK, answer.err
    return username


# ----------------------------------------------------------------------------------------------------------- account


def test_register_logs_in_and_keeps_the_token_for_its_owner_alone(ada: str, server: Server) -> None:
    stored = credentials.load()
    assert stored
    assert (stored.server, stored.username) == (server.address, ada)
    assert stored.token.startswith("evg_")
    assert stat.S_IMODE(credentials.credentials_path().stat().st_mode) == 0o600


def test_login_replaces_the_stored_token(ada: str, server: Server, evergold: Evergold) -> None:
    first = credentials.load()
    answer = evergold("login", "--username", ada, "--password-stdin", "--json", stdin=f"{PASSWORD}\n")
    assert answer.json["username"] == ada
    second = credentials.load()
    assert first
    assert second
    assert first.token != second.token


def test_wrong_password_is_said_and_nothing_is_stored(server: Server, evergold: Evergold) -> None:
    answer = evergold(
        "login", "--server", server.address, "--username", "magpie", "--password-stdin", stdin="not the password\n"
    )
    assert answer.code == Code.ERROR
    assert "wrong password" in answer.err
    assert credentials.load() is None


def test_refused_registration_names_each_field(server: Server, evergold: Evergold) -> None:
    answer = evergold(
        *("register", "--server", server.address, "--username", "x", "--email", "nowhere", "--password-stdin"),
        stdin="short\n",
    )
    assert answer.code == Code.ERROR
    assert all(f"{name}: " in answer.err for name in ("username", "email", "password"))


def test_token_from_the_account_page_logs_in(ada: str, server: Server, evergold: Evergold) -> None:
    stored = credentials.load()
    assert stored
    credentials.forget()
    answer = evergold("login", "--server", server.address, "--token-stdin", "--json", stdin=f"{stored.token}\n")
    assert answer.json["username"] == ada


def test_logout_revokes_the_token(
    ada: str, server: Server, evergold: Evergold, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = credentials.load()
    assert stored
    assert evergold("logout").code == Code.OK
    assert credentials.load() is None
    monkeypatch.setenv("EVERGOLD_TOKEN", stored.token)
    answer = evergold("status", "--server", server.address)
    assert answer.code == Code.ERROR
    assert "evergold login" in answer.err


def test_stored_token_is_not_sent_to_another_server(ada: str, server: Server, evergold: Evergold) -> None:
    other = server.address.replace("127.0.0.1", "localhost")
    for command in (("submit", MAGPIE, "--to", PRACTICE), ("submissions",), ("withdraw", "abc", "--yes")):
        answer = evergold(*command, "--server", other)
        assert (answer.code, answer.err) == (
            Code.ERROR,
            f"Error: You are not logged in to {other}: `evergold login`.\n",
        ), command


def test_environment_comes_before_what_is_stored(
    ada: str, server: Server, evergold: Evergold, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = credentials.load()
    assert stored
    credentials.forget()
    monkeypatch.setenv("EVERGOLD_SERVER", f"{server.address}/")
    monkeypatch.setenv("EVERGOLD_TOKEN", stored.token)
    assert evergold("status", "--json").json == {"submissions": []}


# ------------------------------------------------------------------------------------------------------------ submit


def test_scored_file_shows_the_scores_that_scoring_gives_at_home(ada: str, evergold: Evergold) -> None:
    answer = evergold("submit", MAGPIE, "--to", PRACTICE, "--system", "Crow", "--method", "Birds", "--json")
    assert answer.code == Code.OK
    submission = answer.json
    assert [submission[name] for name in ("status", "system", "method")] == ["scored", "Crow", "Birds"]
    gold = DEMO / "gold/practice/idiom-detection.csv"
    at_home = {
        (score.metric, score.split): score.value
        for score in scoring.score("idiom-detection", gold, MAGPIE, {"languages": ["en", "pt", "gl"]})
    }
    on_server = {(score["metric"], score["split"]): score["value"] for score in submission["scores"]}  # type: ignore[attr-defined]
    assert on_server
    assert on_server == {key: at_home[key] for key in on_server}


def test_scores_are_lines_with_tabs_away_from_a_terminal(ada: str, evergold: Evergold) -> None:
    answer = evergold("submit", MAGPIE, "--to", PRACTICE)
    lines = [line.split("\t") for line in answer.out.splitlines()]
    assert ["Metric", "Split", "Value"] in lines
    scores = {line[1]: float(line[2]) for line in lines if line[0] == "macro_f1"}
    assert {"zero-shot · all", "one-shot · English"} <= set(scores)
    assert all(0 <= value <= 1 for value in scores.values())


def test_rejected_file_leaves_with_2_and_its_problems_by_line(ada: str, evergold: Evergold) -> None:
    answer = evergold("submit", DEMO / "broken/duplicate-id.csv", "--to", PRACTICE)
    assert answer.code == Code.REJECTED
    assert "uses none of your quota" in answer.out
    assert any(line.startswith("line ") and "first on line" in line for line in answer.out.splitlines())


def test_phase_that_is_not_open_is_refused_with_3(ada: str, evergold: Evergold) -> None:
    answer = evergold("submit", MAGPIE, "--to", "demo/post-evaluation/idiom-detection")
    assert answer.code == Code.REFUSED
    assert re.search(r"opens \w{3} \d+ \w{3} \d{4}, \d\d:00 AoE", answer.err)


def test_refusal_is_json_where_json_was_asked_for(ada: str, evergold: Evergold) -> None:
    answer = evergold("submit", MAGPIE, "--to", "demo/post-evaluation/idiom-detection", "--json")
    assert answer.code == Code.REFUSED
    assert answer.json["error"]["code"] == "phase_not_open"  # type: ignore[index]


def test_eleventh_of_ten_is_refused_with_3(ada: str, evergold: Evergold) -> None:
    file = DEMO / "submissions/evaluation/idiom-detection/magpie.csv"
    codes = [
        evergold("submit", file, "--to", "demo/evaluation/idiom-detection", "--no-wait", "--json").code
        for _ in range(11)
    ]
    assert codes == [Code.OK] * 10 + [Code.REFUSED]


def test_failed_scoring_leaves_with_4(ada: str, server: Server, evergold: Evergold) -> None:
    gold = server.gold / "demo/practice/idiom-similarity.csv"
    whole = gold.read_bytes()
    gold.write_text("this is no gold\n")
    try:
        file = DEMO / "submissions/practice/idiom-similarity/magpie.csv"
        answer = evergold("submit", file, "--to", "demo/practice/idiom-similarity")
    finally:
        gold.write_bytes(whole)
    assert answer.code == Code.FAILED
    assert "not your fault" in answer.out
    assert "gold" not in answer.out  # why it failed is for organisers


def test_unknown_task_is_an_error_that_names_what_there_is(ada: str, evergold: Evergold) -> None:
    answer = evergold("submit", MAGPIE, "--to", "demo/practice/idiom-detectoin")
    assert answer.code == Code.ERROR
    assert "'idiom-detection'" in answer.err


def test_empty_file_is_an_error(ada: str, evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    answer = evergold("submit", tmp_path / "empty.csv", "--to", PRACTICE)
    assert answer.code == Code.ERROR
    assert "empty" in answer.err


def test_without_login_submit_says_how_to_log_in(server: Server, evergold: Evergold) -> None:
    answer = evergold("submit", MAGPIE, "--to", PRACTICE, "--server", server.address)
    assert answer.code == Code.ERROR
    assert "evergold login" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("submit", MAGPIE, "--to", "demo/practice"),
        ("submit", MAGPIE),
        ("submit", "no-such-file.csv", "--to", PRACTICE),
        ("submit", MAGPIE, "--to", PRACTICE, "--wat"),
        ("board", "zero-shot"),
        ("competitions", "--server", "scores.example.org"),
        ("frobnicate",),
    ],
)
def test_wrong_usage_has_an_exit_code_of_its_own(arguments: tuple[object, ...], evergold: Evergold) -> None:
    answer = evergold(*arguments)
    assert answer.code == Code.USAGE
    assert answer.err.startswith("Error: ")


# ----------------------------------------------------------------------------------------------------------- network


def count_mine(evergold: Evergold) -> int:
    submissions = evergold("status", "--json").json["submissions"]
    assert isinstance(submissions, list)
    return len(submissions)


def test_upload_over_a_bad_network_arrives_and_counts_once(
    ada: str, server: Server, evergold: Evergold, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = credentials.load()
    assert stored
    monkeypatch.setenv("EVERGOLD_TOKEN", stored.token)
    with flaky_proxy(server.address, ["refuse", "lose-answer", "bad-gateway"]) as proxy:
        answer = evergold("submit", MAGPIE, "--to", PRACTICE, "--server", proxy.address)
    assert answer.code == Code.OK, answer.err
    assert proxy.met[:4] == ["refuse", "lose-answer", "bad-gateway", "pass"]
    assert answer.err.count("trying again") == 3
    monkeypatch.delenv("EVERGOLD_TOKEN")
    assert count_mine(evergold) == 1


def test_waiting_survives_a_lost_connection(ada: str, server: Server, evergold: Evergold) -> None:
    accepted = evergold("submit", MAGPIE, "--to", PRACTICE, "--no-wait", "--json").json
    stored = credentials.load()
    assert stored
    with (
        flaky_proxy(server.address, ["refuse", "lose-answer", "bad-gateway"]) as proxy,
        Client(proxy.address, stored.token) as client,
    ):
        ended = client.wait_for(Submission.of({**accepted, "status": "queued"}, client.server))
    assert ended.status == "scored"
    assert proxy.met == ["refuse", "lose-answer", "bad-gateway", "pass"]


def test_same_key_is_the_same_submission(ada: str, evergold: Evergold) -> None:
    first, second = (
        evergold("submit", MAGPIE, "--to", PRACTICE, "--idempotency-key", "run-17", "--json").json for _ in range(2)
    )
    assert first["id"] == second["id"]
    assert count_mine(evergold) == 1


def test_server_that_cannot_be_reached_is_5(evergold: Evergold, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"http://127.0.0.1:{services.free_port()}"
    monkeypatch.setenv("EVERGOLD_TOKEN", "evg_x")
    for arguments in (["competitions"], ["submit", MAGPIE, "--to", PRACTICE], ["status"]):
        answer = evergold(*arguments, "--server", address)
        assert answer.code == Code.NETWORK
        assert answer.err.splitlines()[-1].startswith(f"Error: Cannot reach {address}: ")


def test_another_kind_of_server_is_told_apart(evergold: Evergold, server: Server) -> None:
    answer = evergold("competitions", "--server", f"{server.address}/somewhere/else")
    assert answer.code == Code.ERROR
    assert "404" in answer.err or "no page at this address" in answer.err


# ----------------------------------------------------------------------------------------------------------- looking


def test_competitions_lists_what_to_and_board_understand(server: Server, evergold: Evergold) -> None:
    answer = evergold("competitions", "--server", server.address)
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in answer.out.splitlines()}
    assert rows["demo/practice"][:2] == ["open", "idiom-detection, idiom-similarity, idiom-paraphrase"]
    assert rows["demo/post-evaluation"][0] == "upcoming"
    assert "zero-shot" in rows["demo/practice"][2]


def test_board_ranks_teams_and_not_baselines(server: Server, evergold: Evergold) -> None:
    answer = evergold("board", "demo/evaluation/zero-shot", "--server", server.address)
    rows = [line.split("\t") for line in answer.out.splitlines()[1:]]
    assert rows[0][:3] == ["Rank", "Team", "Macro F1 · All"]
    ranked = [row for row in rows[1:] if row[0]]
    assert {"Magpie", "Saudade Lab"} <= {row[1] for row in ranked}
    assert [row[1] for row in rows[1:] if not row[0]] == ["Majority class (baseline)"]
    values = [float(row[2]) for row in ranked]
    assert values == sorted(values, reverse=True)
    names = [row[1] for row in ranked[:2]]
    both = evergold(*comparison_of(server, names)).out.splitlines()
    assert both[0] == f"demo/evaluation/zero-shot: {names[0]} and {names[1]}, ranks 1 and 2"
    shown = next(line.split("\t") for line in both if line.startswith("Macro F1\tzero-shot · all"))
    assert float(shown[4]) == pytest.approx(values[0] - values[1], abs=2e-4)
    assert evergold(*comparison_of(server, names), "--csv").code == Code.USAGE
    assert evergold(*comparison_of(server, names[:1] * 2)).code == Code.USAGE
    assert "no scores of 'Nobody'" in evergold(*comparison_of(server, ["Nobody"])).err


def comparison_of(server: Server, teams: list[str]) -> list[str]:
    """Return the command that compares these two."""
    asked = [part for one in teams for part in ("--compare", one)]
    return ["board", "demo/evaluation/zero-shot", "--server", server.address, *asked]


def test_board_as_csv_has_full_precision(server: Server, evergold: Evergold) -> None:
    document = evergold("board", "demo/evaluation/zero-shot", "--server", server.address, "--json").json
    answer = evergold("board", "demo/evaluation/zero-shot", "--server", server.address, "--csv")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    in_csv = [float(row["macro_f1 zero_shot/all"]) for row in rows]
    assert in_csv == [row["cells"][0]["value"] for row in document["rows"]]  # type: ignore[attr-defined]


def test_board_as_a_table_for_a_paper(server: Server, evergold: Evergold) -> None:
    board = ("board", "demo/evaluation/zero-shot", "--server", server.address)
    answer = evergold(*board, "--table", "latex", "--column", "macro_f1 zero_shot/all", "--decimals", "1")
    assert r"\begin{tabular}{llr}" in answer.out
    assert r"\textbf{" in answer.out
    assert evergold(*board, "--table", "markdown").out.startswith("| \\# | Team |")
    assert evergold(*board, "--decimals", "1").code == Code.USAGE
    assert evergold(*board, "--table", "word").code == Code.ERROR


def test_competition_can_be_cited(server: Server, evergold: Evergold) -> None:
    assert evergold("cite", "demo", "--server", server.address).out.startswith("@misc{demo,")
    nothing_frozen = evergold("cite", "demo/practice/zero-shot", "--server", server.address)
    assert nothing_frozen.code == Code.ERROR


def test_status_of_a_submission_leaves_with_its_code(ada: str, evergold: Evergold) -> None:
    rejected = evergold("submit", DEMO / "broken/duplicate-id.csv", "--to", PRACTICE, "--json").json
    assert evergold("status", rejected["id"]).code == Code.REJECTED
    listed = [line.split("\t") for line in evergold("status").out.splitlines()]
    assert listed[1][0] == rejected["id"]
    assert listed[1][2:4] == [PRACTICE, "rejected"]


def test_submission_of_others_is_unknown(ada: str, server: Server, evergold: Evergold) -> None:
    mine = evergold("submit", MAGPIE, "--to", PRACTICE, "--json").json
    evergold("login", "--username", "magpie", "--password-stdin", stdin="magpie-demo\n")
    answer = evergold("status", mine["id"])
    assert answer.code == Code.ERROR
    assert "not yours" in answer.err


# ---------------------------------------------------------------------------------------------------------- validate


def test_validate_needs_neither_server_nor_gold(evergold: Evergold) -> None:
    items = DEMO / "public/practice/idiom-detection/items.csv"
    options = ("--option", "languages=en,pt,gl")
    good = evergold("validate", MAGPIE, "--task", "idiom-detection", "--items", items, *options)
    assert (good.code, good.out) == (Code.OK, "The file can be scored.\n")
    bad = evergold("validate", DEMO / "broken/float-label.csv", "--task", "idiom-detection", "--items", items, *options)
    assert bad.code == Code.REJECTED
    assert bad.out.startswith("line 2, column Label: ")


def test_validate_gives_the_server_s_problems_as_json(ada: str, evergold: Evergold) -> None:
    file = DEMO / "broken/half-filled-setting.csv"
    items = DEMO / "public/practice/idiom-detection/items.csv"
    options = ("--option", 'languages=["en", "pt", "gl"]')
    at_home = evergold("validate", file, "--task", "idiom-detection", "--items", items, *options, "--json")
    on_server = evergold("submit", file, "--to", PRACTICE, "--json")
    assert at_home.code == on_server.code == Code.REJECTED
    assert at_home.json["problems"] == on_server.json["problems"]


def test_validate_names_the_task_types_it_knows(evergold: Evergold) -> None:
    answer = evergold("validate", MAGPIE, "--task", "idiom-detektion", "--items", MAGPIE)
    assert answer.code == Code.ERROR
    assert "did you mean idiom-detection?" in answer.err


def test_the_server_checks_a_file_and_nothing_is_submitted(ada: str, evergold: Evergold) -> None:
    before = evergold("status", "--json").json
    good = evergold("validate", MAGPIE, "--to", PRACTICE)
    assert (good.code, good.out.startswith("Your file can be scored.")) == (Code.OK, True)
    bad = evergold("validate", DEMO / "broken/float-label.csv", "--to", PRACTICE, "--json")
    assert (bad.code, bad.json["status"]) == (Code.REJECTED, "invalid")
    assert evergold("status", "--json").json == before


@pytest.mark.parametrize("more", [(), ("--task", "idiom-detection"), ("--to", PRACTICE, "--task", "idiom-detection")])
def test_validate_is_told_where_to_check(evergold: Evergold, more: tuple[str, ...]) -> None:
    assert evergold("validate", MAGPIE, *more).code == Code.USAGE
