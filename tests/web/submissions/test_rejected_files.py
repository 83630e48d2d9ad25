"""Files that were rejected after several attempts: everybody who asks reads why, and the reason stays."""

from __future__ import annotations

from app.base.db import writing
from app.submissions.rejected import clear_rejected_files
from tests import world
from tests.web.site import BROWSER, Person, Site, run_of
from tests.world import DAY, NOW


def test_a_file_that_is_not_kept_any_more_says_so(site: Site, ada: Person) -> None:
    submission = ada.submitted()
    world.reject(site.engine, run_of(site, submission))
    assert ada.client.get(submission["links"]["file"]).status_code == 200
    with writing(site.engine) as session:
        assert clear_rejected_files(session, site.settings.rejected_days, NOW + 30 * DAY) == 1
    gone = ada.client.get(submission["links"]["file"])
    assert gone.status_code == 404
    assert "This file was rejected, and rejected files are deleted after 30 days" in gone.json()["error"]["message"]
    document = ada.client.get(submission["links"]["self"]).json()
    assert (document["status"], len(document["problems"])) == ("rejected", 1)
    page = ada.client.get(f"/submissions/{submission['id']}", headers=BROWSER).text
    assert "deleted, as rejected files are after some time" in page
    assert f'href="{submission["links"]["file"]}"' not in page
