"""Serving a home over HTTP until a signal ends it."""

from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
from starlette.routing import BaseRoute

from holdfast.app.http_door.listening import Listening, answering, is_loopback, open_door
from holdfast.app.http_door.rules import Door
from holdfast.surfaces.http.application import application
from holdfast.surfaces.http.chat import Chats
from holdfast.surfaces.http.guard import Guard
from holdfast.surfaces.http.house import House, Opened, open_house
from holdfast.surfaces.http.pages import Pages, page_routes
from holdfast.surfaces.http.receipts import Receipts
from holdfast.surfaces.http.table import ROUTES

__all__ = ["Listening", "Opened", "Pages", "Told", "is_loopback", "serve"]

_ENDING_SECONDS = 3


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """Where it listens, for whoever started it."""

    address: str
    token: str
    made_up: bool
    """Whether the token is new: nobody else knows it."""


async def serve(
    opened: Opened, listening: Listening, pages: Pages, tell: Callable[[Told], None]
) -> None:
    """Answer until a signal comes; OSError when the address cannot be listened at, JournalError."""
    async with open_door(listening) as door, open_house(opened) as house:
        port = urlsplit(door.address).port or 0
        guarded = Guard(
            application(house, ROUTES, _receipts(house), _others(house, pages)),
            Door(listening.names, door.token),
            port,
        )
        tell(Told(address=door.address, token=door.token, made_up=listening.token is None))

        def ending() -> None:
            house.leaving.set()
            house.feeds.close()

        await answering(guarded, door, ending, _ENDING_SECONDS)


def _receipts(house: House) -> Receipts:
    home = house.around.state_home or house.around.data_home
    return Receipts(home / "http-receipts.db", house.clock)


def _others(house: House, pages: Pages) -> list[BaseRoute]:
    return [*Chats(house).routes(), *page_routes(pages)]
