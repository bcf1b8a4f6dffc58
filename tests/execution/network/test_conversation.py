"""What a program says to the proxy and what it hears: the three ways, refusals, records."""

import asyncio
import socket
from datetime import UTC

import pytest
from execution.network.town import (
    LOOPBACK,
    Gate,
    Names,
    Site,
    Town,
    echo,
    proxied,
    served,
    until,
)

from holdfast.contract.gates import Refusal
from holdfast.execution.network import admission
from holdfast.execution.network.conversation import ProxyLimits

GREETING = b"\x05\x01\x00"


def _socks(host: bytes, port: int, kind: int = 3, command: int = 1) -> bytes:
    named = bytes((len(host),)) + host if kind == 3 else host
    return GREETING + bytes((5, command, 0, kind)) + named + port.to_bytes(2, "big")


def _code(answer: bytes) -> int:
    assert answer[:2] == b"\x05\x00"
    assert len(answer) == 12
    return answer[3]


async def test_connect_opens_a_tunnel_to_an_admitted_name() -> None:
    names = Names({"site.example": [[LOOPBACK]]})
    async with served(echo) as port, proxied(Gate("site.example", LOOPBACK), names) as town:
        words = f"CONNECT site.example:{port} HTTP/1.1\r\nHost: x\r\n\r\nhello".encode()
        answer = await town.ask(words, close=True)
        assert answer == b"HTTP/1.1 200 Connection established\r\n\r\nhello"
        await until(lambda: len(town.told) == 2)
        begun, ended = town.told
        assert (begun.number, begun.how, begun.host, begun.port) == (
            1,
            "connect",
            "site.example",
            port,
        )
        assert (begun.decision, begun.address, begun.sent) == ("allowed", LOOPBACK, None)
        assert begun.at.tzinfo is UTC
        assert (ended.number, ended.sent, ended.received, ended.reason) == (1, 5, 5, None)
        assert ended.refusal is None


@pytest.mark.parametrize(
    ("host", "kind"),
    [(b"site.example", 3), (b"\x7f\0\0\x01", 1), (b"127.0.0.1", 3), (b"\0" * 15 + b"\x01", 4)],
)
async def test_socks_opens_a_tunnel_to_names_and_addresses(host: bytes, kind: int) -> None:
    names = Names({"site.example": [[LOOPBACK]]})
    own = "::1" if kind == 4 else LOOPBACK
    gate = Gate("site.example", LOOPBACK, "::1")
    async with served(echo, own) as port, proxied(gate, names) as town:
        answer = await town.ask(_socks(host, port, kind) + b"hello", close=True)
        assert _code(answer[:12]) == 0
        assert answer[12:] == b"hello"
        await until(lambda: len(town.told) == 2)
        assert (town.told[1].how, town.told[1].address) == ("socks", own)


