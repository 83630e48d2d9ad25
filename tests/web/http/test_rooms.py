"""The place that is left to an organiser, while a file comes: the smaller of it and what one file may have."""

from __future__ import annotations

import pytest

from app.base.errors import UploadTooLarge
from app.competitions.organisers import QuotaReached, Room
from app.web.http.room import within


@pytest.mark.parametrize(("left", "bound"), [(50, 50), (500, 100), (0, 0)])
def test_a_file_is_as_large_as_both_allow(left: int, bound: int) -> None:
    with within(Room(left=left, used=10, limit=left + 10), 100) as found:
        assert found == bound


@pytest.mark.parametrize(("left", "refusal"), [(50, QuotaReached), (100, UploadTooLarge), (500, UploadTooLarge)])
def test_who_has_no_place_left_is_told_so_and_else_that_the_file_is_too_large(
    left: int, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal) as refused, within(Room(left=left, used=10, limit=left + 10), 100):
        raise UploadTooLarge("It is too large.", limit_bytes=100)
    assert type(refused.value) is refusal
