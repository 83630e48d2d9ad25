"""Waking workers: a message tells them that something waits; a broker that is down, hangs or lost its messages harms
nobody.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from redis import Redis, RedisError
from structlog.testing import capture_logs

from app.base.brokers import broker_settings, celery_message
from app.base.config import get_settings
from app.base.queue import (
    BACKGROUND_QUEUE,
    CPU_QUEUE,
    GOLD_TASK,
    GPU_QUEUE,
    STATISTICS_TASK,
    TURN_TASK,
    _sender,
    has_messages,
    pop_message,
    send_gold_check,
    send_run,
    send_runs,
    send_statistics,
    take_background_message,
)
from tests.services import Valkey, free_port
from tests.threads import in_threads


@pytest.fixture
def messages(tmp_path: Path) -> Iterator[Path]:
    """The folder in which the embedded broker keeps what was sent."""
    yield tmp_path / "var" / "broker" / "messages"
    close_sender()


@pytest.fixture
def live_broker(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> Iterator[Valkey]:
    """A real broker that `send_run` uses."""
    use_broker(monkeypatch, valkey.address)
    yield valkey
    close_sender()


def use_broker(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("EVERGOLD_BROKER_URL", address)
    get_settings.cache_clear()
    _sender.cache_clear()


def close_sender() -> None:
    """Connections of this test must not outlive it."""
    if _sender.cache_info().currsize:
        _sender().close()
        _sender.cache_clear()


def waiting(broker: Valkey, queue: str) -> list[dict[str, Any]]:
    """The messages in a queue, as any consumer of this broker would see them."""
    found = []
    with Celery(broker=broker.address, set_as_current=False).connection_for_read() as connection:
        simple = connection.SimpleQueue(queue)
        while message := simple.queue.get():
            found.append(message.headers | {"args": json.loads(message.body)[0]})
            message.ack()
        simple.close()
    return found


def test_a_message_of_a_turn_can_be_taken_without_celery_and_no_other_one(live_broker: Valkey) -> None:
    assert not pop_message(CPU_QUEUE), "there is none"
    for sent in (send_run(1, later=True), send_run(2)):
        assert sent
    _sender().broker.send([celery_message("of an older version", (7,), CPU_QUEUE, 0)], CPU_QUEUE, 0)
    assert pop_message(CPU_QUEUE)
    assert not pop_message(CPU_QUEUE), "the other one is next, and before what comes later"
    assert not pop_message(GPU_QUEUE)
    assert [message["args"] for message in waiting(live_broker, CPU_QUEUE)] == [[7], [1, CPU_QUEUE]]
    assert send_run(3, later=True)
    assert pop_message(CPU_QUEUE)


@pytest.mark.parametrize("is_of_files", [False, True])
def test_statistics_and_gold_checks_have_a_queue_of_their_own(
    live_broker: Valkey, monkeypatch: pytest.MonkeyPatch, messages: Path, is_of_files: bool
) -> None:
    if is_of_files:
        close_sender()
        use_broker(monkeypatch, "")
    assert send_gold_check(7)
    assert send_statistics(3)
    assert (has_messages(CPU_QUEUE), has_messages(BACKGROUND_QUEUE)) == (False, True)
    assert {take_background_message(), take_background_message()} == {(GOLD_TASK, 7), (STATISTICS_TASK, 3)}
    assert take_background_message() is None


def test_gold_is_checked_before_statistics_are_computed(live_broker: Valkey) -> None:
    assert send_statistics(3)
    assert send_gold_check(7)
    assert take_background_message() == (GOLD_TASK, 7), "an organiser waits for it"


def test_each_message_of_the_background_is_taken_by_one(messages: Path) -> None:
    assert all(send_gold_check(number) for number in range(30))
    taken = in_threads(40, lambda _: take_background_message())
    assert sorted(one[1] for one in taken if one) == list(range(30))


def test_a_message_that_is_not_ours_is_logged_and_gone(live_broker: Valkey) -> None:
    strange = [b"\xff", b"{}", celery_message(GOLD_TASK, ("x",), BACKGROUND_QUEUE, 0), celery_message("a", (), "b", 0)]
    _sender().broker.send(strange, BACKGROUND_QUEUE, 0)
    with capture_logs() as logged:
        assert [take_background_message() for _ in strange] == [None] * len(strange)
    assert [entry["event"] for entry in logged] == ["message_not_understood"] * len(strange)
    assert has_messages(BACKGROUND_QUEUE) is False


def test_a_broker_that_is_away_is_an_error_for_who_waits_for_messages(live_broker: Valkey) -> None:
    live_broker.stop()
    with pytest.raises(RedisError, match="refused"):
        take_background_message()


def test_each_message_is_taken_by_one(live_broker: Valkey) -> None:
    assert all(send_run(number) for number in range(30))
    assert sum(in_threads(40, lambda _: pop_message(CPU_QUEUE))) == 30


def test_no_message_is_taken_from_a_broker_that_is_down_or_made_of_files(
    live_broker: Valkey, monkeypatch: pytest.MonkeyPatch, messages: Path
) -> None:
    assert send_run(1)
    live_broker.stop()
    assert not pop_message(CPU_QUEUE)
    close_sender()
    use_broker(monkeypatch, "")
    assert send_run(1)
    assert not pop_message(CPU_QUEUE)
    assert len(list(messages.iterdir())) == 1


def test_a_message_says_for_what_it_was_sent_and_in_which_queue(live_broker: Valkey) -> None:
    assert send_run(4711)
    (message,) = waiting(live_broker, CPU_QUEUE)
    assert (message["task"], message["args"]) == (TURN_TASK, [4711, CPU_QUEUE])
    assert waiting(live_broker, GPU_QUEUE) == []


def test_many_runs_are_sent_in_one_command_a_queue_and_taken_in_their_order(live_broker: Valkey) -> None:
    assert send_runs([(1, False), (2, True), (3, False), (4, False)]) == [1, 3, 4, 2]
    with Redis.from_url(live_broker.address) as client:
        assert client.info("commandstats")["cmdstat_lpush"]["calls"] == 2
    assert [message["args"][0] for message in waiting(live_broker, CPU_QUEUE)] == [1, 3, 4]
    assert [message["args"][0] for message in waiting(live_broker, GPU_QUEUE)] == [2]


def test_of_many_runs_those_are_named_that_were_sent(
    live_broker: Valkey, monkeypatch: pytest.MonkeyPatch, messages: Path
) -> None:
    monkeypatch.setattr("app.base.queue._AT_ONCE", 2)
    assert send_runs([(number, False) for number in range(5)]) == [0, 1, 2, 3, 4]
    live_broker.stop()
    assert send_runs([(5, False), (6, False), (7, True)]) == []
    close_sender()
    use_broker(monkeypatch, "")
    assert send_runs([(8, False), (9, False)], later=True) == [8, 9]
    assert len(list(messages.iterdir())) == 2


def test_tasks_that_need_a_gpu_have_a_queue_of_their_own(live_broker: Valkey) -> None:
    assert send_run(1, needs_gpu=True)
    assert waiting(live_broker, CPU_QUEUE) == []
    assert [message["args"] for message in waiting(live_broker, GPU_QUEUE)] == [[1, GPU_QUEUE]]


def test_a_broker_that_is_down_is_logged_at_once_and_used_again_when_it_is_back(live_broker: Valkey) -> None:
    assert send_run(1)
    live_broker.stop()
    began = time.monotonic()
    with capture_logs() as logged:
        assert [send_run(2), send_run(3)] == [False, False]
    assert time.monotonic() - began < 3.0, "nobody waits for it"
    assert [(entry["event"], entry["log_level"], entry["run_id"]) for entry in logged] == [
        ("broker_down", "warning", 2),
        ("broker_down", "warning", 3),
    ]
    live_broker.start()
    assert send_run(4)
    assert [message["args"] for message in waiting(live_broker, CPU_QUEUE)] == [[4, CPU_QUEUE]]


def test_a_broker_that_was_restarted_between_two_messages_gets_the_second(live_broker: Valkey) -> None:
    """Check a connection in the pool that is dead, which nobody has noticed yet."""
    assert send_run(1)
    live_broker.stop()
    live_broker.start()
    assert send_run(2)


def test_a_broker_that_hangs_is_given_up_soon(live_broker: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.base.queue.PAUSE_SECONDS", 0.0)
    assert send_run(1)
    live_broker.hang()
    began = time.monotonic()
    with capture_logs():
        assert not send_run(2)
    assert time.monotonic() - began < 5.0
    live_broker.wake()
    assert send_run(3)


def test_of_many_uploads_only_the_first_waits_for_a_broker_that_hangs(live_broker: Valkey) -> None:
    assert send_run(0)
    live_broker.hang()
    with capture_logs() as logged:
        assert in_threads(10, lambda n: send_run(n)) == 10 * [False]
    live_broker.wake()
    assert sorted(entry["event"] for entry in logged) == ["broker_down"] + 9 * ["broker_passed_over"]


def test_a_broker_that_hung_is_asked_again_after_a_pause(live_broker: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    assert send_run(1)
    live_broker.hang()
    with capture_logs():
        assert not send_run(2)
        live_broker.wake()
        assert not send_run(3), "it is well again, but nobody knows yet"
    monkeypatch.setattr(_sender(), "paused_until", time.monotonic())
    assert send_run(4)


def test_a_broker_is_asked_whether_it_holds_messages(live_broker: Valkey) -> None:
    assert has_messages(CPU_QUEUE) is False
    assert send_run(1)
    assert (has_messages(CPU_QUEUE), has_messages(GPU_QUEUE)) == (True, False)
    live_broker.stop()
    assert has_messages(CPU_QUEUE) is None, "nobody knows"
    live_broker.start()
    assert has_messages(CPU_QUEUE) is False, "it forgot them"


def test_files_are_messages_too(messages: Path) -> None:
    assert has_messages(CPU_QUEUE) is False
    assert send_run(1)
    assert (has_messages(CPU_QUEUE), has_messages(GPU_QUEUE)) == (True, False)
    messages.rename(messages.with_name("elsewhere"))
    assert has_messages(CPU_QUEUE) is None, "nobody knows"


def test_celery_finds_a_message_in_a_file(messages: Path, tmp_path: Path) -> None:
    assert send_run(4711)
    app = Celery(set_as_current=False)
    app.conf.update(broker_settings("", tmp_path / "var"))
    with app.connection_for_read() as connection:
        simple = connection.SimpleQueue(CPU_QUEUE)
        message = simple.get(timeout=60)
        message.ack()
        simple.close()
    assert (message.headers["task"], json.loads(message.body)[0]) == (TURN_TASK, [4711, CPU_QUEUE])


def test_a_broker_that_never_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    use_broker(monkeypatch, f"redis://127.0.0.1:{free_port()}/0")
    began = time.monotonic()
    with capture_logs() as logged:
        assert not send_run(1)
    assert time.monotonic() - began < 3.0
    assert [entry["event"] for entry in logged] == ["broker_down"]
    close_sender()


def test_without_a_broker_messages_are_files_in_the_data_folder(messages: Path) -> None:
    assert send_run(4711)
    (file,) = messages.iterdir()
    assert file.name.endswith(f"{CPU_QUEUE}.msg")
    assert json.loads(file.read_text())["headers"]["task"] == TURN_TASK


def test_a_data_folder_that_cannot_be_written_is_a_broker_that_is_down(
    messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send_run(1)

    def full(path: Path, content: bytes) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with capture_logs() as logged:
        sent = send_run(2)
    assert not sent
    assert [entry["event"] for entry in logged] == ["broker_down"]
    assert len(list(messages.iterdir())) == 1, "nothing is left of it"


def test_broker_settings_name_the_broker_or_make_its_folders(tmp_path: Path) -> None:
    assert broker_settings("redis://db:6379/0", tmp_path)["broker_url"] == "redis://db:6379/0"
    assert list(tmp_path.iterdir()) == []
    settings = broker_settings("", tmp_path)
    assert settings["broker_url"] == "filesystem://"
    folders = [value for value in settings["broker_transport_options"].values() if isinstance(value, str)]
    assert all(Path(folder).is_dir() and Path(folder).is_absolute() for folder in folders)
