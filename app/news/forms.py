"""Formats of messages: signed JSON by Standard Webhooks, and those of Slack, Discord, Mattermost and Matrix.

Names and texts come from participants. In a chat they are only text: no mention of anybody, no link, no formatting, no
image.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from app.models import Webhook, WebhookForm
from app.news.payloads import News
from app.webhooks.signing import signed_headers

#: A zero-width space. Between two characters it keeps `@everyone` from being a mention, and `://` from being a link.
_GAP = "\u200b"
#: Maximum length of a chat message; Discord refuses longer ones.
_LONGEST = 1800
_LONGEST_LINE = 300
#: Characters that change the direction of the text around them.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~:=])")
_AGENT = "Evergold-Webhooks"


@dataclass(frozen=True, slots=True)
class Message:
    """A request to send. path_suffix: appended to the webhook's address."""

    body: bytes
    headers: Mapping[str, str]
    method: str = "POST"
    path_suffix: str = ""


def message_of(webhook: Webhook, news: News, message: str, now: datetime) -> Message:
    """Return the request for this news. message: its id, which is the same for each attempt."""
    headers = {"Content-Type": "application/json", "User-Agent": _AGENT}
    if webhook.form == WebhookForm.STANDARD:
        body = _json({"type": news.kind, "timestamp": news.at.isoformat(), "data": news.data})
        former = webhook.former_secret if webhook.former_until and now < webhook.former_until else None
        keys = [webhook.secret, *([former] if former else [])]
        return Message(body, {**headers, **signed_headers(message, body, keys, now)})
    if webhook.form == WebhookForm.MATRIX:
        # The id in the address makes a repeated attempt the same message.
        body = _json(_matrix(news))
        headers["Authorization"] = f"Bearer {webhook.bearer or ''}"
        return Message(body, headers, "PUT", f"/{quote(message, safe='')}")
    return Message(_json(_CHATS[WebhookForm(webhook.form)](news)), headers)


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _slack(news: News) -> dict[str, Any]:
    """Return a message with participants' texts as `plain_text`, in which Slack ignores mentions and formatting."""
    text = _cut("\n".join(map(_plain, (news.title, *news.lines))))
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}},
    ]
    if news.page:
        link = {"type": "mrkdwn", "text": f"<{_slack_escaped(news.page)}|Open>", "verbatim": True}
        blocks.append({"type": "context", "elements": [link]})
    fallback = _slack_escaped(_plain(news.title)).replace("@", f"@{_GAP}")
    return {"text": fallback, "blocks": blocks, "unfurl_links": False, "unfurl_media": False, "link_names": False}


def _slack_escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "%7C")


def _discord(news: News) -> dict[str, Any]:
    suppress_embeds = 4
    return {"content": _markdown(news, "**"), "allowed_mentions": {"parse": []}, "flags": suppress_embeds}


def _mattermost(news: News) -> dict[str, Any]:
    return {"text": _markdown(news, "**")}


def _markdown(news: News, bold: str) -> str:
    lines = [f"{bold}{_escaped(news.title)}{bold}", *map(_escaped, news.lines)]
    text = _cut("\n".join(lines))
    return f"{text}\n<{news.page}>" if news.page else text


def _matrix(news: News) -> dict[str, Any]:
    """Return a notice, to which no bot responds, with an empty list of mentions."""
    lines = [_unmentioned(_plain(one)) for one in (news.title, *news.lines)]
    rich = "<br>".join([f"<strong>{html.escape(lines[0])}</strong>", *map(html.escape, lines[1:])])
    if news.page:
        rich += f'<br><a href="{html.escape(news.page)}">Open</a>'
    return {
        "msgtype": "m.notice",
        "body": _cut("\n".join([*lines, *([news.page] if news.page else [])])),
        "format": "org.matrix.custom.html",
        "formatted_body": rich,
        "m.mentions": {},
    }


_CHATS: Mapping[WebhookForm, Callable[[News], dict[str, Any]]] = {
    WebhookForm.SLACK: _slack,
    WebhookForm.DISCORD: _discord,
    WebhookForm.MATTERMOST: _mattermost,
}


def _plain(text: str) -> str:
    """Return a text as one line, shortened, without control characters and direction marks."""
    line = " ".join(_TURNS.sub("", text).split())
    shown = "".join(one for one in line if ord(one) >= 32 and ord(one) != 127)
    return shown if len(shown) <= _LONGEST_LINE else f"{shown[: _LONGEST_LINE - 1]}…"


def _escaped(text: str) -> str:
    """Return the text with Markdown escaped."""
    return _unmentioned(_MARKDOWN.sub(r"\\\1", _without_links(_plain(text))))


def _without_links(text: str) -> str:
    """Return the text with everything broken up that chats would turn into links."""
    return re.sub(r"(?i)www\.", lambda found: f"{found[0][:3]}{_GAP}.", text.replace("://", f":{_GAP}//"))


def _unmentioned(text: str) -> str:
    return text.replace("@", f"@{_GAP}")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
