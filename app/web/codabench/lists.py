"""Pagination as in Codabench: `?page=` and `?page_size=`; responses have count, next, previous and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request

from app.base.errors import NotFound
from app.base.text import whole_number
from app.web.codabench.views import Paged
from app.web.http.context import ServerHere, public_address

LARGEST_PAGE = 1000
#: Page size for a request for all entries, more than any list has.
MOST_ENTRIES = 1_000_000
#: Values of parameters that request the last page, and a page with everything.
LAST, ALL = "last", "all"

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A requested page, with its parameters as written. address: of the list with all other parameters."""

    page: str
    page_size: str
    address: str

    def cut(self, count: int, usual_size: int) -> Cut:
        """Return the position of this page in a list of `count` entries. Raises NotFound for a page that does not
        exist.
        """
        size = self._size(usual_size)
        last = max(1, -(-count // size))
        page = last if self.page == LAST else self._page
        if not 1 <= page <= last:
            raise NotFound(f"This list has the pages 1 to {last}.")
        return Cut(self, count, size, page, last)

    def at(self, page: int) -> str:
        """Return the address of another page."""
        size = {"page_size": self.page_size} if self.page_size else {}
        mark = "&" if "?" in self.address else "?"
        return f"{self.address}{mark}{urlencode({'page': page, **size})}"

    def reach(self, usual_size: int) -> int:
        """Return how many entries to load to fill this page and to know whether there is a next one."""
        return MOST_ENTRIES if self.page == LAST else self._page * self._size(usual_size) + 1

    @property
    def _page(self) -> int:
        return whole_number(self.page, 10) or 0

    def _size(self, usual: int) -> int:
        if self.page_size.lower() == ALL:
            return LARGEST_PAGE
        return min(whole_number(self.page_size, 10) or 0, LARGEST_PAGE) or usual


@dataclass(frozen=True, slots=True)
class Cut:
    """One page of a list: page number `page` of `last`, with `size` of all `count` entries."""

    request: PageRequest
    count: int
    size: int
    page: int
    last: int

    @property
    def entries(self) -> slice:
        return slice((self.page - 1) * self.size, self.page * self.size)

    def answer(self, results: Sequence[Entry]) -> Paged[Entry]:
        """Return the response for the page. results: its entries, described."""
        return Paged(
            count=self.count,
            next=self.request.at(self.page + 1) if self.page < self.last else None,
            previous=self.request.at(self.page - 1) if self.page > 1 else None,
            page_size=self.size,
            results=results,
        )


def read_page(
    request: Request,
    server: ServerHere,
    page: Annotated[str, Query(max_length=10)] = "1",
    page_size: Annotated[str, Query(max_length=10)] = "",
) -> PageRequest:
    others = [(name, text) for name, text in request.query_params.multi_items() if name not in ("page", "page_size")]
    path = f"{request.url.path}?{urlencode(others)}" if others else request.url.path
    return PageRequest(page, page_size, public_address(request, server, path))


PageHere = Annotated[PageRequest, Depends(read_page)]
