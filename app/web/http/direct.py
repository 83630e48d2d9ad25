"""A route that is described like any other, and answered past the framework's dependencies: for the one address that
hundreds send to in the same second. Solving its nine dependencies took as long as four statements.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute


class DirectRoute(APIRoute):
    """Its function gets the request and, as texts, the parts of the path and the headers that it names.

    Dependencies of it are described, and not called: who is asking, and whether they may, the function asks itself.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        headers = [(field.name, field.alias) for field in self.dependant.header_params]

        async def answer(request: Request) -> Response:
            named = {name: request.headers.get(header) for name, header in headers}
            response: Response = await self.endpoint(request, **request.path_params, **named)
            return response

        return answer
