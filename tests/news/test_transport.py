"""A request goes to the address that was checked, once, and is bounded in time and bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.news.transport import ANSWER_BYTES, NotDelivered, send
from app.webhooks.addresses import AddressRefused, Rules, Target, find_target, networks_in
from tests.receiver import Receiver
from tests.services import free_port

LOOPBACK = Rules(networks_in("127.0.0.1/32"), allows_http=True)


def target_of(there: Receiver, host: str = "chat.example.org") -> Target:
    """A name that resolves to loopback, which these rules allow."""
    return find_target(f"http://{host}:{there.port}/hook", LOOPBACK, lambda host, port: ["127.0.0.1"])


def test_it_is_sent_with_its_name_to_the_checked_address(there: Receiver) -> None:
    answer = send(target_of(there), b'{"a":1}', {"Content-Type": "application/json"})
    assert (answer.status, answer.text, answer.is_good) == (200, "ok", True)
    [request] = there.received
    assert (request.method, request.path, request.body) == ("POST", "/hook", b'{"a":1}')
    assert request.headers["host"] == f"chat.example.org:{there.port}"


def test_a_name_that_resolves_elsewhere_after_the_check_changes_nothing(there: Receiver) -> None:
    """DNS rebinding: the first answer is allowed, all later ones lead elsewhere."""
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"]])
    address = f"http://rebinding.example.org:{there.port}/hook"
    target = find_target(address, LOOPBACK, lambda host, port: next(answers))
    assert send(target, b"{}", {}).status == 200
    assert len(there.received) == 1, "to the first, without asking again"
    with pytest.raises(AddressRefused):
        find_target(address, LOOPBACK, lambda host, port: next(answers))
    assert len(there.received) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(there: Receiver, status: int) -> None:
    there.status, there.headers = status, {"location": f"http://127.0.0.1:{there.port}/inside"}
    answer = send(target_of(there), b"{}", {})
    assert (answer.status, answer.is_good) == (status, False)
    assert [one.path for one in there.received] == ["/hook"]


def test_no_more_of_an_answer_is_read_than_is_kept(there: Receiver) -> None:
    there.body = b"x" * 50_000_000
    assert send(target_of(there), b"{}", {}).text == "x" * ANSWER_BYTES


def test_an_answer_is_text_without_controls(there: Receiver) -> None:
    there.body = b"a\x00b\x1b[31m\xff\nend"
    assert send(target_of(there), b"{}", {}).text == "a b [31m\N{REPLACEMENT CHARACTER}\nend"


def test_an_answer_that_drips_is_ended(there: Receiver) -> None:
    """Check that the whole answer has a limit: a timeout for each read would never end it."""
    there.drips = True
    with pytest.raises(NotDelivered, match="No answer within 0.3 seconds"):
        send(target_of(there), b"{}", {}, seconds=0.3)


def test_nobody_there_is_a_sentence() -> None:
    with pytest.raises(NotDelivered, match="No connection"):
        send(Target("http", "chat.example.org", free_port(), "/", "127.0.0.1"), b"{}", {})


def test_a_certificate_that_nobody_trusts_is_refused(there: Receiver) -> None:
    with pytest.raises(NotDelivered):
        send(replace(target_of(there), scheme="https"), b"{}", {})
    assert there.received == [], "it does not even speak TLS"


def test_proxies_of_the_environment_are_not_used(there: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    assert send(target_of(there), b"{}", {}).status == 200
