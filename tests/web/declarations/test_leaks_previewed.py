"""A preview for authors of a competition: what its scores would reveal about gold, before there is any."""

from __future__ import annotations

from tests.web import markup
from tests.web.declarations.linguist import Linguist, written
from tests.web.reading import text_of


def test_the_preview_says_what_scores_would_tell_and_what_helps(ada: Linguist) -> None:
    place = written(ada)
    page = ada.browser.get(f"{place}/preview").text
    markup.check(page)
    shown = text_of(page)
    assert "For organisers only: what scores reveal about hidden gold" in shown
    assert "evaluation, main up to 100 % readable" in shown
    assert "private_part: {share: 0.5, …}" in shown
    ada.say(place, "phases/0/tasks/main/private_part", share="0.5", seed="nobody-guesses-this-of-a-test")
    shown = text_of(ada.browser.get(f"{place}/preview").text)
    assert "evaluation, main nothing well hidden public part: up to 100 %" in shown
