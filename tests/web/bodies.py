"""Contents of requests that change something, so that none is refused for its content, but only for its sender."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.web.site import PASSWORD

_MARKS = "submission,item,annotator,mwe_sense,rest_sense,naturalness\n{submission_id},en-1,zoe,3,2,1\n"
_SENSES = {"removed": "yes", "mwe_sense": "3", "rest_sense": "2", "naturalness": "1"}
_NEW_ACCOUNT = {"username": "newton", "email": "newton@example.org", "password": PASSWORD}
_API_TASK = "/api/v1/competitions/{competition}/phases/{phase}/tasks/{task}"
_TASK = "/competitions/{competition}/phases/{phase}/tasks/{task}"
_COMPETITION = "/competitions/{competition}"
_API_COMPETITION = "/api/v1/competitions/{competition}"
_SAID = {"title": "A title", "text": "Some words."}
_TEXT = {"kind": "announcement", "which": "1"}
_REASON = {"reason": "It insults others."}
_ROUND = "/competitions/{competition}/judging/{round_name}"


def _file(content: str, **fields: str) -> dict[str, Any]:
    return {"files": {"file": ("file.csv", content.encode())}, "data": fields}


_HOOK = {"name": "Ours", "address": "https://chat.example.org/hook", "kinds": ["board.changed"]}
_PUBLIC_HOOK = {**_HOOK, "audience": "public"}

#: Those that are not here need no body.
BODIES: dict[str, dict[str, Any]] = {
    "GET /api/competitions/{competition_id}/results.csv": {"params": {"phase": "{phase_id}"}},
    "GET /api/phases/": {"params": {"competition": "{competition_id}"}},
    "GET /api/leaderboards/": {"params": {"phase": "{phase_id}"}},
    "POST /api/api-token-auth/": {"data": {"username": "nora", "password": "a wrong pass phrase"}},
    "POST /api/data/": {"json": {"type": "submission", "filename": "mine.zip", "file_size": 3}},
    "POST /api/datasets/": {"json": {"type": "submission", "request_sassy_file_name": "mine.zip"}},
    "POST /api/submissions/": {"json": {"phase": "{practice_id}", "data": "{held_key}"}},
    "POST /api/submissions/{submission_number}/re_run_submission/": {"params": {"task_key": "{task_key}"}},
    "PUT /api/v1/me/mail": {"json": {"announcements": False, "results": True}},
    f"POST {_COMPETITION}/announcements": {"data": {**_SAID, "mail": "all"}},
    f"POST {_COMPETITION}/announcements/{{announcement_id}}": {"data": _SAID},
    f"POST {_COMPETITION}/webhooks": {"data": _PUBLIC_HOOK},
    f"POST {_COMPETITION}/team/webhooks": {"data": {**_HOOK, "audience": "team"}},
    "POST /webhooks": {"data": _PUBLIC_HOOK},
    "POST /webhooks/{webhook_id}": {"data": _PUBLIC_HOOK},
    f"POST {_API_COMPETITION}/webhooks": {"json": _PUBLIC_HOOK},
    f"POST {_API_COMPETITION}/team/webhooks": {"json": _HOOK},
    "POST /api/v1/webhooks": {"json": _PUBLIC_HOOK},
    "PUT /api/v1/webhooks/{webhook_id}": {"json": _PUBLIC_HOOK},
    "POST /api/v1/webhooks/{webhook_id}/replay": {"json": {}},
    f"POST {_COMPETITION}/questions": {"data": _SAID},
    f"POST {_COMPETITION}/questions/{{question_id}}/answer": {"data": {"answer": "Some words."}},
    f"POST {_API_COMPETITION}/announcements": {"json": {**_SAID, "mail": "all"}},
    f"PUT {_API_COMPETITION}/announcements/{{announcement_id}}": {"json": _SAID},
    f"GET {_API_COMPETITION}/announcements/receivers": {"params": {"group": "all"}},
    f"POST {_API_COMPETITION}/questions": {"json": _SAID},
    f"PUT {_API_COMPETITION}/questions/{{question_id}}/answer": {"json": {"answer": "Some words."}},
    f"GET {_COMPETITION}/report-text": {"params": _TEXT},
    f"POST {_COMPETITION}/report-text": {"params": _TEXT, "data": {"reason": "spam", "words": "An advertisement."}},
    f"POST {_COMPETITION}/moderation/{{report_id}}/hide": {"data": _REASON},
    f"POST {_COMPETITION}/moderation/block": {"data": {"username": "nora", **_REASON}},
    f"POST {_COMPETITION}/moderation/unblock": {"data": {"username": "nora"}},
    f"POST {_API_COMPETITION}/reports": {"json": {**_TEXT, "reason": "spam"}},
    f"PUT {_API_COMPETITION}/reports/{{report_id}}/hidden": {"json": _REASON},
    f"POST {_API_COMPETITION}/hidden-texts": {"json": {**_TEXT, **_REASON}},
    f"PUT {_API_COMPETITION}/blocked/{{username}}": {"json": _REASON},
    f"POST {_COMPETITION}/rescoring": {"data": {"tasks": "evaluation/detection", "note": "Wrong labels."}},
    f"POST {_API_COMPETITION}/rescorings": {"json": {"tasks": ["evaluation"], "note": "Wrong labels."}},
    f"PUT {_API_COMPETITION}/submissions/marks": {"json": {"submissions": ["{submission_id}"], "status": "hidden"}},
    f"POST {_API_COMPETITION}/submissions/rescoring": {"json": {"submissions": ["{submission_id}"], "note": "Wrong."}},
    f"POST {_COMPETITION}/submissions": {"data": {"submission": ["{submission_id}"], "deed": "hidden"}},
    f"POST {_COMPETITION}/edit": {"data": {"base": "1"}},
    f"POST {_COMPETITION}/edit/texts": {"data": {"base": "1"}},
    f"POST {_COMPETITION}/history/{{number}}": {"data": {"base": "1"}},
    f"PATCH {_API_COMPETITION}/declaration": {"json": {"base": 1, "values": {}}, "params": {"preview": "true"}},
    f"POST {_API_COMPETITION}/revisions/{{number}}/apply": {"json": {"base": 1}, "params": {"preview": "true"}},
    "POST /admin/queue/hold": {"data": {"reason": "An upgrade."}},
    "PUT /api/v1/admin/holds": {"json": {"reason": "An upgrade."}},
    "POST /api/v1/admin/failed-runs/queue-again": {"json": {}},
    "POST /api/v1/admin/failed-mails/send-again": {"json": {}},
    "POST /admin/competitions/{competition}/owner": {"data": {"owner": "root"}},
    "POST /admin/people/ban": {"data": {"domain": "spam.example"}},
    "POST /admin/requests/{request_id}": {"data": {"decision": "approve"}},
    "PUT /api/v1/admin/competitions/{competition}/owner": {"json": {"owner": "root"}},
    "PUT /api/v1/admin/people/{username}/block": {"json": {"reason": "Spam."}},
    "PUT /api/v1/admin/people/{username}/organising": {"json": {"organising": "approved"}},
    "PUT /api/v1/admin/requests/{request_id}/answer": {"json": {"is_approved": True}},
    "PATCH /api/v1/admin/looks": {"json": {"accent": "#00338d"}},
    "POST /admin/announcements": {"data": {"text": "Some words."}},
    "POST /admin/settings/{setting}": {"data": {"value": "closed"}},
    "POST /api/v1/admin/announcements": {"json": {"text": "Some words."}},
    "PUT /api/v1/admin/settings/{setting}": {"json": {"value": "closed"}},
    "POST /account/email": {"data": {"email": "new@example.org", "email_password": PASSWORD}},
    "POST /account/password": {"data": {"current_password": PASSWORD, "password": "another long pass phrase"}},
    "POST /account/tokens": {"data": {"name": "new", "scopes": ["read"], "days": "30"}},
    "POST /competitions/{competition}/registrations": {"data": {"decision": "approve", "user": ["nora"]}},
    "POST /competitions/{competition}/registrations/{username}": {"data": {"decision": "approve"}},
    "POST /competitions/{competition}/team/captain": {"data": {"username": "nora"}},
    "POST /competitions/{competition}/team/join": {"data": {"link": "guessed"}},
    "POST /competitions/{competition}/team/merging": {"data": {"team": "Gamma"}},
    "POST /competitions/{competition}/team/name": {"data": {"name": "New"}},
    "POST /competitions/{competition}/team/remove": {"data": {"username": "nora"}},
    "PUT /api/v1/competitions/{competition}/publication-consent": {"json": {"consents": True}},
    "PUT /api/v1/competitions/{competition}/registration": {"json": {}},
    "POST /api/v1/me/deletion": {"json": {}},
    "PUT /api/v1/competitions/{competition}/registrations": {"json": {"usernames": ["nora"], "status": "approved"}},
    "PUT /api/v1/competitions/{competition}/registrations/{username}": {"json": {"status": "approved"}},
    "POST /api/v1/competitions/{competition}/team": {"json": {"name": "New"}},
    "PUT /api/v1/competitions/{competition}/team/captain": {"json": {"username": "nora"}},
    "POST /api/v1/competitions/{competition}/team/members": {"json": {"invitation": "guessed"}},
    "POST /api/v1/competitions/{competition}/team/merging": {"json": {"team": "Gamma"}},
    "PUT /api/v1/competitions/{competition}/team/name": {"json": {"name": "New"}},
    "POST /login": {"data": {"username": "alpha", "password": "a wrong pass phrase"}},
    "POST /register": {"data": _NEW_ACCOUNT},
    "POST /password/forgot": {"data": {"username": "alpha"}},
    "POST /password/new": {"data": {"link": "guessed", "password": PASSWORD}},
    "POST /submissions/{submission_id}/choice": {"data": {"action": "choose", "board": "zero-shot"}},
    f"POST {_TASK}/gold": _file("new gold"),
    f"POST {_TASK}/judging": {"data": {"name": "new", "annotators": "en anna", "seed": "1"}},
    f"POST {_TASK}/judging/marks": _file(_MARKS, round="brought"),
    f"POST {_COMPETITION}/allowances": {
        "data": {"phase": "evaluation", "team": "Alpha", "extra_total": "2", "reason": "a flood"}
    },
    f"PUT {_API_COMPETITION}/allowances": {
        "json": {"phase": "evaluation", "team": "Alpha", "extra_total": 2, "reason": "a flood"}
    },
    "POST /api/v1/competitions": _file("no zip"),
    "POST /organise/bundle": _file("no zip"),
    "POST /organise/zip": _file("no zip"),
    "POST /organise/{blueprint_id}/files": _file("id"),
    "POST /organise/{blueprint_id}/images": _file("no image", text="description", alt="A cat"),
    "GET /organise/{blueprint_id}/images": {"params": {"path": "figure.png"}},
    f"POST {_COMPETITION}/setup-items": _file("id\n1\n"),
    f"POST {_COMPETITION}/edit/images": _file("no image", text="description", alt="A cat"),
    "POST /organise/{blueprint_id}/add": {"params": {"at": "tasks"}},
    "POST /organise/{blueprint_id}/remove": {"params": {"at": "tasks/0"}},
    f"POST {_COMPETITION}/people/invite": {"data": {"whom": "anna", "role": "tester"}},
    f"POST {_COMPETITION}/people/revoke": {"data": {"whom": "anna", "role": "tester"}},
    f"POST {_COMPETITION}/people/owner": {"data": {"owner": "olga"}},
    f"POST {_COMPETITION}/people/rights": {"data": {"whom": "edda", "rights": "gold"}},
    f"PUT {_API_COMPETITION}/roles/organiser/{{username}}/rights": {"json": {"rights": ["gold"]}},
    f"PUT {_API_COMPETITION}/roles/owner": {"json": {"owner": "olga"}},
    f"POST {_API_COMPETITION}/roles/invitations": {"json": {"whom": "anna", "role": "tester"}},
    f"POST {_COMPETITION}/life": {"data": {"stage": "private"}},
    f"PUT {_API_COMPETITION}/life": {"json": {"stage": "private"}},
    f"POST {_COMPETITION}/life/confirmation": {"data": {"verdict": "confirmed"}},
    f"PUT {_API_COMPETITION}/life/confirmation": {"json": {"is_confirmed": True}},
    f"POST {_TASK}/rows": {"data": {"team": "Alpha", "status": "unranked", "note": "used additional data"}},
    f"PUT {_API_TASK}/rows": {"json": {"team": "Alpha", "status": "unranked", "note": "used additional data"}},
    "PUT /api/v1/submissions/{submission_id}/card": {"json": {"method": "ours"}},
    "POST /submissions/{submission_id}/card": {"data": {"method": "ours"}},
    f"POST {_TASK}/submit": _file("ID\n"),
    f"POST {_TASK}/validate": _file("ID\n"),
    f"POST {_ROUND}/annotators": {"data": {"language": "pt", "username": "anna"}},
    f"POST {_ROUND}/publish": {"data": {"unfinished": "1"}},
    f"POST {_ROUND}/items/{{language}}/{{place}}": {"data": _SENSES},
    f"POST {_API_TASK}/gold": _file("new gold"),
    f"POST {_API_TASK}/judging": {"json": {"name": "new", "annotators": []}},
    f"POST {_API_TASK}/judging/marks": {**_file(_MARKS), "params": {"round": "brought"}},
    f"POST {_API_TASK}/submissions": _file("ID\n"),
    f"POST {_API_TASK}/validations": _file("ID\n"),
    "PUT /api/v1/competitions/{competition}/judging/{round_name}/publication": {"params": {"unfinished": "true"}},
    "POST /api/v1/register": {"json": _NEW_ACCOUNT},
    "POST /api/v1/tokens": {"json": {"name": "new"}},
}


#: The names that bodies and queries may have.
NAMED = ("submission_id", "competition_id", "phase_id", "practice_id", "task_key", "held_key")


def body_of(address: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments for `tests.web.site.Client.send`; a file contains which submission it is about."""
    body = dict(BODIES.get(address, {}))
    if "files" not in body:
        text = json.dumps(body)
        for name in NAMED:
            text = text.replace(f"{{{name}}}", names.get(name, ""))
        named: dict[str, Any] = json.loads(text)
        return named
    if "files" in body:
        name, content = body["files"]["file"]
        body["files"] = {"file": (name, content.replace(b"{submission_id}", names["submission_id"].encode()))}
    return body
