"""What is asked of NATS: told until it is kept, and said in words where that cannot be."""

import sys
from collections.abc import Mapping

import msgspec
import pytest
from nats_server import running_nats

from holdfast.engine.cluster import client as client_module
from holdfast.engine.cluster.door import Ends, Heard, Hears, LinkError, NatsServers, connected, load
from holdfast.engine.cluster.hints import VAIN, hint_in
from holdfast.engine.cluster.link import TELL_SECONDS, Link, News, linked
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import Names

pytestmark = pytest.mark.anyio

NAMES = Names("fleet")


class Scripted:
    """A client whose server answers as it is told to."""

    is_connected = True

    def __init__(self, *answers: object) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, bytes, Mapping[str, str]]] = []

    def inbox(self) -> str:
        return "inbox"

    async def request(
        self, subject: str, body: bytes, headers: Mapping[str, str], seconds: float, /
    ) -> Heard:
        del seconds
        self.asked.append((subject, body, headers))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        raw = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
        return Heard(subject, raw, "", {})

    async def publish(
        self, subject: str, body: bytes = b"", /, *, reply: str = "", headers: Mapping[str, str]
    ) -> None:
        raise NotImplementedError

    async def subscribe(self, subject: str, hears: Hears, /) -> Ends:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


def scripted(*answers: object) -> tuple[Link, Scripted]:
    client = Scripted(*answers)
    return Link(client, NAMES, 1, News()), client


def refusal(code: int) -> dict[str, object]:
    return {"error": {"code": 500, "err_code": code, "description": "no"}}


async def test_a_message_is_told_again_under_the_same_id_until_it_is_kept() -> None:
    lost = LinkError("NATS did not answer")
    link, client = scripted(lost, refusal(10077), b"{", {"stream": "s", "seq": 1})
    await link.tell("fleet.x", b"body", {"Nats-Msg-Id": "one"})
    assert client.asked == [("fleet.x", b"body", {"Nats-Msg-Id": "one"})] * 4


async def test_a_message_that_nobody_keeps_is_told_as_that() -> None:
    link, client = scripted(LinkError("nobody answers at fleet.x"))
    with pytest.raises(LinkError, match=r"keeps no message \(nobody answers at fleet.x\); see its"):
        await link.tell("fleet.x", b"", seconds=0.3)
    assert len(client.asked) > 1


async def test_messages_are_told_for_longer_than_a_leader_is_looked_for() -> None:
    assert TELL_SECONDS >= 15


async def test_what_is_there_otherwise_stays_so_and_what_cannot_be_made_is_told() -> None:
    link, client = scripted(refusal(10058))
    await link.have(Streams(NAMES))
    await link.have(Streams(NAMES))
    assert [subject for subject, _, _ in client.asked] == [
        "$JS.API.STREAM.CREATE.fleet-wakes",
        "$JS.API.STREAM.CREATE.fleet-dead",
    ]
    link, _ = scripted(refusal(10039))
    with pytest.raises(LinkError, match=r"makes no stream or consumer \(no\); see that JetStream"):
        await link.have(Streams(NAMES))


async def test_servers_that_have_just_begun_are_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.engine.cluster.link._MOST_PAUSE_SECONDS", 0.01)
    link, client = scripted(LinkError("nobody answers"), refusal(10008), {})
    await link.have(Streams(NAMES))
    assert len(client.asked) == 4


async def test_servers_that_never_answer_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.engine.cluster.link.TELL_SECONDS", 0.05)
    monkeypatch.setattr("holdfast.engine.cluster.link._MOST_PAUSE_SECONDS", 0.01)
    link, _ = scripted(LinkError("nobody answers"))
    with pytest.raises(LinkError, match=r"makes no stream or consumer \(nobody answers\)"):
        await link.have(Streams(NAMES))


async def test_streams_are_looked_for_again_when_the_servers_may_be_others() -> None:
    news = News()
    client = Scripted({})
    link = Link(client, NAMES, 1, news)
    await link.have(Streams(NAMES))
    news.tell()
    await link.have(Streams(NAMES))
    assert len(client.asked) == 4


async def test_what_is_not_kept_is_nothing_and_what_cannot_be_told_is_said() -> None:
    link, _ = scripted(refusal(10037))
    assert await link.last("fleet-dead", "fleet.dead.x") is None
    link, _ = scripted(refusal(10059))
    with pytest.raises(LinkError, match=r"does not say what it keeps \(no\)"):
        await link.next("fleet-dead", "fleet.dead.>", 0)
    link, client = scripted(refusal(10043))
    await link.remove("fleet-dead", 7)
    assert client.asked[0][0] == "$JS.API.STREAM.MSG.DELETE.fleet-dead"


def ack(times: int, *, domain: bool = False) -> str:
    more = "hub.account." if domain else ""
    return f"$JS.ACK.{more}fleet-wakes.one+word+any.{times}.5.6.7.0" + (".token" if domain else "")


@pytest.mark.parametrize("domain", [False, True])
def test_a_hint_says_how_often_it_was_in_vain(domain: bool) -> None:
    def told(times: int, vain: str | None) -> tuple[int, str]:
        headers = {} if vain is None else {VAIN: vain}
        heard = Heard("fleet.wake.one.word.any.ses_1", b"", ack(times, domain=domain), headers)
        hint = hint_in(NAMES, heard, 0)
        assert hint is not None
        return hint.vain, hint.consumer

    assert told(1, None) == (0, "one+word+any")
    assert told(3, None) == (2, "one+word+any")
    assert told(2, "3") == (4, "one+word+any")
    assert told(1, "-1") == (0, "one+word+any")


@pytest.mark.parametrize(
    ("subject", "reply"),
    [
        ("fleet.inbox.x.1", ""),
        ("fleet.wake.one.word.any.ses_1", ""),
        ("fleet.wake.one.word.any.ses_1", "$JS.ACK.a.b"),
        ("fleet.later.one.ses_1", ack(1)),
    ],
)
def test_other_messages_are_no_hints(subject: str, reply: str) -> None:
    assert hint_in(NAMES, Heard(subject, b"", reply, {}), 0) is None


def test_without_the_client_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("client", "guarded"):
        monkeypatch.delitem(sys.modules, f"holdfast.engine.cluster.{module}")
    monkeypatch.setitem(sys.modules, "nats.aio.client", None)
    with pytest.raises(LinkError, match=r"pip install 'holdfast\[cluster\]'"):
        load("client")


def nothing() -> None:
    """Somebody who does not listen."""


async def test_where_no_server_is_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)
    nowhere = NatsServers(servers=("nats://alice:s3cret@127.0.0.1:1",))
    with pytest.raises(LinkError, match=r"can be reached .* start one.* of \[cluster\]$") as told:
        await connected(nowhere, nothing)
    assert "s3cret" not in str(told.value)


async def test_a_namespace_that_is_none_is_told() -> None:
    with pytest.raises(LinkError, match="'a b' is no namespace"):
        async with linked(NatsServers(servers=(), namespace="a b")):
            pass


_USER = 'authorization { user: "runner", password: "s3cret" }\n'


async def test_a_user_and_a_password_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 1.0)
    with running_nats(more=_USER) as nats:
        right = NatsServers(servers=nats.urls, user="runner", password="s3cret")
        async with linked(right) as link:
            assert await link.client.request("$SYS.REQ.USER.INFO", b"", {}, 5)
        with pytest.raises(LinkError, match=r"(?i)authorization") as told:
            await connected(msgspec.structs.replace(right, password="wr0ng"), nothing)
        assert "wr0ng" not in str(told.value)
