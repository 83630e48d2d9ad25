"""The pages: Jinja templates that work without JavaScript; scripts only add convenience.

The application fails to start if a form is not protected against forged requests: see `check_guards`.
"""

from __future__ import annotations

from fastapi.routing import APIRoute

from app.web.administration import (
    competitions_page as all_competitions,
    looks_page as admin_looks,
    operations_pages as operations,
    overview_page as administration,
    people_page as all_people,
    settings_page as live_settings,
)
from app.web.boards import compare_page as row_comparison, page as board, pages as boards, row_pages as rows
from app.web.competitions import (
    allowances_page as allowances,
    desk,
    file_page,
    life_page as life,
    overview,
    pages as competitions,
    rooms,
    search_page as search,
)
from app.web.declarations import (
    blueprint_pages as blueprints,
    images as declared_images,
    pages as declarations,
    setup_pages as setup,
    start_pages as starts,
)
from app.web.exports import pages as exports, wheels
from app.web.gold import pages as gold
from app.web.html.guards import is_guarded, is_own_form
from app.web.http.routers import add_routes, page_router
from app.web.judging import marks as judging_marks, pages as judging
from app.web.looks import pages as looks
from app.web.messages import pages as messages
from app.web.moderation import pages as moderation
from app.web.people import (
    data_pages as own_data,
    factor_pages as factors,
    identity_pages as identities,
    organising_request as asking,
    pages as account,
    password_pages as passwords,
    people_page as people,
    provider_pages as providers,
    second_pages as second,
)
from app.web.reports import pages as reports
from app.web.rescoring import pages as rescoring
from app.web.submissions import (
    card_page as submission_card,
    comparison_page as comparison,
    list as submissions,
    organisers_pages as all_submissions,
    page as submission,
    submit,
    validation_page as validation,
)
from app.web.teams import (
    merging_pages as merging,
    pages as team,
    public_page as public_team,
    registration_pages as registration,
)
from app.web.webhooks import pages as webhooks

router = page_router()
for part in (
    competitions,
    overview,
    file_page,
    search,
    declared_images,
    rooms,
    boards,
    registration,
    team,
    merging,
    webhooks,
    public_team,
    board,
    rows,
    row_comparison,
    submit,
    all_submissions,
    submissions,
    comparison,
    submission,
    submission_card,
    validation,
    gold,
    rescoring,
    desk,
    allowances,
    life,
    people,
    asking,
    starts,
    blueprints,
    setup,
    declarations,
    judging,
    judging_marks,
    reports,
    passwords,
    providers,
    identities,
    factors,
    second,
    own_data,
    account,
    messages,
    moderation,
    exports,
    wheels,
    looks,
    administration,
    operations,
    all_people,
    all_competitions,
    live_settings,
    admin_looks,
):
    add_routes(router, part.router)

#: Forms for people who cannot be logged in yet; these have `OwnForm`.
WITHOUT_LOGIN = frozenset(
    {
        "/login",
        "/login/finish/account",
        "/login/finish/link",
        "/login/finish/mail",
        "/login/finish/password",
        "/login/second",
        "/login/second/passkey",
        "/register",
        "/password/forgot",
        "/password/new",
    }
)
#: Logout without a login needs no form, and mail programs unsubscribe without one: these routes check it themselves.
WITHOUT_FORM = frozenset({"/logout", "/mail/unsubscribe"})
_READING = frozenset({"GET", "HEAD"})


class UnguardedForm(RuntimeError):
    """A form route checks neither the user nor the form's token: a programming error, raised at the start."""


def check_guards() -> None:
    """Raise UnguardedForm unless every form route of the pages has a guard of `app.web.html.guards`."""
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    sent = [route for route in routes if not (route.methods or set()) <= _READING]
    unguarded = [route for route in sent if not is_guarded(route.dependant)]
    own = {route.path for route in unguarded if is_own_form(route.dependant)}
    wrong = (own ^ WITHOUT_LOGIN) | ({route.path for route in unguarded} - own ^ WITHOUT_FORM)
    if wrong:
        raise UnguardedForm(
            f"Give these routes SentForm (or another guard), or make the exceptions say what is true: {sorted(wrong)}"
        )
