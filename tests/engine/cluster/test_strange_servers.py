"""Servers that lie, leave, stand still or send one away: nobody tells them more than they should
hear, and whoever was connected comes in again."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from engine.cluster.comers import PASSWORD, USERS, nothing, refused
from engine.cluster.fleets import until
from identities import LOCAL, Authority
from msgspec.structs import replace
from nats.aio.client import Client as Nats
from nats_server import running_nats

from holdfast.engine.cluster import client as client_module
from holdfast.engine.cluster.door import NatsServers, connected
from holdfast.engine.cluster.guarded import GuardedNats, check_client
from holdfast.engine.cluster.link import linked

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


class Listening:
    """A server that hears what it is told, and says of itself what it likes."""

    def __init__(self, info: bytes, answer: bytes | None) -> None:
        """``answer``: to whoever asks whether it is there; then it leaves."""
        self.url = ""
        self.taken = 0
        self._answer = answer
        self.heard = b""
        self._info = info

    async def take(self, stream: SocketStream) -> None:
        self.taken += 1
        async with stream:
            try:
                await stream.send(self._info)
                told = b""
                while self._answer is None or b"PING" not in told:
                    told += await stream.receive()
                    self.heard += told
                if self._answer:
                    await stream.send(self._answer)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return


@asynccontextmanager
async def listening(info: bytes, answer: bytes | None = None) -> AsyncGenerator[Listening]:
    server = Listening(info, answer)
    listener = await anyio.create_tcp_listener(local_host=LOCAL)
    async with listener, anyio.create_task_group() as group:
        server.url = f"nats://{LOCAL}:{listener.extra(SocketAttribute.local_port)}"
        group.start_soon(listener.serve, server.take)
        yield server
        group.cancel_scope.cancel()


PLAIN = b'INFO {"server_id":"x","version":"2.15.1","auth_required":true,"max_payload":1048576}\r\n'


@pytest.mark.parametrize("scheme", ["nats", "tls"])
async def test_who_asks_for_tls_says_nothing_in_the_open(authority: Authority, scheme: str) -> None:
    """Whoever stands between could say that the server speaks none."""
    async with listening(PLAIN) as server:
        asked = NatsServers(
            servers=(server.url.replace("nats", scheme),), user="worker", password=PASSWORD
        )
        by_file = replace(asked, ca_file=str(authority.file) if scheme == "nats" else None)
        said = await refused(by_file)
        assert "it does not speak TLS" in said
        assert server.heard == b""
        with anyio.move_on_after(1):
            await connected(replace(asked, servers=(server.url,)), nothing)
        assert PASSWORD.encode() in server.heard  # who asks for nothing, tells


async def test_a_real_server_without_tls_is_told_nothing(authority: Authority) -> None:
    with running_nats() as nats:
        said = await refused(NatsServers(servers=nats.urls, ca_file=str(authority.file)))
    assert "turn TLS on there" in said


@pytest.mark.parametrize("info", [b"INFO {\r\n", b"INFO \xff{}\r\n", b"HTTP/1.1 400\r\n", b"\r\n"])
async def test_what_is_no_nats_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch, info: bytes
) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)
    async with listening(info) as server:
        servers = NatsServers(servers=(server.url,), user="worker", password=PASSWORD)
        assert "no NATS server can be reached" in await refused(servers)
        assert server.heard == b""


async def test_a_server_that_answers_without_end_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)
    async with listening(b"INFO " + b"x" * 200_000 + b"\r\n") as server:
        assert "what no NATS server does" in await refused(NatsServers(servers=(server.url,)))


async def test_a_server_that_says_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)
    async with listening(b"") as server:
        assert "there was no answer in time" in await refused(NatsServers(servers=(server.url,)))


async def test_a_server_that_leaves_without_a_word_lets_nobody_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client by itself would say that it is connected."""
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)
    async with listening(PLAIN, b"") as server:
        servers = NatsServers(servers=(server.url,), user="worker", password=PASSWORD)
        assert "before it let this machine in" in await refused(servers)


async def test_a_server_that_complains_of_everything_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    complaints = b"PONG\r\n-ERR 'Slow \x1b[2JConsumer'\r\n-ERR 'Authorization Violation'\r\n"
    async with listening(PLAIN, complaints) as server:
        servers = NatsServers(servers=(server.url,), user="worker", password=PASSWORD)
        client = await connected(servers, nothing)
        try:
            await until(lambda: server.taken > 2)
        finally:
            await client.close()
    assert "\x1b" not in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize("asked", [False, True])
