"""Participants' words in a chat are plain text: no mention, no link, no formatting; in the format of the chat."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from app.models import NewsKind, Webhook, WebhookForm
from app.news.forms import message_of
from app.news.payloads import News
from tests.world import NOW

PAGE = "https://scores.example.org/competitions/idioms"
EVIL = [
    "@everyone",
    "@here @channel @all @room",
    "<!channel> <!here> <@U012AB3CD>",
    "<@123456789> <@&987654321> <#1234>",
    "[click](https://evil.example.net)",
    "![x](https://evil.example.net/x.png)",
    "<https://evil.example.net|harmless>",
    "https://evil.example.net www.evil.example.net",
    "**bold** _it_ `code` ~~no~~ ||spoiler||",
    "# heading\n> quote\n- list",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\u202eevil\u2066",
    "a\nb\r\nc",
    "\\*not escaped twice\\*",
    ":tada: =2+3",
]


def sent(form: WebhookForm, name: str) -> Any:
    """Message to a chat about a team of this name."""
    news = News(NewsKind.BOARD_CHANGED, {}, f"{name} leads", (f"1 {name} 0.75",), PAGE, at=NOW)
    message = message_of(webhook(form), news, "msg_1", NOW)
    return json.loads(message.body)


def webhook(form: WebhookForm) -> Webhook:
    return Webhook(form=form, secret="whsec_AAAA", bearer="syt_token", address="https://chat.example.org")


@pytest.mark.parametrize("name", EVIL)
def test_slack_shows_it_as_plain_text(name: str) -> None:
    told = sent(WebhookForm.SLACK, name)
    section, context = told["blocks"]
    assert section["text"]["type"] == "plain_text", "in which nothing is a mention, a link or formatting"
    assert section["text"]["emoji"] is False
    assert context["elements"] == [{"type": "mrkdwn", "text": f"<{PAGE}|Open>", "verbatim": True}]
    assert not re.search(r"[<>]|@\w", told["text"]), "the words of a notification"
    assert told["link_names"] is False


@pytest.mark.parametrize("form", [WebhookForm.DISCORD, WebhookForm.MATTERMOST])
@pytest.mark.parametrize("name", EVIL)
def test_markdown_means_nothing(form: WebhookForm, name: str) -> None:
    told = sent(form, name)
    text = told["content" if form is WebhookForm.DISCORD else "text"]
    *lines, page = text.split("\n")
    assert page == f"<{PAGE}>"
    assert len(lines) == 2, "no line of anybody else's"
    assert lines[0].startswith("**")
    inside = f"{lines[0][2:-2]} {lines[1]}"
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_`~|<>\[\]()#!]", inside), "every mark is escaped"
    assert not re.search(r"@\w|://|www\.", inside)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
    if form is WebhookForm.DISCORD:
        assert told["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize("name", EVIL)
def test_matrix_mentions_nobody_and_takes_no_tags(name: str) -> None:
    told = sent(WebhookForm.MATRIX, name)
    assert (told["msgtype"], told["m.mentions"]) == ("m.notice", {})
    assert re.findall(r"<(\w+)", told["formatted_body"]) == ["strong", "br", "br", "a"]
    assert not re.search(r"@\w", told["body"])


def test_matrix_is_told_by_its_own_api() -> None:
    news = News(NewsKind.TEST, {}, "A test", (), "", at=NOW)
    message = message_of(webhook(WebhookForm.MATRIX), news, "msg_1", NOW)
    assert (message.method, message.path_suffix) == ("PUT", "/msg_1"), "the same message, however often it is sent"
    assert message.headers["Authorization"] == "Bearer syt_token"


@pytest.mark.parametrize("form", [one for one in WebhookForm if one is not WebhookForm.STANDARD])
def test_a_long_text_is_cut_to_what_chats_take(form: WebhookForm) -> None:
    news = News(NewsKind.QUESTION_ASKED, {}, "x" * 10_000, tuple("y" * 5_000 for _ in range(20)), PAGE, at=NOW)
    told = json.loads(message_of(webhook(form), news, "msg_1", NOW).body)
    texts = [told.get("content"), told.get("text"), told.get("body")]
    texts += [block["text"]["text"] for block in told.get("blocks", ()) if "text" in block]
    assert all(len(one) < 2000 for one in texts if one)


def test_what_is_signed_is_json_of_kind_time_and_data() -> None:
    news = News(NewsKind.BOARD_CHANGED, {"board": "main"}, "t", (), PAGE, at=NOW)
    told = json.loads(message_of(webhook(WebhookForm.STANDARD), news, "msg_1", NOW).body)
    assert told == {"type": "board.changed", "timestamp": "2026-01-10T12:00:00+00:00", "data": {"board": "main"}}


@pytest.mark.parametrize("form", [one for one in WebhookForm if one is not WebhookForm.STANDARD])
def test_no_control_character_reaches_a_chat(form: WebhookForm) -> None:
    told = sent(form, "Bell\x07, null\x00 and delete\x7f")
    texts = [told.get("content"), told.get("text"), told.get("body"), told.get("formatted_body")]
    texts += [block["text"]["text"] for block in told.get("blocks", ()) if "text" in block]
    shown = "".join(one for one in texts if one)
    assert "Bell, null and delete leads" in shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown)
