"""The document that describes the API, made from the table of routes and nothing else."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast._version import __version__
from holdfast.contract.json_value import JsonObject
from holdfast.surfaces.http.problems import CODES, TroubleAnswer
from holdfast.surfaces.http.routes import API, Query, Route

_NAMED = re.compile(r"\{(\w+)(?::path)?\}")
_REF = "#/components/schemas/{name}"
_ALWAYS = (400, 401, 403, 413, 422, 429, 503)
SAYS = {
    400: "It is malformed.",
    401: "The token is missing or wrong.",
    403: "It comes from another site.",
    404: "There is no such thing.",
    409: "It does not fit what is so by now; nothing was done.",
    413: "It is too large.",
    415: "The body is no JSON.",
    422: "Something of it is not valid.",
    429: "There are too many requests.",
    502: "The model failed.",
    503: "It cannot be done at the moment.",
}


def document(routes: Sequence[Route]) -> JsonObject:
    """The whole of it."""
    kinds = [kind for route in routes for kind in (route.query, route.body, route.gives) if kind]
    schemas, components = msgspec.json.schema_components([*kinds, TroubleAnswer], ref_template=_REF)
    known = dict(zip(map(id, [*kinds, TroubleAnswer]), schemas, strict=True))
    paths: dict[str, dict[str, object]] = {}
    for route in routes:
        path = _NAMED.sub(r"{\1}", API + route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, known, components)
    told: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "holdfast",
            "version": __version__,
            "description": "Sessions, calls, approvals and tools of one home (docs/http.md).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return told


def _operation(
    route: Route, known: dict[int, dict[str, Any]], components: dict[str, Any]
) -> dict[str, object]:
    operation: dict[str, object] = {
        "operationId": route.name,
        "summary": route.says,
        "tags": [route.room],
        "parameters": [*_named(route), *_query(route, components)],
        "responses": _responses(route, known),
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": known[id(route.body)]}},
        }
    return operation


def _named(route: Route) -> list[dict[str, object]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _NAMED.findall(route.path)
    ]


def _query(route: Route, components: dict[str, Any]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    if route.query is not Query:
        schema = components[route.query.__name__]
        required = schema.get("required", [])
        for name, one in schema["properties"].items():
            found.append({"name": name, "in": "query", "required": name in required, "schema": one})
    if route.writes:
        said = "The same key again gives the same answer, and nothing is done twice."
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": said,
                "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
            }
        )
    return found


def _responses(route: Route, known: dict[int, dict[str, Any]]) -> dict[str, object]:
    done: dict[str, object] = {"description": route.says}
    if route.gives is not None:
        done["content"] = {"application/json": {"schema": known[id(route.gives)]}}
    elif route.media != "application/json":
        done["content"] = {route.media: {"schema": {"type": "string"}}}
    told: dict[str, object] = {str(route.status): done}
    more = (415,) if route.body is not None else ()
    for status in sorted({*_ALWAYS, *more, *((409,) if route.writes else ()), *route.fails}):
        schema = known[id(TroubleAnswer)]
        told[str(status)] = {
            "description": f"{CODES[status]}: {SAYS[status]}",
            "content": {"application/json": {"schema": schema}},
        }
    return told
