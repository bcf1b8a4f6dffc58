"""The application: every route of the table, read and checked on the way in, worded on the way out.

What a route does, who may come in, and what the console's pages hold is not known here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Way

from holdfast.surfaces.http.guard import MOST_BODY_BYTES, TooLarge
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import CODES, Problem, refusal, worded
from holdfast.surfaces.http.receipts import Receipts
from holdfast.surfaces.http.routes import API, Asked, Body, Route

_T = TypeVar("_T")
_encode = msgspec.json.Encoder().encode
_NO_STORE = {"cache-control": "no-store"}


def application(
    house: House, routes: Sequence[Route], receipts: Receipts, others: Sequence[BaseRoute] = ()
) -> Starlette:
    """Put it together. ``others``: what is no part of the API, as the console's pages."""
    ways = [
        Way(f"{API}{route.path}", _answering(house, route, receipts), methods=[route.method])
        for route in routes
    ]
    for way in ways:
        (way.methods or set()).discard("HEAD")  # of a stream it would never end
    made = Starlette(
        routes=[*_joined(ways), *others], exception_handlers={HTTPException: _not_routed}
    )
    made.router.redirect_slashes = False  # what is not in the document is not there
    return made


def _joined(ways: list[Way]) -> list[Way]:
    """Routes with fixed words go before those with names in the same place."""
    return sorted(ways, key=lambda way: [part.startswith("{") for part in way.path.split("/")])


def _answering(house: House, route: Route, receipts: Receipts) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            asked = Asked(
                house,
                dict(request.path_params),
                read_query(route, request.query_params.multi_items()),
                await _read_body(route, request),
                request,
            )
            if not route.writes:
                return _told(route, await route.answer(asked))

            async def written() -> Response:
                return _told(route, await route.answer(asked))

            sent = b"" if route.body is None else await request.body()
            return await receipts.once(request, sent, written)
        except ClientDisconnect:
            return Response(status_code=400)
        except TooLarge:
            return refusal(413, f"a request has {MOST_BODY_BYTES:,} bytes at most")
        except Exception as problem:  # noqa: BLE001 - whatever it is, whoever asked is told
            return worded(problem)

    return answer


def _told(route: Route, given: object) -> Response:
    if isinstance(given, Response):
        return given
    if route.gives is None:
        return Response(status_code=route.status, headers=_NO_STORE)
    return Response(_encode(given), route.status, _NO_STORE, "application/json")


def read_query(route: Route, items: Sequence[tuple[str, str]]) -> Any:  # noqa: ANN401 - as the route has it
    """What stands behind the question mark, as its type; Problem."""
    fields = {one.name: one for one in msgspec.structs.fields(route.query)}
    found: dict[str, object] = {}
    for name, value in items:
        if name in fields and "tuple" in str(fields[name].type):
            found[name] = (*_several(found.get(name)), value)
        elif name in found:
            raise Problem(400, f"{name} is given more than once")
        else:
            found[name] = value
    return converted(found, route.query, strict=False)


def _several(value: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()


async def _read_body(route: Route, request: Request) -> object:
    if route.body is None:
        return Body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    sent = await request.body()
    if not sent:
        return converted({}, route.body)
    if kind != "application/json":
        raise Problem(415, "send the body as application/json")
    return read_json(sent, route.body)


def read_json(sent: bytes, wanted: type[_T]) -> _T:
    """What was sent, as its type; Problem."""
    try:
        plain = msgspec.json.decode(sent)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Problem(400, f"the body is no JSON: {problem}") from None
    return converted(plain, wanted)


def converted(plain: object, wanted: type[_T], *, strict: bool = True) -> _T:
    """A plain value as its type; Problem."""
    try:
        return msgspec.convert(plain, wanted, strict=strict)
    except msgspec.ValidationError as problem:
        raise Problem(422, str(problem), _known(wanted)) from None


def _known(wanted: type[object]) -> str | None:
    """Which fields there are."""
    if not issubclass(wanted, msgspec.Struct):
        return None
    names = [one.encode_name for one in msgspec.structs.fields(wanted)]
    return f"known: {', '.join(names)}" if names else "it takes nothing"


async def _not_routed(_request: Request, problem: Exception) -> Response:
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    said = {
        404: "there is nothing at this address; see /api/v1/openapi.json",
        405: "this address does not take this method; see /api/v1/openapi.json",
    }
    answer = refusal(status if status in CODES else 400, said.get(status, str(problem)))
    headers: Mapping[str, str] | None = getattr(problem, "headers", None)
    answer.headers.update(headers or {})
    return answer