async def test_a_plain_request_is_passed_on_with_its_own_host() -> None:
    site = Site()
    names = Names({"site.example": [[LOOPBACK]]})
    async with served(site) as port, proxied(Gate("site.example", LOOPBACK), names) as town:
        words = (
            f"GET http://SITE.example.:{port}/a?b=c HTTP/1.1\r\nHost: inside.example\r\n"
            "Accept: */*\r\nConnection: keep-alive, X-Own\r\nX-Own: 1\r\nProxy-Authorization: x\r\n"
            "Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nProxy-Connection: keep-alive\r\n\r\n"
        ).encode()
        answer = await town.ask(words)
        assert answer == (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        assert site.heard == [
            f"GET /a?b=c HTTP/1.1\r\nHost: site.example:{port}\r\nAccept: */*\r\n"
            "Connection: close\r\n\r\n".encode()
        ]
        assert names.asked == ["site.example"]
        await until(lambda: len(town.told) == 2)
        assert (town.told[1].how, town.told[1].received) == ("http", len(answer))


REFUSED = [
    b"CONNECT other.example:443 HTTP/1.1\r\n\r\n",
    b"GET http://other.example/ HTTP/1.1\r\n\r\n",
    b"POST http://other.example/ HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + b"x" * 500_000,
]


@pytest.mark.parametrize("words", REFUSED, ids=["connect", "http", "body"])
async def test_a_refused_host_is_named_recorded_and_never_resolved(words: bytes) -> None:
    async with proxied(Gate("site.example")) as town:
        head, _, body = (await town.ask(words)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        port = 443 if words.startswith(b"CONNECT") else 80
        assert body.decode() == (
            f"holdfast: other.example:{port} is out of reach. No granted host pattern admits"
            " 'other.example'. It needs requires.net.hosts = ['other.example']\n"
        )
        _expect_refused(town, "other.example", port)


async def test_a_host_refused_by_socks_is_recorded_and_never_resolved() -> None:
    async with proxied(Gate("site.example")) as town:
        assert _code(await town.ask(_socks(b"other.example", 22))) == 2
        _expect_refused(town, "other.example", 22)


def _expect_refused(town: Town, host: str, port: int) -> None:
    (told,) = town.told
    assert (told.host, told.port, told.decision, told.address) == (host, port, "refused", None)
    assert (told.sent, told.received) == (0, 0)
    assert told.refusal == Refusal(
        reason=f"No granted host pattern admits '{host}'.",
        target=f"{host}:{port}",
        requirement=f"requires.net.hosts = ['{host}']",
    )
    assert town.names.asked == []


async def test_a_refusal_without_a_remedy_names_none() -> None:
    async with proxied(Gate()) as town:
        answer = await town.ask(b"CONNECT [::1.2.3]:443 HTTP/1.1\r\n\r\n")
        assert b"needs" not in answer
        assert town.told[0].requirement is None
        assert town.told[0].refusal is not None
        assert town.told[0].refusal.target == "[::1.2.3]:443"


async def test_a_name_that_leads_inside_is_refused_though_the_name_is_granted() -> None:
    names = Names({"site.example": [["10.0.0.7", "::1"]]})
    async with proxied(Gate("site.example"), names) as town:
        answer = await town.ask(b"CONNECT site.example:443 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert b"site.example leads to 10.0.0.7, which is not granted." in answer
        assert town.told[0].requirement == "requires.net.hosts = ['10.0.0.7']"
        assert _code(await town.ask(_socks(b"site.example", 443))) == 2
        await town.ask(b"CONNECT site.example:8443 HTTP/1.1\r\n\r\n")
        assert town.told[-1].requirement == "requires.net.hosts = ['10.0.0.7:8443']"


async def test_of_several_addresses_only_checked_ones_are_dialled_in_order() -> None:
    async def never(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        raise AssertionError("an address that was not granted was dialled")

    async with served(echo) as port:
        # The same port of another loopback address would answer, too.
        server = await asyncio.start_server(never, "127.0.0.2", port)
        async with (
            server,
            proxied(
                Gate("site.example", LOOPBACK, "127.0.0.3"),
                Names({"site.example": [["127.0.0.2", "127.0.0.3", "not an address", LOOPBACK]]}),
            ) as town,
        ):
            words = f"CONNECT site.example:{port} HTTP/1.1\r\n\r\nhello".encode()
            assert (await town.ask(words, close=True)).endswith(b"\r\n\r\nhello")
            assert town.told[0].address == LOOPBACK


async def test_what_cannot_be_resolved_is_a_bad_gateway() -> None:
    names = Names({"empty.example": [[]]})
    async with proxied(Gate("*.example"), names) as town:
        answer = await town.ask(b"CONNECT gone.example:443 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert b"gone.example cannot be resolved (Name or service not known)" in answer
        assert _code(await town.ask(_socks(b"gone.example", 443))) == 4
        assert b"empty.example has no address" in await town.ask(
            b"GET http://empty.example/ HTTP/1.1\r\n\r\n"
        )
        assert [told.decision for told in town.told] == ["allowed"] * 3
        assert town.told[0].reason == "gone.example cannot be resolved (Name or service not known)"
        assert (town.told[0].address, town.told[0].sent) == (None, 0)


async def test_a_resolver_that_takes_too_long_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow(Names):
        async def __call__(self, name: str, /) -> tuple[str, ...]:
            await asyncio.Event().wait()
            return (name,)

    monkeypatch.setattr(admission, "RESOLVING_SECONDS", 0.05)
    async with proxied(Gate("*.example"), Slow()) as town:
        answer = await town.ask(b"CONNECT slow.example:443 HTTP/1.1\r\n\r\n")
        assert b"502" in answer
        assert b"was not resolved within 0.05 s" in answer


async def test_nobody_there_is_told_apart_from_refused() -> None:
    with socket.socket() as unused:
        unused.bind((LOOPBACK, 0))  # it does not listen
        port = unused.getsockname()[1]
        async with proxied(Gate(LOOPBACK)) as town:
            words = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()
            answer = await town.ask(words)
            assert answer.startswith(b"HTTP/1.1 502 ")
            assert b"127.0.0.1 cannot be connected to (Connection refused)" in answer
            assert _code(await town.ask(_socks(b"\x7f\0\0\x01", port, 1))) == 5


async def test_an_address_that_does_not_answer_is_given_up_in_time() -> None:
    with socket.create_server((LOOPBACK, 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex((LOOPBACK, port))
        async with proxied(Gate(LOOPBACK), limits=ProxyLimits(connect_seconds=0.1)) as town:
            words = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode()
            answer = await town.ask(words)
            assert answer.startswith(b"HTTP/1.1 504 ")
            assert b"did not answer within 0.1 s" in answer
            assert _code(await town.ask(_socks(b"127.0.0.1", port))) == 4
        for one in waiting:
            one.close()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (b"\x05\x01\x02", b"\x05\xff"),
        (b"\x05\x00", b"\x05\xff"),
        (_socks(b"a.example", 80, command=2), b"\x05\x00" + bytes((5, 7, 0, 1)) + b"\0" * 6),
        (_socks(b"a.example", 80, command=3), b"\x05\x00" + bytes((5, 7, 0, 1)) + b"\0" * 6),
        (_socks(b"", 80, kind=9), b"\x05\x00" + bytes((5, 8, 0, 1)) + b"\0" * 6),
        (_socks(b"a.example", 0), b"\x05\x00" + bytes((5, 1, 0, 1)) + b"\0" * 6),
        (_socks(b"", 80), b"\x05\x00" + bytes((5, 1, 0, 1)) + b"\0" * 6),
        (_socks(b"\xff\xfe", 80), b"\x05\x00" + bytes((5, 1, 0, 1)) + b"\0" * 6),
        (_socks(b"a@b.example", 80), b"\x05\x00" + bytes((5, 1, 0, 1)) + b"\0" * 6),
        (GREETING + b"\x04\x01\x00\x01", b"\x05\x00" + bytes((5, 1, 0, 1)) + b"\0" * 6),
        (b"\x05", b""),
        (GREETING + b"\x05\x01", b"\x05\x00"),
    ],
)
async def test_odd_socks_is_answered_and_asks_nobody(words: bytes, answer: bytes) -> None:
    async with proxied(Gate("*")) as town:
        assert await town.ask(words, close=True) == answer
        assert (town.gate.asked, town.told) == ([], [])


@pytest.mark.parametrize(
    ("authority", "judged"),
    [
        ("0x7f.1:443", "127.0.0.1"),
        ("2130706433:443", "127.0.0.1"),
        ("127.1:443", "127.0.0.1"),
        ("0177.0.0.1:443", "127.0.0.1"),
        ("[::ffff:127.0.0.1]:443", "127.0.0.1"),
        ("[::1]:443", "::1"),
        ("localhost:443", "localhost"),
        ("LOCALHOST.:443", "localhost"),
        ("169.254.169.254:80", "169.254.169.254"),
        ("xn--mnchen-3ya.example:443", None),
        ("site.example.:443", None),
        ("a..b:443", None),
        ("-:443", None),
        ("site.example:65535", None),
    ],
)
async def test_no_spelling_of_what_lies_inside_passes_a_wildcard(
    authority: str, judged: str | None
) -> None:
    async with proxied(Gate("*")) as town:
        answer = await town.ask(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode())
        if judged is None:
            # A public name, or none at all: there is nobody of that name here.
            assert answer.split()[1] in (b"403", b"502")
            return
        assert answer.split()[1] == b"403"
        assert f"admits '{judged}'" in answer.decode()
        assert town.names.asked == []
