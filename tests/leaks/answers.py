"""Answers in comparable form: without the parts that differ from one request to the next, whoever asks for whatever."""

from __future__ import annotations

import re

import httpx

#: A date, a name of the request, a cookie that is new each time; and a length that the tokens in a page change.
_FLEETING = frozenset({"date", "x-request-id", "set-cookie", "content-length", "server"})
_FLEETING_TEXT = (
    re.compile(r'(?<=name="csrf_token" value=")[^"]*'),
    re.compile(r'(?<=name="csrf-token" content=")[^"]*'),
    re.compile(r"(?<=name=key value=)[0-9a-f-]+|(?<=name=\"key\" value=\")[^\"]*|(?<=submit\?key=)[0-9A-Za-z_-]+"),
    re.compile(r"(?<=validate\?key=)[0-9A-Za-z_-]+"),
    re.compile(r"\b[0-9a-f]{16}\b(?=</code>)"),  # the request's id on an error page
    re.compile(r"last ran \d+ s ago"),
)


def plain(answer: httpx.Response) -> str:
    """Return status, headers and body: everything from which a reader could learn something."""
    heads = sorted(f"{name}: {value}" for name, value in answer.headers.items() if name not in _FLEETING)
    text = answer.text
    for fleeting in _FLEETING_TEXT:
        text = fleeting.sub("…", text)
    return "\n".join([str(answer.status_code), *heads, "", text])
