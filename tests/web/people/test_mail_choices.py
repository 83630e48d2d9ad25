"""Choices of mail are made on the account page, each kind separately, and by nobody else."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.base.api_links import API
from app.base.db import reading
from app.models import User
from app.people.mail import MailKind, choice_of, wants
from tests import world
from tests.web.site import Site, csrf_of


def wanted(site: Site, username: str) -> list[MailKind]:
    with reading(site.engine) as session:
        user = session.scalars(select(User).where(User.username == username)).one()
        choice = choice_of(session, user)
        return [kind for kind in MailKind if wants(choice, kind)]


KINDS = [MailKind.ANNOUNCEMENTS, MailKind.RESULTS]


@pytest.mark.parametrize("kinds", [[], [MailKind.ANNOUNCEMENTS], [MailKind.RESULTS], KINDS])
def test_each_kind_is_switched_for_itself_and_for_oneself(site: Site, kinds: list[MailKind]) -> None:
    ada, _ = (world.add_user(site.engine, name) for name in ("ada", "eve"))
    browser = site.browser(ada)
    form = {"csrf_token": csrf_of(browser.get("/account").text), **{str(kind): "at_once" for kind in kinds}}
    assert browser.post("/account/mail", data=form).status_code == 200
    assert (wanted(site, "ada"), wanted(site, "eve")) == (kinds, [MailKind.ANNOUNCEMENTS])


def test_a_program_chooses_and_reads_the_same(site: Site) -> None:
    ada, eve = site.person("ada"), site.person("eve")
    mine = f"{API}/me/mail"
    at_once = {"announcements_pace": "at_once", "results_pace": "at_once"}
    usual = {"announcements": True, "results": False, **at_once}
    assert ada.client.get(mine).json() == usual, "until one chooses"
    chosen = {"announcements": False, "results": True, "announcements_pace": "weekly", "results_pace": "daily"}
    assert ada.client.put(mine, json=chosen).json() == chosen == ada.client.get(mine).json()
    only = ([MailKind.RESULTS, MailKind.DIGESTS], [MailKind.ANNOUNCEMENTS])
    assert (wanted(site, "ada"), wanted(site, "eve")) == only
    both = {"announcements": True, "results": True}
    assert eve.client.put(mine, json=both).json() == {**both, **at_once}
