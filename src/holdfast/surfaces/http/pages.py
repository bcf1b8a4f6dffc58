"""The console's pages as they are sent. What they hold is decided by whoever hands them in."""

from collections.abc import Callable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

CONSOLE = "/console"
_INDEX = "index.html"


class Page(Protocol):
    """One file."""

    @property
    def content(self) -> bytes:
        """All of it."""
        ...

    @property
    def media_type(self) -> str:
        """What it is."""
        ...

    @property
    def etag(self) -> str:
        """In quotes: another content has another one."""
        ...


Pages = Callable[[str], Page | None]
"""The file of a name; None: there is none."""


def page_routes(pages: Pages) -> list[BaseRoute]:
    """The console's addresses: files below `static`; elsewhere the one page that knows them."""

    async def static(request: Request) -> Response:
        return _sent(request, pages(request.path_params["name"]))

    async def place(request: Request) -> Response:
        return _sent(request, pages(_INDEX))

    async def front(_request: Request) -> Response:
        return RedirectResponse(f"{CONSOLE}/", 307)

    return [
        Route("/", front, methods=["GET"]),
        Route(CONSOLE, front, methods=["GET"]),
        Route(f"{CONSOLE}/static/{{name:path}}", static, methods=["GET"]),
        Route(f"{CONSOLE}/{{place:path}}", place, methods=["GET"]),
    ]


def _sent(request: Request, page: Page | None) -> Response:
    if page is None:
        return Response("there is no such page", 404, media_type="text/plain")
    headers = {"etag": page.etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == page.etag:
        return Response(status_code=304, headers=headers)
    return Response(page.content, 200, headers, page.media_type)
