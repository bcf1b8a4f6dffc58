"""Serving a home over HTTP until a signal ends it.

The first one lets runs and answers under way end, for a while; the second one stops them, which
makes runs due again; the third one is the end of the process.
"""

import os
import signal
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
from anyio import create_task_group
from starlette.routing import BaseRoute

from holdfast.app.http_door.listening import (
    Listening,
    answering_until,
    heed_signals,
    is_loopback,
    open_door,
)
from holdfast.app.http_door.rules import Door
from holdfast.surfaces.http.application import application
from holdfast.surfaces.http.chat import Chats
from holdfast.surfaces.http.guard import Guard
from holdfast.surfaces.http.house import DRAIN_SECONDS, House, Opened, open_house
from holdfast.surfaces.http.pages import Pages, page_routes
from holdfast.surfaces.http.receipts import Receipts
from holdfast.surfaces.http.table import ROUTES

__all__ = ["Listening", "Opened", "Pages", "Told", "is_loopback", "serve"]


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
    async with open_door(listening) as door, create_task_group() as group:
        async with open_house(opened) as house:
            port = urlsplit(door.address).port or 0
            receipts = _receipts(house)
            guarded = Guard(
                application(house, ROUTES, receipts, _others(house, receipts, pages)),
                Door(listening.names, door.token),
                port,
            )
            ends = house.ends
            group.start_soon(heed_signals, ends.leaving.set, ends.hurrying.set, _die)
            address = _to_be_opened(door.address)
            tell(Told(address=address, token=door.token, made_up=listening.token is None))
            await answering_until(guarded, door, ends, int(DRAIN_SECONDS))
        group.cancel_scope.cancel()


def _to_be_opened(address: str) -> str:
    """As a browser here reaches it: nobody may come under the name of all addresses."""
    ours = address.replace("//0.0.0.0:", "//127.0.0.1:")
    return ours.replace("//[::]:", "//[::1]:")


def _die() -> None:
    """It was told twice before, and still is not gone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)


def _receipts(house: House) -> Receipts:
    home = house.around.state_home or house.around.data_home
    return Receipts(home / "http-receipts.db", house.clock)


def _others(house: House, receipts: Receipts, pages: Pages) -> list[BaseRoute]:
    return [*Chats(house, receipts).routes(), *page_routes(pages)]
