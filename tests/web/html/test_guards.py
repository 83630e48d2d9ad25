"""The guards at the head of pages: nothing starts without them, and visitors without a log-in return after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from sqlalchemy import create_engine

from app.base.config import Settings
from app.base.errors import EvergoldError, Forbidden, InvalidForm, LimitReached, NotFound
from app.web import pages
from app.web.html.guards import OwnForm, PageForm, SentForm, Ticked, form_again, local_path
from app.web.html.rendering import site_texts
from app.web.http.context import Server
from app.web.http.routers import ForeignRouter, add_routes, page_router
from app.web.main import create_app
from tests import world
from tests.web.site import BROWSER, Site
from tests.world import COMPETITION, NOW


@contextmanager
def added(part: APIRouter) -> Iterator[None]:
    """The pages, with these routes among them."""
    before = list(pages.router.routes)
    add_routes(pages.router, part)
    try:
        yield
    finally:
        pages.router.routes[:] = before


def test_a_page_that_takes_a_form_without_a_guard_does_not_start() -> None:
    part = page_router()

    @part.post("/competitions/{competition}/give-away")
    def give_away(competition: str) -> Response:
        return Response()

    with added(part), pytest.raises(pages.UnguardedForm, match="/competitions/{competition}/give-away"):
        create_app(Settings())


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods_that_change_something_need_a_guard_too(method: str) -> None:
    part = page_router()
    part.add_api_route("/give-away", lambda: None, methods=[method])
    with added(part), pytest.raises(pages.UnguardedForm, match="/give-away"):
        create_app(Settings())


def test_a_guarded_one_starts() -> None:
    part = page_router()

    @part.post("/keep")
    def keep(user: SentForm) -> Response:
        return Response()

    with added(part):
        create_app(Settings())


def test_whoever_cannot_be_logged_in_sends_a_form_of_ours_all_the_same() -> None:
    part = page_router()
    part.add_api_route("/apply", lambda: None, methods=["POST"], dependencies=[OwnForm])
    with added(part), pytest.raises(pages.UnguardedForm, match="/apply"):
        create_app(Settings())


@pytest.mark.parametrize("exceptions", ["WITHOUT_LOGIN", "WITHOUT_FORM"])
def test_the_exceptions_are_named_and_no_longer_than_they_are_true(
    monkeypatch: pytest.MonkeyPatch, exceptions: str
) -> None:
    monkeypatch.setattr(pages, exceptions, getattr(pages, exceptions) | {"/gone"})
    with pytest.raises(pages.UnguardedForm, match="/gone"):
        create_app(Settings())


@pytest.mark.parametrize(
    ("sent", "page"),
    [
        ("rescoring/3/publish", "rescoring/3"),
        ("rescoring", "rescoring"),
        ("judging/human/annotators", "judging/human"),
        ("judging/human/items/en/7/clear", "judging/human/items/en/7"),
        ("phases/evaluation/tasks/idioms/gold/2/publish", "phases/evaluation/tasks/idioms/gold"),
        ("phases/evaluation/tasks/idioms/judging/marks", "phases/evaluation/tasks/idioms/judging"),
        ("questions/5/close", "questions"),
        ("failed/8/queue-again", "failed"),
        ("team/join", "team"),
    ],
)
def test_whoever_was_logged_out_comes_back_to_the_page_of_the_form(site: Site, sent: str, page: str) -> None:
    start = f"/competitions/{COMPETITION}"
    with site.client(**BROWSER) as anybody:
        answer = anybody.post(f"{start}/{sent}", data={})
        assert (answer.status_code, answer.headers["Location"]) == (303, f"/login?next={start}/{page}&done=expired")
        assert anybody.get(f"{start}/{page}").status_code != 405


def test_a_file_in_the_place_of_a_forms_token_is_no_token(site: Site) -> None:
    browser = site.browser(world.add_user(site.engine, "ada"))
    assert browser.post("/account/mail", files={"csrf_token": ("x.txt", b"x")}).status_code == 403


def test_own_texts_are_linked_where_there_are_some(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "imprint.md"
    file.write_text("We are who we are.")
    assert site_texts(site.settings) == [("Privacy", "/privacy")], "which is always there"
    assert site_texts(site.settings.model_copy(update={"imprint_file": file})) == [
        ("Privacy", "/privacy"),
        ("Imprint", "/imprint"),
    ]


@pytest.mark.parametrize("path", ["/", "/competitions/idioms?a=b", "/a//b"])
def test_one_is_led_back_to_a_page_of_ours(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize("path", ["", "//evil.example", "/\\evil.example", "https://evil.example", "a", "/\n/evil"])
def test_and_to_no_other(path: str) -> None:
    assert local_path(path) == "/"


# ---------------------------------------------------------------------------------------------------------- form_again


class Wish(PageForm):
    text: str = ""
    is_urgent: Ticked = False


def wish_page(form: Wish, competition: str, error: EvergoldError) -> Response:
    return PlainTextResponse(f"{competition}: {form.text}, {form.is_urgent}, {error.message}")


def answer_to(error: EvergoldError, *shown: type[EvergoldError]) -> Response:
    """Return the response of a route that raises the error, where the page is shown again for these."""

    @form_again(wish_page, *shown)
    def wish(request: Request, competition: str, form: Wish) -> Response:
        raise error

    app = FastAPI()
    app.state.server = Server(Settings(), create_engine("sqlite://"), clock=lambda: NOW)
    request = Request({"type": "http", "app": app})
    return wish(request=request, competition="demo", form=Wish.model_validate({"text": "more", "is_urgent": "yes"}))


def test_a_refused_form_is_shown_with_what_was_typed_and_the_status_of_the_error() -> None:
    answer = answer_to(InvalidForm("Less, please."))
    assert (answer.status_code, answer.body) == (422, b"demo: more, True, Less, please.")


def test_a_form_that_came_too_often_says_when_to_try_again() -> None:
    in_a_minute = (NOW + timedelta(seconds=60)).isoformat()
    answer = answer_to(LimitReached("Too often.", retry_at=in_a_minute))
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")


@pytest.mark.parametrize("error", [NotFound("There are no rescoring sets."), Forbidden("Not yours.")])
def test_what_must_not_be_seen_is_not_shown_with_the_form(error: EvergoldError) -> None:
    with pytest.raises(type(error)):
        answer_to(error)
    assert answer_to(error, EvergoldError).status_code == error.status, "unless the route names it"


def test_errors_that_a_route_does_not_name_are_passed_on() -> None:
    with pytest.raises(LimitReached):
        answer_to(LimitReached("Too often."), InvalidForm)


def test_an_upload_is_shown_again_too() -> None:
    @form_again(wish_page)
    async def wish(request: Request, competition: str, form: Wish) -> Response:
        raise InvalidForm("No file was chosen.")

    request = Request({"type": "http"})
    answer = asyncio.run(wish(request=request, competition="demo", form=Wish(text="more")))
    assert (answer.status_code, answer.body) == (422, b"demo: more, False, No file was chosen.")


def test_a_router_whose_addresses_nobody_checks_does_not_start() -> None:
    outer, inner = page_router(), page_router()
    outer.include_router(inner)
    inner.add_api_route("/inner", lambda: None)
    for foreign in (APIRouter(), outer):
        with pytest.raises(ForeignRouter):
            add_routes(pages.router, foreign)
