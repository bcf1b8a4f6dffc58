"""docs/reference/http.md: every route, from the table that the server answers by."""

import re

import msgspec

from holdfast.surfaces.http.openapi import SAYS
from holdfast.surfaces.http.problems import CODES
from holdfast.surfaces.http.routes import API, Body, Query, Route
from holdfast.surfaces.http.table import ROUTES
from reference_pages.shapes import fields_of, kind_words, table


def page() -> str:
    """The whole page."""
    lines = [
        "# Every route of the HTTP API",
        "",
        f"All paths are below `{API}`. Who may come in, streams, writing twice:",
        "[the server](../http.md).",
        "The same in full, with the shape of every answer, is `GET /openapi.json`.",
        "",
        "Chat completions are not in it: [sessions as models](../http.md#sessions-as-models).",
        "",
        'What went wrong is told as `{"error": {"code", "message", "next"}}` with one of these:',
        "",
        *table(
            ("status", "code", "when"),
            ((str(status), f"`{CODES[status]}`", SAYS[status]) for status in sorted(SAYS)),
        ),
    ]
    rooms: dict[str, list[Route]] = {}
    for route in ROUTES:
        rooms.setdefault(route.room, []).append(route)
    for room, routes in rooms.items():
        lines += [f"## {room}", ""]
        for route in routes:
            lines += _route(route)
    return "\n".join(lines)


def _route(route: Route) -> list[str]:
    path = re.sub(r"\{(\w+):path\}", r"{\1}", route.path)
    lines = [f"### `{route.method} {path}`", "", route.says, ""]
    rows = [*_rows("query", route.query), *_rows("body", route.body)]
    if rows:
        lines += table(("where", "name", "type", "default", "meaning"), rows)
    return [*lines, f"Answer {route.status}: {_answer(route)}", ""]


def _rows(where: str, struct: type[Query] | type[Body] | None) -> list[tuple[str, ...]]:
    if struct is None or struct is Query:
        return []
    return [
        (where, f"`{one.name}`", kind_words(one.kind), one.default, one.says)
        for one in fields_of(struct)
    ]


def _answer(route: Route) -> str:
    gives = route.gives
    if gives is None:
        return "nothing." if route.media == "application/json" else f"`{route.media}`."
    if isinstance(gives, type) and issubclass(gives, msgspec.Struct):
        names = ", ".join(f"`{one.name}`" for one in fields_of(gives))
        return f"an object with {names}."
    return "JSON."
