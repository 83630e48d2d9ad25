"""The route that is served past the framework's dependencies: its description equals what it requires."""

from __future__ import annotations

from fastapi.dependencies.models import Dependant

from app.web.http import identity
from app.web.http.arrival import DirectRoute
from app.web.http.routers import check_gate
from tests.web.routes import application


def test_whoever_adds_a_dependency_to_uploads_has_to_ask_it_there() -> None:
    (route,) = (route for route in application().router.routes if isinstance(route, DirectRoute))
    assert route.operation_id == "create_submission"
    called = {part.call for part in _all_of(route.dependant)}
    # `create_submission` asks the gate, and `submitter_of` what the others ask.
    asked = {check_gate, identity.api_user, identity.api_visitor, identity.visitor_of}
    assert called == {route.endpoint, *asked, identity._BEARER, identity._COOKIE}
    texts = (*route.dependant.path_params, *route.dependant.header_params)
    assert {field.field_info.annotation for field in texts} <= {str, str | None}
    assert not [*route.dependant.query_params, *route.dependant.cookie_params, *route.dependant.body_params]


def _all_of(dependant: Dependant) -> list[Dependant]:
    return [dependant, *(one for part in dependant.dependencies for one in _all_of(part))]
