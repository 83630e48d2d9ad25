"""A report is for its team, and for organisers with the right to submissions; to others it is not there."""

from __future__ import annotations

from app.models import Right
from tests.web.mwe_world import scored_submission
from tests.web.one_right import Organisers, only
from tests.web.site import Person, Site

REPORT, API_REPORT = (f"{start}/submissions/{{submission_id}}/report" for start in ("", "/api/v1"))
ROUTES = (f"GET {REPORT}", f"GET {API_REPORT}", f"GET {API_REPORT}.csv", f"GET {API_REPORT}/{{name}}.txt")


def test_a_report_is_there_for_the_right_to_submissions_alone(site: Site, ada: Person, organisers: Organisers) -> None:
    sent = str(scored_submission(site.engine, ada.user))
    found = organisers.let_in(ROUTES, refused=404, submission_id=sent, name="parseme")
    assert found == only(Right.SUBMISSIONS, ROUTES)