async def test_nobody_is_led_elsewhere_before_there_is_tls(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, *, asked: bool
) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 1.0)
    async with listening(b"") as elsewhere:
        said = PLAIN.replace(b"{", b'{"tls_required":true,"connect_urls":["%s"],', 1)
        if not asked:
            said = said.replace(b'"tls_required":true,', b"")
        url = elsewhere.url.removeprefix("nats://").encode()
        async with listening(said % url if b"%s" in said else said, b"") as server:
            servers = NatsServers(
                servers=(server.url,), ca_file=str(authority.file) if asked else None
            )
            await refused(servers)
        assert (elsewhere.taken == 0) is asked


async def test_who_is_put_out_is_told_why_and_comes_in_again_when_let_in(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A client that a server sends away would by itself never come again."""
    with running_nats(more=USERS) as nats:
        right = NatsServers(servers=nats.urls, user="worker", password=PASSWORD)
        returned: list[int] = []
        client = await connected(right, lambda: returned.append(1))
        try:
            heard = anyio.Event()
            await client.subscribe("news", lambda _: heard.set())
            nats.nodes[0].told(USERS.replace(PASSWORD, "another-one"))
            await until(lambda: "lets this machine in" in caplog.text)
            assert not client.is_connected
            assert not returned
            nats.nodes[0].told(USERS)
            await until(lambda: bool(returned))
            await client.publish("news", headers={})
            with anyio.fail_after(5):
                await heard.wait()
        finally:
            await client.close()
    assert caplog.text.count("lets this machine in") == 1
    assert caplog.text.count("is lost") == 1
    assert PASSWORD not in caplog.text


async def test_who_leaves_has_lost_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with running_nats() as nats:
        client = await connected(NatsServers(servers=nats.urls), nothing)
        await client.close()
    assert caplog.records == []


async def test_a_late_answer_that_nobody_waits_for_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with running_nats() as nats:
        given_up, connection = anyio.Event(), GuardedNats()
        lost: list[str] = []

        async def heard(problem: Exception) -> None:
            lost.append(str(problem))

        await connection.connect(list(nats.urls), error_cb=heard)
        try:
            async with anyio.create_task_group() as group:

                async def asks() -> None:
                    with anyio.CancelScope() as scope:
                        group.start_soon(gives_up, scope)
                        await connection.flush()
                    given_up.set()

                async def gives_up(scope: anyio.CancelScope) -> None:
                    scope.cancel()

                group.start_soon(asks)
            assert given_up.is_set()
            await connection.flush()
            assert connection.is_connected
        finally:
            await connection.close()
    assert lost == []
    assert caplog.records == []


async def test_a_subject_that_is_no_text_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with running_nats() as nats:
        (url,) = nats.urls
        async with linked(NatsServers(servers=nats.urls)) as link:
            heard: list[str] = []
            await link.client.subscribe("here.*", lambda one: heard.append(one.subject))
            await link.client.request("$JS.API.INFO", b"", {}, 5)
            port = int(url.rpartition(":")[2])
            async with await anyio.connect_tcp(LOCAL, port) as stranger:
                said = b'CONNECT {"verbose":false}\r\nPUB here.\xff\xfe 1\r\nx\r\n'
                await stranger.send(said + b"PUB here.there 1\r\nx\r\n")
                await until(lambda: bool(heard))
        assert heard == ["here.there"]
    assert caplog.records == []


async def test_what_the_client_did_not_expect_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(client_module, "_PING_SECONDS", 0.2)

    async def strange(*_arguments: object) -> None:
        raise RuntimeError(PASSWORD)

    with running_nats() as nats:
        returned = anyio.Event()
        client = await connected(NatsServers(servers=nats.urls), returned.set)
        try:
            with monkeypatch.context() as patched:
                patched.setattr(Nats, "_process_msg", strange)
                await client.subscribe("here", print)
                await client.publish("here", headers={})
                await until(lambda: "RuntimeError" in caplog.text)
            with anyio.fail_after(10):
                await returned.wait()
        finally:
            await client.close()
    assert PASSWORD not in caplog.text
    assert "Traceback" not in caplog.text


def test_a_client_that_never_asks_what_is_guarded_is_not_used() -> None:
    with pytest.raises(ImportError, match="_connect_command"):
        check_client(object)  # pyright: ignore[reportArgumentType] - another make of it
