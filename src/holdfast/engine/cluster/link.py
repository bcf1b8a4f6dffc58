"""What we ask of NATS: messages that are kept, streams and consumers that are there, answers.

A message that is to be kept is told again under the same id until a server says that it keeps it:
it is kept once. Who sends what, and why, is not known here.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import msgspec
from anyio import CancelScope, Lock, fail_after, sleep

from holdfast.engine.cluster.door import Client, Denied, LinkError, NatsServers, connected
from holdfast.engine.cluster.streams import EXISTS, NOT_YET, Streams, asked_instead
from holdfast.engine.cluster.subjects import Names, UnusableName

TELL_SECONDS = 20.0
"""How long a message is told again: a lost leader is replaced within five."""
_ONE_SECONDS = 4.0
_ASK_SECONDS = 5.0
_PAUSE_SECONDS = 0.1
_MOST_PAUSE_SECONDS = 1.0
_NO_MESSAGE = 10037
_NO_HEADERS: Mapping[str, str] = {}


class _Problem(msgspec.Struct, frozen=True):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Answer(msgspec.Struct, frozen=True):
    error: _Problem | None = None


class Kept(msgspec.Struct, frozen=True):
    """A message as a stream keeps it."""

    subject: str
    seq: int
    data: bytes = b""


class _KeptAnswer(_Answer, frozen=True):
    message: Kept | None = None


class _Delivered(msgspec.Struct, frozen=True):
    stream_seq: int = 0


class _ConsumerAnswer(_Answer, frozen=True):
    delivered: _Delivered = _Delivered()


class _Unkept(Exception):
    """The server said no."""

    def __init__(self, problem: _Problem) -> None:
        super().__init__(problem.description)
        self.problem = problem


_A = TypeVar("_A", bound=_Answer)


class News:
    """Who wants to hear that a lost connection is there again."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[], None]] = []

    def tell(self) -> None:
        """It is."""
        for listener in self.listeners:
            listener()


@asynccontextmanager
async def linked(servers: NatsServers) -> AsyncGenerator["Link"]:
    """Connect, until it is left; LinkError where no server answers, or the client is missing."""
    try:
        names = Names(servers.namespace)
    except UnusableName as problem:
        raise LinkError(str(problem)) from None
    news = News()
    client = await connected(servers, news.tell)
    try:
        yield Link(client, names, servers.replicas, news)
    finally:
        with CancelScope(shield=True):  # whoever is cancelled leaves in order, too
            await client.close()


class Link:
    """To one NATS, for all of a process. All raise LinkError."""

    def __init__(self, client: Client, names: Names, replicas: int, news: News) -> None:
        self.client = client
        self.names = names
        self.replicas = replicas
        self._news = news
        self.on_return(self.forget)
        self._making = Lock()
        self._made: set[str] = set()

    async def tell(
        self,
        subject: str,
        body: bytes,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        seconds: float = TELL_SECONDS,
    ) -> None:
        """Have it kept: told again until it is."""
        pause, problem = _PAUSE_SECONDS, "there was no time"
        with suppress(TimeoutError), fail_after(seconds):
            while True:
                try:
                    await self._asked(subject, body, _Answer, headers, _ONE_SECONDS)
                except Denied:
                    raise
                except (LinkError, _Unkept) as found:
                    problem = str(found)
                else:
                    return
                await sleep(pause)
                pause = min(2 * pause, _MOST_PAUSE_SECONDS)
        self.forget()
        raise LinkError(f"NATS keeps no message ({problem}); see its log, then try again")

    async def last(self, stream: str, subject: str) -> Kept | None:
        """The last message of a subject; a `*` stands for any token."""
        return await self._kept(stream, {"last_by_subj": subject})

    async def next(self, stream: str, subject: str, after: int) -> Kept | None:
        """The first message of a subject behind a number."""
        return await self._kept(stream, {"next_by_subj": subject, "seq": after + 1})

    async def handed_out(self, stream: str, consumer: str) -> int:
        """The number of the last message that a consumer has handed to anybody."""
        try:
            found = await self._api(f"CONSUMER.INFO.{stream}.{consumer}", {}, _ConsumerAnswer)
        except _Unkept as problem:
            raise LinkError(f"NATS does not say what it handed out ({problem})") from None
        return found.delivered.stream_seq

    async def remove(self, stream: str, number: int) -> None:
        """Take one message out; harmless where it is gone."""
        asked = {"seq": number, "no_erase": True}
        with suppress(_Unkept):
            await self._api(f"STREAM.MSG.DELETE.{stream}", asked, _Answer)

    async def have(self, streams: Streams) -> None:
        """Make what is not there; what is there is left as it is."""
        async with self._making:
            for name, subject, config in streams.wanted():
                if name not in self._made:
                    try:
                        await self._make(subject, config)
                    except Denied:
                        await self._look_for(name, subject)
                    self._made.add(name)

    def on_return(self, listener: Callable[[], None], /) -> None:
        """Have it called whenever the connection was lost and is there again."""
        self._news.listeners.append(listener)

    def forget(self) -> None:
        """What was made may be gone: it is looked for again when it is next needed."""
        self._made.clear()

    async def _make(self, subject: str, config: Mapping[str, object]) -> None:
        """Asked again for a while: servers that have just begun have no leader yet."""
        problem = "there was no time"
        with suppress(TimeoutError), fail_after(TELL_SECONDS):
            while True:
                try:
                    await self._api(subject, config, _Answer)
                except _Unkept as found:
                    problem = str(found)
                    if found.problem.err_code in EXISTS:
                        return
                    if found.problem.err_code not in NOT_YET:
                        break
                except Denied:
                    raise
                except LinkError as found:
                    problem = str(found)
                else:
                    return
                await sleep(_MOST_PAUSE_SECONDS)
        raise LinkError(
            f"NATS makes no stream or consumer ({problem}); see that JetStream is on and that its"
            " user may"
        )

    async def _look_for(self, name: str, subject: str) -> None:
        """Whoever may make none goes on with what others made; LinkError where nobody did."""
        try:
            await self._api(asked_instead(subject), {}, _Answer)
        except _Unkept as problem:
            raise LinkError(
                f"NATS has no {name} ({problem}) and does not let this machine make it; have it"
                " made once by: holdfast worker --once, as a user who may, with the same tenants"
                " and labels"
            ) from None

    async def _kept(self, stream: str, asked: Mapping[str, object]) -> Kept | None:
        try:
            found = await self._api(f"STREAM.MSG.GET.{stream}", asked, _KeptAnswer)
        except _Unkept as problem:
            if problem.problem.err_code == _NO_MESSAGE:
                return None
            raise LinkError(f"NATS does not say what it keeps ({problem})") from None
        return found.message

    async def _api(self, subject: str, asked: Mapping[str, object], kind: type[_A]) -> _A:
        body = msgspec.json.encode(asked)
        return await self._asked(f"$JS.API.{subject}", body, kind, _NO_HEADERS, _ASK_SECONDS)

    async def _asked(
        self, subject: str, body: bytes, kind: type[_A], headers: Mapping[str, str], seconds: float
    ) -> _A:
        heard = await self.client.request(subject, body, headers, seconds)
        try:
            answer = msgspec.json.decode(heard.body, type=kind)
        except msgspec.DecodeError:
            raise LinkError(f"what answers at {subject} is no JetStream") from None
        if answer.error is not None:
            raise _Unkept(answer.error)
        return answer
