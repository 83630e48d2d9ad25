"""What a request that changes something carries so that it is not refused for what it says, but for who says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.web.site import PASSWORD

_MARKS = "submission,item,annotator,mwe_sense,rest_sense,naturalness\n{submission_id},en-1,zoe,3,2,1\n"
_SENSES = {"removed": "yes", "mwe_sense": "3", "rest_sense": "2", "naturalness": "1"}
_NEW_ACCOUNT = {"username": "newton", "email": "newton@example.org", "password": PASSWORD}
_API_TASK = "/api/v1/competitions/{competition}/phases/{phase}/tasks/{task}"
_TASK = "/competitions/{competition}/phases/{phase}/tasks/{task}"
_ROUND = "/competitions/{competition}/judging/{round_name}"


def _file(content: str, **fields: str) -> dict[str, Any]:
    return {"files": {"file": ("file.csv", content.encode())}, "data": fields}


#: Those that are not here need no body.
BODIES: dict[str, dict[str, Any]] = {
    "POST /account/email": {"data": {"email": "new@example.org", "email_password": PASSWORD}},
    "POST /account/password": {"data": {"current_password": PASSWORD, "password": "another long pass phrase"}},
    "POST /account/tokens": {"data": {"name": "new", "scopes": ["read"], "days": "30"}},
    "POST /login": {"data": {"username": "alpha", "password": "a wrong pass phrase"}},
    "POST /register": {"data": _NEW_ACCOUNT},
    "POST /password/forgot": {"data": {"username": "alpha"}},
    "POST /password/new": {"data": {"link": "guessed", "password": PASSWORD}},
    "POST /submissions/{submission_id}/choice": {"data": {"action": "choose", "board": "zero-shot"}},
    f"POST {_TASK}/gold": _file("new gold"),
    f"POST {_TASK}/judging": {"data": {"name": "new", "annotators": "en anna", "seed": "1"}},
    f"POST {_TASK}/judging/marks": _file(_MARKS, round="brought"),
    f"POST {_TASK}/submit": _file("ID\n"),
    f"POST {_ROUND}/annotators": {"data": {"language": "pt", "username": "anna"}},
    f"POST {_ROUND}/publish": {"data": {"unfinished": "1"}},
    f"POST {_ROUND}/items/{{language}}/{{place}}": {"data": _SENSES},
    f"POST {_API_TASK}/gold": _file("new gold"),
    f"POST {_API_TASK}/judging": {"json": {"name": "new", "annotators": []}},
    f"POST {_API_TASK}/judging/marks": {**_file(_MARKS), "params": {"round": "brought"}},
    f"POST {_API_TASK}/submissions": _file("ID\n"),
    "PUT /api/v1/competitions/{competition}/judging/{round_name}/publication": {"params": {"unfinished": "true"}},
    "POST /api/v1/register": {"json": _NEW_ACCOUNT},
    "POST /api/v1/tokens": {"json": {"name": "new"}},
}


def body_of(address: str, names: Mapping[str, str]) -> dict[str, Any]:
    """For `tests.leaks.place.Client.send`; a file says which submission it is about."""
    body = dict(BODIES.get(address, {}))
    if "files" in body:
        name, content = body["files"]["file"]
        body["files"] = {"file": (name, content.replace(b"{submission_id}", names["submission_id"].encode()))}
    return body
