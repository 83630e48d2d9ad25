"""The API's description: complete, stable, true. That it has every status is checked in all tests: `Site.client`."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Request
from starlette.routing import Route

import app.web
from app.base.answers import ApiModel
from app.base.api_links import API
from app.web.http.openapi import serve_description
from tests.web.routes import application
from tests.web.site import Site

#: Programs are generated from these names: they never change.
OPERATIONS = {
    "add_server_webhook": f"POST {API}/webhooks",
    "add_team_webhook": f"POST {API}/competitions/{{competition}}/team/webhooks",
    "add_webhook": f"POST {API}/competitions/{{competition}}/webhooks",
    "change_webhook": f"PUT {API}/webhooks/{{webhook_id}}",
    "get_webhook": f"GET {API}/webhooks/{{webhook_id}}",
    "list_server_webhooks": f"GET {API}/webhooks",
    "list_team_webhooks": f"GET {API}/competitions/{{competition}}/team/webhooks",
    "list_webhook_deliveries": f"GET {API}/webhooks/{{webhook_id}}/deliveries",
    "list_webhooks": f"GET {API}/competitions/{{competition}}/webhooks",
    "remove_webhook": f"DELETE {API}/webhooks/{{webhook_id}}",
    "renew_webhook_secret": f"POST {API}/webhooks/{{webhook_id}}/secret",
    "replay_webhook": f"POST {API}/webhooks/{{webhook_id}}/replay",
    "test_webhook": f"POST {API}/webhooks/{{webhook_id}}/test",
    "answer_question": f"PUT {API}/competitions/{{competition}}/questions/{{question_id}}/answer",
    "hold_scoring": f"PUT {API}/admin/holds",
    "list_all_reports": f"GET {API}/admin/reports",
    "list_failed_mails": f"GET {API}/admin/failed-mails",
    "list_refused_requests": f"GET {API}/admin/refused-requests",
    "queue_any_failed_runs_again": f"POST {API}/admin/failed-runs/queue-again",
    "read_queue": f"GET {API}/admin/queue",
    "read_server_health": f"GET {API}/admin/health",
    "read_storage": f"GET {API}/admin/storage",
    "resume_scoring": f"DELETE {API}/admin/holds",
    "send_failed_mails_again": f"POST {API}/admin/failed-mails/send-again",
    "block_person": f"PUT {API}/competitions/{{competition}}/blocked/{{username}}",
    "dismiss_report": f"PUT {API}/competitions/{{competition}}/reports/{{report_id}}/dismissed",
    "hide_reported_text": f"PUT {API}/competitions/{{competition}}/reports/{{report_id}}/hidden",
    "hide_text": f"POST {API}/competitions/{{competition}}/hidden-texts",
    "list_blocked": f"GET {API}/competitions/{{competition}}/blocked",
    "list_hidden_texts": f"GET {API}/competitions/{{competition}}/hidden-texts",
    "list_reports": f"GET {API}/competitions/{{competition}}/reports",
    "report_text": f"POST {API}/competitions/{{competition}}/reports",
    "show_text_again": f"DELETE {API}/competitions/{{competition}}/hidden-texts/{{hidden_id}}",
    "unblock_person": f"DELETE {API}/competitions/{{competition}}/blocked/{{username}}",
    "create_competition": f"POST {API}/competitions",
    "hand_over_competition": f"PUT {API}/competitions/{{competition}}/roles/owner",
    "invite_to_role": f"POST {API}/competitions/{{competition}}/roles/invitations",
    "list_role_invitations": f"GET {API}/competitions/{{competition}}/roles/invitations",
    "withdraw_role_invitation": f"DELETE {API}/competitions/{{competition}}/roles/invitations/{{invitation_id}}",
    "change_looks": f"PATCH {API}/admin/looks",
    "change_rights": f"PUT {API}/competitions/{{competition}}/roles/organiser/{{username}}/rights",
    "get_life": f"GET {API}/competitions/{{competition}}/life",
    "change_life": f"PUT {API}/competitions/{{competition}}/life",
    "get_confirmation": f"GET {API}/competitions/{{competition}}/life/confirmation",
    "confirm_scores": f"PUT {API}/competitions/{{competition}}/life/confirmation",
    "plan_deletion": f"PUT {API}/competitions/{{competition}}/life/deletion",
    "keep_competition": f"DELETE {API}/competitions/{{competition}}/life/deletion",
    "grant_allowance": f"PUT {API}/competitions/{{competition}}/allowances",
    "list_allowances": f"GET {API}/competitions/{{competition}}/allowances",
    "take_back_allowance": f"DELETE {API}/competitions/{{competition}}/allowances/{{allowance_id}}",
    "apply_revision": f"POST {API}/competitions/{{competition}}/revisions/{{number}}/apply",
    "appoint_annotator": (
        f"PUT {API}/competitions/{{competition}}/judging/{{round_name}}/annotators/{{language}}/{{username}}"
    ),
    "ask_question": f"POST {API}/competitions/{{competition}}/questions",
    "choose_mail": f"PUT {API}/me/mail",
    "clear_row": f"DELETE {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/rows/{{mark_id}}",
    "edit_card": f"PUT {API}/submissions/{{submission_id}}/card",
    "get_card": f"GET {API}/submissions/{{submission_id}}/card",
    "list_row_marks": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/rows",
    "mark_row": f"PUT {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/rows",
    "choose_submission": f"PUT {API}/submissions/{{submission_id}}/choice",
    "close_question": f"PUT {API}/competitions/{{competition}}/questions/{{question_id}}/closed",
    "count_announcement_receivers": f"GET {API}/competitions/{{competition}}/announcements/receivers",
    "create_submission": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/submissions",
    "create_token": f"POST {API}/tokens",
    "create_validation": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/validations",
    "cite_board": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/citation",
    "cite_competition": f"GET {API}/competitions/{{competition}}/citation",
    "discard_judging_round": f"DELETE {API}/competitions/{{competition}}/judging/{{round_name}}",
    "dismiss_annotator": (
        f"DELETE {API}/competitions/{{competition}}/judging/{{round_name}}/annotators/{{language}}/{{username}}"
    ),
    "download_starter_kit": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/starter-kit.zip",
    "download_file": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/files/{{name}}",
    "download_submission": f"GET {API}/submissions/{{submission_id}}/file",
    "edit_announcement": f"PUT {API}/competitions/{{competition}}/announcements/{{announcement_id}}",
    "edit_declaration": f"PATCH {API}/competitions/{{competition}}/declaration",
    "export_board": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/table",
    "export_declaration": f"GET {API}/competitions/{{competition}}/declaration.zip",
    "export_judgements": f"GET {API}/competitions/{{competition}}/judging/{{round_name}}/marks.csv",
    "export_participants": f"GET {API}/competitions/{{competition}}/participants.csv",
    "export_predictions": f"GET {API}/competitions/{{competition}}/predictions.zip",
    "get_announcement_feed": f"GET {API}/competitions/{{competition}}/announcements.atom",
    "get_board": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}",
    "get_board_csv": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}.csv",
    "get_public_team": f"GET {API}/competitions/{{competition}}/teams/{{team}}",
    "get_board_feed": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/feed.atom",
    "get_calendar": f"GET {API}/competitions/{{competition}}/dates.ics",
    "get_competition": f"GET {API}/competitions/{{competition}}",
    "get_declaration": f"GET {API}/competitions/{{competition}}/declaration",
    "get_judging_round": f"GET {API}/competitions/{{competition}}/judging/{{round_name}}",
    "compare_rows": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/compare",
    "get_official_board": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/official",
    "get_official_board_by_number": (
        f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/official/{{number}}"
    ),
    "get_phase": f"GET {API}/competitions/{{competition}}/phases/{{phase}}",
    "compare_submissions": f"GET {API}/submissions/{{submission_id}}/comparison/{{other_id}}",
    "get_problems_csv": f"GET {API}/submissions/{{submission_id}}/problems.csv",
    "get_picture": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/pictures/{{picture}}",
    "get_report": f"GET {API}/submissions/{{submission_id}}/report",
    "get_report_csv": f"GET {API}/submissions/{{submission_id}}/report.csv",
    "get_program_log": f"GET {API}/submissions/{{submission_id}}/program-log",
    "get_report_text": f"GET {API}/submissions/{{submission_id}}/report/{{name}}.txt",
    "get_results": f"GET {API}/competitions/{{competition}}/tasks/{{task}}/results",
    "get_results_csv": f"GET {API}/competitions/{{competition}}/tasks/{{task}}/results.csv",
    "get_revision": f"GET {API}/competitions/{{competition}}/revisions/{{number}}",
    "get_submission": f"GET {API}/submissions/{{submission_id}}",
    "get_task": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}",
    "get_validation": f"GET {API}/validations/{{validation_id}}",
    "get_validation_problems_csv": f"GET {API}/validations/{{validation_id}}/problems.csv",
    "grant_role": f"PUT {API}/competitions/{{competition}}/roles/{{role}}/{{username}}",
    "import_judgements": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/judging/marks",
    "list_announcements": f"GET {API}/competitions/{{competition}}/announcements",
    "list_competitions": f"GET {API}/competitions",
    "list_failed_runs": f"GET {API}/competitions/{{competition}}/failed-runs",
    "list_leaks": f"GET {API}/competitions/{{competition}}/leaks",
    "list_gold": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/gold",
    "list_judging_rounds": f"GET {API}/competitions/{{competition}}/judging",
    "list_participants": f"GET {API}/competitions/{{competition}}/participants",
    "list_questions": f"GET {API}/competitions/{{competition}}/questions",
    "list_pictures": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/boards/{{board}}/pictures",
    "list_revisions": f"GET {API}/competitions/{{competition}}/revisions",
    "list_roles": f"GET {API}/competitions/{{competition}}/roles",
    "list_submissions": f"GET {API}/submissions",
    "list_tokens": f"GET {API}/tokens",
    "publish_announcement": f"POST {API}/competitions/{{competition}}/announcements",
    "publish_gold": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/gold/{{version}}/publish",
    "check_gold": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/gold/{{version}}/check",
    "publish_judging_round": f"PUT {API}/competitions/{{competition}}/judging/{{round_name}}/publication",
    "put_logo": f"PUT {API}/admin/looks/logos/{{scheme}}",
    "put_gold": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/gold",
    "queue_failed_runs_again": f"POST {API}/competitions/{{competition}}/failed-runs/queue-again",
    "list_rescorings": f"GET {API}/competitions/{{competition}}/rescorings",
    "start_rescoring": f"POST {API}/competitions/{{competition}}/rescorings",
    "get_rescoring": f"GET {API}/competitions/{{competition}}/rescorings/{{rescoring}}",
    "get_rescoring_diff": f"GET {API}/competitions/{{competition}}/rescorings/{{rescoring}}/diff",
    "publish_rescoring": f"POST {API}/competitions/{{competition}}/rescorings/{{rescoring}}/publish",
    "drop_rescoring": f"POST {API}/competitions/{{competition}}/rescorings/{{rescoring}}/drop",
    "queue_failed_run_again": f"POST {API}/competitions/{{competition}}/failed-runs/{{run_id}}/queue-again",
    "read_account": f"GET {API}/me",
    "read_audit_log": f"GET {API}/audit",
    "read_health": "GET /healthz",
    "list_own_invitations": f"GET {API}/me/invitations",
    "accept_invitation": f"POST {API}/me/invitations/{{invitation_id}}/accept",
    "decline_invitation": f"POST {API}/me/invitations/{{invitation_id}}/decline",
    "read_archive": f"GET {API}/me/archive",
    "request_archive": f"POST {API}/me/archive",
    "download_archive": f"GET {API}/me/archive/file",
    "read_deletion": f"GET {API}/me/deletion",
    "delete_account": f"POST {API}/me/deletion",
    "keep_account": f"DELETE {API}/me/deletion",
    "read_publication_consent": f"GET {API}/competitions/{{competition}}/publication-consent",
    "set_publication_consent": f"PUT {API}/competitions/{{competition}}/publication-consent",
    "read_privacy": f"GET {API}/privacy",
    "read_looks": f"GET {API}/admin/looks",
    "read_mail_choices": f"GET {API}/me/mail",
    "read_readiness": "GET /readyz",
    "register": f"POST {API}/register",
    "reopen_question": f"DELETE {API}/competitions/{{competition}}/questions/{{question_id}}/closed",
    "revoke_role": f"DELETE {API}/competitions/{{competition}}/roles/{{role}}/{{username}}",
    "revoke_token": f"DELETE {API}/tokens/{{token_id}}",
    "get_registration": f"GET {API}/competitions/{{competition}}/registration",
    "register_for_competition": f"PUT {API}/competitions/{{competition}}/registration",
    "list_all_submissions": f"GET {API}/competitions/{{competition}}/submissions",
    "mark_submissions": f"PUT {API}/competitions/{{competition}}/submissions/marks",
    "rescore_submissions": f"POST {API}/competitions/{{competition}}/submissions/rescoring",
    "get_ranking": f"GET {API}/competitions/{{competition}}/phases/{{phase}}/rankings/{{ranking}}",
    "list_downloads": f"GET {API}/competitions/{{competition}}/downloads",
    "export_downloads": f"GET {API}/competitions/{{competition}}/downloads.csv",
    "export_grades": f"GET {API}/competitions/{{competition}}/grades.csv",
    "make_joining_code": f"POST {API}/competitions/{{competition}}/joining-code",
    "end_joining_code": f"DELETE {API}/competitions/{{competition}}/joining-code",
    "list_registrations": f"GET {API}/competitions/{{competition}}/registrations",
    "export_registrations": f"GET {API}/competitions/{{competition}}/registrations.csv",
    "decide_registrations": f"PUT {API}/competitions/{{competition}}/registrations",
    "decide_registration": f"PUT {API}/competitions/{{competition}}/registrations/{{username}}",
    "get_team": f"GET {API}/competitions/{{competition}}/team",
    "create_team": f"POST {API}/competitions/{{competition}}/team",
    "leave_team": f"DELETE {API}/competitions/{{competition}}/team",
    "rename_team": f"PUT {API}/competitions/{{competition}}/team/name",
    "list_merge_offers": f"GET {API}/competitions/{{competition}}/team/merging",
    "ask_to_merge": f"POST {API}/competitions/{{competition}}/team/merging",
    "accept_merge": f"POST {API}/competitions/{{competition}}/team/merging/{{offer_id}}/acceptance",
    "end_merge_offer": f"DELETE {API}/competitions/{{competition}}/team/merging/{{offer_id}}",
    "transfer_team": f"PUT {API}/competitions/{{competition}}/team/captain",
    "join_team": f"POST {API}/competitions/{{competition}}/team/members",
    "remove_logo": f"DELETE {API}/admin/looks/logos/{{scheme}}",
    "remove_team_member": f"DELETE {API}/competitions/{{competition}}/team/members/{{username}}",
    "invite_to_team": f"POST {API}/competitions/{{competition}}/team/invitation",
    "revoke_invitation": f"DELETE {API}/competitions/{{competition}}/team/invitation",
    "start_judging_round": f"POST {API}/competitions/{{competition}}/phases/{{phase}}/tasks/{{task}}/judging",
    "withdraw_announcement": f"DELETE {API}/competitions/{{competition}}/announcements/{{announcement_id}}",
    "withdraw_choice": f"DELETE {API}/submissions/{{submission_id}}/choice",
    "put_submission_back": f"DELETE {API}/submissions/{{submission_id}}/withdrawal",
    "withdraw_submission": f"PUT {API}/submissions/{{submission_id}}/withdrawal",
    "withdraw_judging_round": f"DELETE {API}/competitions/{{competition}}/judging/{{round_name}}/publication",
    "read_server_announcements": f"GET {API}/announcements",
    "list_server_announcements": f"GET {API}/admin/announcements",
    "announce_to_server": f"POST {API}/admin/announcements",
    "end_server_announcement": f"DELETE {API}/admin/announcements/{{announcement_id}}",
    "list_settings": f"GET {API}/admin/settings",
    "change_setting": f"PUT {API}/admin/settings/{{setting}}",
    "reset_setting": f"DELETE {API}/admin/settings/{{setting}}",
    "search_people": f"GET {API}/admin/people",
    "read_person": f"GET {API}/admin/people/{{username}}",
    "demote_administrator": f"DELETE {API}/admin/people/{{username}}/administration",
    "block_account": f"PUT {API}/admin/people/{{username}}/block",
    "delete_account_of": f"PUT {API}/admin/people/{{username}}/deletion",
    "keep_account_of": f"DELETE {API}/admin/people/{{username}}/deletion",
    "unblock_account": f"DELETE {API}/admin/people/{{username}}/block",
    "confirm_address_of": f"PUT {API}/admin/people/{{username}}/confirmation",
    "reset_second_factor_of": f"DELETE {API}/admin/people/{{username}}/second-factor",
    "set_organiser_rules": f"PUT {API}/admin/people/{{username}}/organising",
    "ban_domain": f"PUT {API}/admin/banned-domains/{{domain}}",
    "list_organising_requests": f"GET {API}/admin/requests",
    "answer_organising_request": f"PUT {API}/admin/requests/{{request_id}}/answer",
    "list_competition_sizes": f"GET {API}/admin/competitions",
    "transfer_competition": f"PUT {API}/admin/competitions/{{competition}}/owner",
}
ERROR = {"$ref": "#/components/schemas/ErrorBody"}
#: Answered without asking who asks.
OPEN = {
    "register",
    "read_health",
    "read_readiness",
    "read_privacy",
    "list_competitions",
    "get_competition",
    "get_phase",
    "cite_competition",
    "get_calendar",
    "get_board_feed",
    "list_announcements",
    "read_server_announcements",
    "get_announcement_feed",
}

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = application().openapi()
    return found


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_operations_keep_their_names(document: dict[str, Any]) -> None:
    assert {op["operationId"]: f"{method} {path}" for method, path, op in operations(document)} == OPERATIONS


def test_every_operation_says_what_it_does(document: dict[str, Any]) -> None:
    described = {tag["name"] for tag in document["tags"]}
    for _, path, operation in operations(document):
        assert 5 < len(operation["summary"]) < 80, path
        assert not operation["summary"].endswith("."), path
        assert set(operation["tags"]) <= described, path


def test_names_of_schemas_do_not_depend_on_where_their_code_lies(document: dict[str, Any]) -> None:
    """Check that no two models share a name: such models get their module's path as prefix, in every generated client,
    too.
    """
    plain = re.compile(r"[A-Z][A-Za-z0-9]*")
    assert [name for name in document["components"]["schemas"] if not plain.fullmatch(name)] == []


def test_every_error_has_the_one_shape(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        assert "503" in errors, path
        for status, answer in errors.items():
            assert answer["content"]["application/json"]["schema"] == ERROR, (path, status)
            assert answer["description"] not in ("", "Error"), (path, status)
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_whoever_asks_for_authentication_says_so(document: dict[str, Any]) -> None:
    assert set(document["components"]["securitySchemes"]) == {"token", "session"}
    for _, path, operation in operations(document):
        asks = operation["operationId"] not in OPEN
        assert bool(operation.get("security")) is asks, path
        assert ("401" in operation["responses"]) is asks, path


def test_every_answer_and_every_body_has_an_example(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            for kind, content in answer.get("content", {}).items():
                assert has_example(document, content) or is_binary(content), (path, status, kind)
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            assert has_example(document, content), (path, kind)


def has_example(document: dict[str, Any], content: dict[str, Any]) -> bool:
    name = content["schema"].get("$ref", "").rsplit("/", 1)[-1]
    return "example" in content or bool(document["components"]["schemas"].get(name, {}).get("examples"))


def is_binary(content: dict[str, Any]) -> bool:
    return bool(content["schema"].get("format") == "binary")


def test_successful_answers_have_models(document: dict[str, Any]) -> None:
    """JSON that is not described by a model would be described by nothing."""
    for _, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            json = answer.get("content", {}).get("application/json")
            if status < "300" and json is not None:
                assert "$ref" in json["schema"], (path, status)


def test_every_parameter_of_a_query_is_described(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query" and parameter["name"] != "limit":
                assert parameter.get("description"), (path, parameter["name"])


def models() -> list[type[ApiModel]]:
    for module in pkgutil.walk_packages(app.web.__path__, "app.web."):
        importlib.import_module(module.name)
    found, new = set(), [ApiModel]
    while new:
        new = [child for model in new for child in model.__subclasses__() if child not in found]
        found.update(new)
    return sorted(found, key=lambda model: model.__name__)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_examples_are_true(model: type[ApiModel]) -> None:
    extra = model.model_config.get("json_schema_extra") or {}
    assert isinstance(extra, dict)
    examples: Any = extra.get("examples", [])
    for example in examples:
        read = model.model_validate(example)
        assert set(example) == set(read.model_dump(mode="json"))  # an example leaves nothing out


def test_the_upload_is_described_as_multipart(document: dict[str, Any]) -> None:
    path = OPERATIONS["create_submission"].removeprefix("POST ")
    body = document["paths"][path]["post"]["requestBody"]
    schema = body["content"]["multipart/form-data"]["schema"]
    assert body["required"] is True
    assert schema["required"] == ["file"]
    assert set(schema["properties"]) == {"file", "track", "system", "method", "description"}
    headers = [p["name"] for p in document["paths"][path]["post"]["parameters"] if p["in"] == "header"]
    assert headers == ["idempotency-key"]


def test_it_is_sent_as_it_is(site: Site) -> None:
    with site.client() as visitor:
        sent = visitor.get("/openapi.json")
    assert sent.json() == application().openapi()
    assert sent.headers["Content-Type"] == "application/json"


def test_it_is_made_once_and_kept_as_text() -> None:
    app, made = FastAPI(openapi_url=None, title="Small"), []

    def describe_small() -> dict[str, Any]:
        made.append(1)
        return FastAPI.openapi(app)

    app.openapi = describe_small  # type: ignore[method-assign]
    serve_description(app)
    [route] = [one for one in app.routes if isinstance(one, Route)]
    first, second = (route.endpoint(Request({"type": "http"})).body for _ in range(2))
    assert first == second
    assert json.loads(first)["info"]["title"] == "Small"
    assert made == [1]
    assert app.openapi_schema is None
