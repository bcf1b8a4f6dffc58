"""Every route there is."""

import msgspec
from starlette.responses import Response

from holdfast.contract.json_value import JsonObject
from holdfast.surfaces.http import (
    about,
    commands,
    events,
    evidence,
    files,
    looking,
    replays,
    rules,
    sessions,
    tools,
    waiting,
)
from holdfast.surfaces.http.openapi import document
from holdfast.surfaces.http.routes import Plain, Route


async def _describe(_asked: Plain) -> Response:
    """This document."""
    return Response(msgspec.json.encode(DOCUMENT), media_type="application/json")


ROUTES: tuple[Route, ...] = (
    *about.ROUTES,
    *sessions.ROUTES,
    *events.ROUTES,
    *commands.ROUTES,
    *files.ROUTES,
    *replays.ROUTES,
    *waiting.ROUTES,
    *tools.ROUTES,
    *rules.ROUTES,
    *looking.ROUTES,
    *evidence.ROUTES,
    Route(
        method="GET",
        path="/openapi.json",
        name="describe",
        says="This document.",
        answer=_describe,
        gives=JsonObject,
    ),
)
DOCUMENT = document(ROUTES)
