"""Pages that are shared, indexed, framed: what public boards show elsewhere, and that hidden ones show nothing."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from app.base.db import reading
from app.boards.leaderboard import build_leaderboard
from app.charts.preview import BoardPicture, PictureRow, draw_board
from app.competitions.find import find_board, find_competition
from app.competitions.visibility import Viewer
from app.looks.look import Looks
from app.web.boards.pages import _picture
from tests import world
from tests.web.paraphrase_world import set_visibility
from tests.web.site import Person, Site
from tests.world import COMPETITION, NOW, PHASE

PLACE = "/competitions/idioms/phases/evaluation/boards/zero-shot"
BASE = "https://scores.example.org"


@pytest.fixture
def scored(site: Site, ada: Person) -> Site:
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.61803)
    return site


def with_settings(site: Site, **changes: object) -> None:
    site.settings = site.settings.model_copy(update=changes)
    site.app.state.server = type(site.app.state.server)(site.settings, site.engine, lambda: site.now)


def test_a_picture_for_links_says_which_board_of_which_competition_it_is(scored: Site) -> None:
    """Check that there is no axis, and so no place, for a single score."""
    with reading(scored.engine) as session:
        competition = find_competition(session, COMPETITION)
        place = find_board(competition, PHASE, "one-shot")
        shown = build_leaderboard(session, *find_board(competition, PHASE, "zero-shot"), Viewer(None, NOW))
        found = _picture(Looks(name="Tasks", accent="#8a1c1c"), (competition, *place), shown, "10 Jan 2026")
    assert (found.competition, found.board, found.column, found.day) == (
        "Idioms",
        "one-shot, Evaluation",
        shown.columns[0].full_title,
        "10 Jan 2026",
    )
    assert (found.rows, found.more, found.baseline) == ((PictureRow("1", "Ada", "0.6180", None),), 0, None)
    assert (found.server.name, found.server.accent) == ("Tasks", "#8a1c1c")


def test_board_says_where_it_is_and_what_it_looks_like(scored: Site) -> None:
    with_settings(scored, base_url=BASE)
    with scored.client(Accept="text/html") as public:
        page = public.get(f"{PLACE}?sort=team").text
    assert f'<link rel="canonical" href="{BASE}{PLACE}">' in page, "whatever it was sorted by"
    assert f'<meta property="og:image" content="{BASE}{PLACE}/picture.png">' in page
    assert 'name="twitter:card" content="summary_large_image"' in page
    assert re.search(f'type="application/atom\\+xml" title="[^"]+" href="/api/v1{PLACE}/feed.atom"', page)


def test_server_that_does_not_know_its_name_claims_no_address(scored: Site) -> None:
    with scored.client(Accept="text/html") as public:
        page = public.get(PLACE, headers={"Host": "evil.example"}).text
    assert "evil.example" not in page
    assert "canonical" not in page
    assert "og:image" not in page


def test_hidden_board_has_no_picture_anywhere_and_is_not_listed(scored: Site) -> None:
    with_settings(scored, base_url=BASE)
    root = scored.person("root", is_administrator=True)
    with scored.client(Accept="text/html") as public, root.client:
        assert f"<loc>{BASE}{PLACE}</loc>" in public.get("/sitemap.xml").text
        assert public.get(f"{PLACE}/picture.png").status_code == 200
        set_visibility(scored.engine, board="hidden")
        assert "og:image" not in public.get(PLACE).text
        assert PLACE not in public.get("/sitemap.xml").text
        assert "/embed/" not in public.get("/competitions/idioms/cite").text
        embedded = public.get(f"/embed{PLACE}").text
        assert "This board is hidden" in embedded
        assert "Ada" not in embedded
        assert root.client.get(f"{PLACE}/picture.png").status_code == 404, "a picture is made for nobody in particular"


def test_picture_is_a_png_that_is_sent_once(scored: Site) -> None:
    with scored.client() as public:
        answer = public.get(f"{PLACE}/picture.png")
        assert answer.headers["Content-Type"] == "image/png"
        assert Image.open(io.BytesIO(answer.content)).size == (1200, 630)
        again = public.get(f"{PLACE}/picture.png", headers={"If-None-Match": answer.headers["ETag"]})
        assert again.status_code == 304


def test_picture_draws_each_row_and_leaves_out_letters_that_its_font_lacks() -> None:
    def drawn(*names: str) -> bytes:
        rows = tuple(PictureRow(str(at), name, "0.5", 50.0) for at, name in enumerate(names, 1))
        return draw_board(BoardPicture("Idioms", "Zero-shot", "F1", rows, 0, "2026-01-10"))

    assert drawn("Ada") != drawn("Eve")
    assert drawn("Ada") != drawn("Ada", "Eve")
    assert drawn("\N{TIBETAN LETTER KA}") == drawn("\N{TIBETAN LETTER KHA}"), "no font here has them"
    assert drawn("Ιδιωματικά") != drawn("Ιδιωτικά")
    assert drawn("A" * 200) == drawn("A" * 300), "cut where the room ends"


def test_embedded_board_has_no_script_and_leads_to_the_whole_one(scored: Site) -> None:
    with scored.client() as public:
        page = public.get(f"/embed{PLACE}").text
    assert "<script" not in page
    assert "<bdi>ada</bdi>" in page.lower()
    assert f'href="{PLACE}" target="_blank" rel="noopener"' in page


def test_scripts_of_other_sites_read_what_is_public_and_asked_for_by_nobody(scored: Site, ada: Person) -> None:
    board = f"/api/v1{PLACE}"
    with scored.client() as public:
        shared = "Access-Control-Allow-Origin"
        assert public.get(board).headers[shared] == "*"
        assert public.get("/api/v1/competitions").headers[shared] == "*"
        for path in ("/api/v1/me", PLACE, "/api/v1/submissions", f"{board}/feed.atom"):
            assert shared not in public.get(path).headers, path
        assert shared not in public.get(board, headers={"Cookie": "a=b"}).headers
    assert shared not in ada.client.get(board).headers, "with a token it may show more"


def test_search_engines_read_what_the_competition_is_and_no_more_than_a_script_can_hold(site: Site) -> None:
    with site.client(Accept="text/html") as public:
        page = public.get("/competitions/idioms").text
    [text] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert json.loads(text)["@type"] == "Dataset"


def test_robots_are_led_to_the_sitemap(site: Site) -> None:
    with_settings(site, base_url=BASE)
    with site.client() as public:
        assert f"Sitemap: {BASE}/sitemap.xml" in public.get("/robots.txt").text
        assert public.get("/apple-touch-icon.png").headers["Location"].startswith("/static/touch-icon.png")


def test_servers_own_texts_stand_in_the_footer_once_they_are_there(site: Site, tmp_path: Path) -> None:
    (tmp_path / "privacy.md").write_text("We keep **nothing** of you.\n\n<script>no</script>")
    with site.client(Accept="text/html") as public:
        assert public.get("/imprint").status_code == 404
        assert 'href="/imprint"' not in public.get("/").text
        with_settings(site, privacy_file=tmp_path / "privacy.md", imprint_file=tmp_path / "gone.md")
        page = public.get("/privacy").text
        assert "<strong>nothing</strong>" in page
        assert "<script>no" not in page
        assert '<a href="/privacy">Privacy</a>' in page
        assert public.get("/imprint").status_code == 404, "named, and not there"
