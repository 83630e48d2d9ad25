from tests.web.test_judging_browser import annotator, press, expect, site, judging, world, SHEET, COMPETITION, chromium, look
from tests.web.conftest import empty_site, server
from sqlalchemy import select
from app.db import reading
from app.db import writing
from app.models import *
from app.roles import grant_role
from app.queries import find_competition
from app.judging.imports import *
from app.config import get_settings
def test_shots(annotator, site):
    page = annotator.page
    press(page, "3","2")
    expect(page.locator("#progress")).to_contain_text("Saved")
    page.screenshot(path="/tmp/item.png", full_page=True)
    page.set_viewport_size({"width": 375, "height": 800})
    page.screenshot(path="/tmp/item_phone.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})
    with writing(site.engine) as s:
        u=s.scalars(select(User).where(User.username=="anna")).one()
        grant_role(s, find_competition(s, COMPETITION), u, Role.ORGANISER, world.NOW)
        ids={sub.team_id: sub.id for sub in s.scalars(select(Submission))}
        olga=s.scalars(select(User).where(User.username=="olga")).one()
    ids=list(ids.values())
    rows="\n".join(["submission,item,annotator,mwe_sense,rest_sense,naturalness"]+[f"{ids[0]},en-1,A1,3,3,3",f"{ids[0]},en-1,A2,3,3,2",f"{ids[1]},en-1,A1,2,2,1",f"{ids[1]},en-1,A2,2,2,2",f"{ids[2]},en-3,A1,1,1,1",f"{ids[0]},pt-1,A1,3,3,3",f"{ids[1]},pt-1,A1,2,1,1"])
    with reading(site.engine) as s:
        c,pt=judging.places(s)
        b=read_file(s,get_settings().storage_dir,pt,rows.encode())
    with writing(site.engine) as s:
        c,pt=judging.places(s)
        import_marks(s,c,pt,b,name="paper",actor=olga,now=world.NOW)
    annotator.go(f"/competitions/{COMPETITION}/judging/paper"); page.screenshot(path="/tmp/round.png", full_page=True)
    annotator.go(f"/competitions/{COMPETITION}/judging/human"); page.screenshot(path="/tmp/round_h.png", full_page=True)
    annotator.go(f"/competitions/{COMPETITION}/judging"); page.screenshot(path="/tmp/rounds.png", full_page=True)
    annotator.go(f"/competitions/{COMPETITION}/phases/evaluation/tasks/detection/judging"); page.screenshot(path="/tmp/start.png", full_page=True)
