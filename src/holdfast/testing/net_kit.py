"""What every `Net` must do; the fake and the real one pass the same kit.

Whoever checks a `Net` serves `kit_pages` and says where; nothing else of the world is needed.
"""

from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from holdfast.contract.errors import (
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    ToolError,
    Unavailable,
)
from holdfast.contract.net import Fetched, FetchLimits, Net
from holdfast.testing.fake_net import Answering, Asked, Page

_Error = TypeVar("_Error", bound=ToolError)
_LONG = b"0123456789" * 100


class NetGround(NamedTuple):
    """Where the kit may go; each without a slash at the end."""

    site: str
    """Serves `kit_pages`."""
    refused: str
    """Is out of reach."""
    silent: str
    """Is within reach, and nobody is there."""


def kit_pages(ground: NetGround) -> dict[str, Answering]:
    """The pages to serve, by path."""
    return {
        "/": Page(headers=(("X-Kit", "yes"),), body=b"hello"),
        "/long": Page(body=_LONG),
        "/missing": Page(status=404, body=b"nothing here"),
        "/moved": _moved(302, "/?again"),
        "/?again": Page(body=b"moved here"),
        "/kept": _moved(307, "/echo"),
        "/circle": _moved(301, "/circle"),
        "/out": _moved(302, f"{ground.refused}/x"),
        "/odd": _moved(302, "file:///etc/passwd"),
        "/echo": _echo,
    }


async def check_net(net: Net, ground: NetGround) -> None:
    """Fetches, follows, cuts, refuses and fails as the port says."""
    await _check_answers(net, ground.site)
    await _check_redirects(net, ground)
    await _check_refusals(net, ground)


async def _check_answers(net: Net, site: str) -> None:
    page = await net.fetch(f"{site}/")
    _expect((page.status, page.body, page.hops) == (200, b"hello", ()), f"/ gives {page}")
    _expect(page.url == f"{site}/" and not page.truncated, f"/ gives {page}")
    _expect(_header(page, "X-Kit") == "yes", "a header of the answer is missing")
    missing = await net.fetch(f"{site}/missing")
    _expect((missing.status, missing.body) == (404, b"nothing here"), "a 404 is an answer, too")
    echoed = await net.fetch(f"{site}/echo", method="put", headers={"X-A": "b"}, body=b"c")
    _expect(echoed.body == b"PUT b c", f"the host heard {echoed.body!r}")
    exact = await net.fetch(f"{site}/long", limits=FetchLimits(max_bytes=len(_LONG)))
    _expect((exact.body, exact.truncated) == (_LONG, False), "what fits was cut")
    cut = await net.fetch(f"{site}/long", limits=FetchLimits(max_bytes=len(_LONG) - 1))
    _expect((cut.body, cut.truncated) == (_LONG[:-1], True), "what does not fit was not cut")


async def _check_redirects(net: Net, ground: NetGround) -> None:
    site = ground.site
    moved = await net.fetch(f"{site}/moved", method="POST", body=b"c")
    _expect(moved.body == b"moved here", f"a redirect gives {moved}")
    _expect(moved.hops == (f"{site}/moved",), f"the hops are {moved.hops}")
    _expect(moved.url == f"{site}/?again", f"it ended at {moved.url}")
    kept = await net.fetch(f"{site}/kept", method="PUT", headers={"X-A": "b"}, body=b"c")
    _expect(kept.body == b"PUT b c", f"a 307 became {kept.body!r}")
    shown = await net.fetch(f"{site}/moved", limits=FetchLimits(max_redirects=0))
    _expect(shown.status == 302, "a redirect that is not wanted was followed")
    circle = net.fetch(f"{site}/circle", limits=FetchLimits(max_redirects=3))
    await _failing(circle, OperationFailed)
    refused = await _failing(net.fetch(f"{site}/out"), PolicyDenied)
    _expect_target(refused, ground.refused)
    await _failing(net.fetch(f"{site}/odd"), PolicyDenied)


async def _check_refusals(net: Net, ground: NetGround) -> None:
    refused = await _failing(net.fetch(f"{ground.refused}/"), PolicyDenied)
    _expect_target(refused, ground.refused)
    await _failing(net.fetch(f"{ground.silent}/"), Unavailable)
    for url in ("", "no url", "ftp://a.example/", "http://u@a.example/", f"{ground.site}/\r\n"):
        wrong = await _failing(net.fetch(url), InvalidArguments)
        _expect(wrong.field == "url", f"{url!r} is a problem of {wrong.field}, not of url")
    for headers in ({"Host": "x"}, {"X": "a\r\nb"}, {"a b": "c"}):
        wrong = await _failing(net.fetch(f"{ground.site}/", headers=headers), InvalidArguments)
        _expect(wrong.field == "headers", f"{headers} is a problem of {wrong.field}")


def _expect_target(refused: PolicyDenied, url: str) -> None:
    host = url.partition("://")[2]
    target = str(refused.extras.get("target"))
    _expect(target.startswith(host), f"the refusal names {target}, not {host}")
    _expect("requirement" in refused.extras, "the refusal does not say what is missing")


async def _failing(work: Awaitable[Fetched], kind: type[_Error]) -> _Error:
    try:
        page = await work
    except kind as problem:
        return problem
    except ToolError as problem:
        raise AssertionError(f"{problem!r} is no {kind.__name__}") from problem
    raise AssertionError(f"{page.url} answered where {kind.__name__} was due")


def _moved(status: int, location: str) -> Page:
    return Page(status=status, headers=(("Location", location),))


def _echo(asked: Asked) -> Page:
    given = {name.lower(): value for name, value in asked.headers.items()}
    words = (asked.method, given.get("x-a", ""), (asked.body or b"").decode())
    return Page(body=" ".join(words).encode())


def _header(page: Fetched, wanted: str) -> str | None:
    return next((value for name, value in page.headers if name.lower() == wanted.lower()), None)


def _expect(held: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion reads best this way
    if not held:
        raise AssertionError(otherwise)
