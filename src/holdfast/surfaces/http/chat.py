"""Sessions as models: chat completions in OpenAI's form, for whoever speaks that already.

Each request is a message to a session of an agent, which runs with its own tools; the answer is all
that the agent says. A conversation that is sent again goes on in the session it was held in.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import msgspec
from anyio import CancelScope, create_task_group, get_cancelled_exc_class
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from holdfast.app import ingress
from holdfast.contract.events import Event
from holdfast.contract.journal import Journal, JournalError, UnknownSession
from holdfast.surfaces.http.chat_requests import (
    Answered,
    ChatChunk,
    ChatCompletion,
    Choice,
    ChunkChoice,
    Completion,
    Delta,
    ModelList,
    ModelRow,
    Said,
    Standing,
    Wanted,
    conversation_key,
    wanted_of,
)
from holdfast.surfaces.http.chat_run import Answering
from holdfast.surfaces.http.guard import TooLarge
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.live.frames import streamed
from holdfast.surfaces.http.problems import Problem, TroubleAnswer, worded
from holdfast.surfaces.http.receipts import HEADER, Receipts
from holdfast.surfaces.http.speaking import refuse_unspoken

SESSION_HEADER = "x-holdfast-session"
WAIT_HEADER = "x-holdfast-wait"
"""How many seconds a person may take to answer what the session asks."""
USUAL_WAIT = 600.0
_MOST_WAIT = 86_400.0
_MOST_KNOWN = 10_000
_WAITS = (
    "\n\n[This session waits for a person: answer it in the console, or with: holdfast sessions"
    " answer {}]"
)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Completion).decode


class Chats:
    """The two addresses of it. Used on one event loop."""

    def __init__(self, house: House, receipts: Receipts) -> None:
        self._house = house
        self._receipts = receipts
        self._known: OrderedDict[str, str] = OrderedDict()
        """Sessions by the conversation that was held in them, as their clients have it."""

    def routes(self) -> list[BaseRoute]:
        """Where it is asked."""
        return [
            Route("/v1/models", self._models, methods=["GET"]),
            Route("/v1/models/{name:path}", self._model, methods=["GET"]),
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
        ]

    async def _models(self, _request: Request) -> Response:
        rows = [ModelRow(id=name) for name in self._names()]
        return Response(_encode(ModelList(data=rows)), media_type="application/json")

    async def _model(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._names():
            return _refused(Problem(404, f"there is no model {name!r}; see GET /v1/models"))
        return Response(_encode(ModelRow(id=name)), media_type="application/json")

    def _names(self) -> list[str]:
        """Agents first: each is a model with tools; then models, which the default agent asks."""
        settings = self._house.settings
        agents = [name for name, one in settings.agent.items() if one.mode != "subagent"]
        return list(dict.fromkeys([self._house.default_agent, *agents, *sorted(settings.model)]))

    async def _complete(self, request: Request) -> Response:
        try:
            asked = await _read(request)
            wanted = wanted_of(asked)
            patience = _patience(request)
            said = await self._said_once(asked, wanted, request)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the client is told in its form
            return _refused(problem)
        session_id = said.session_id
        answering = Answering(self._house, session_id, said)
        may_come_again = HEADER in request.headers
        at = int(self._house.clock.now().timestamp())
        answer = _Answer(asked, session_id, at, may_come_again=may_come_again)
        if asked.stream:
            pieces = self._streamed(answer, answering, patience)
            response: Response = streamed(pieces, shows_life=True)
        else:
            response = await self._whole(answer, answering, patience, request)
        response.headers[SESSION_HEADER] = session_id
        return response

    async def _said_once(self, asked: Completion, wanted: Wanted, request: Request) -> Event:
        """Say it, unless it was said under the key of the request: what is kept is where.

        So the same request follows the same run, be it under way or over.
        """

        async def say() -> Response:
            said = await self._said(asked, wanted, request)
            told = _Place(session=said.session_id, sequence=said.sequence)
            return Response(_encode(told), media_type="application/json")

        kept = await self._receipts.once(request, await request.body(), say)
        place = msgspec.json.decode(bytes(kept.body), type=_Place)
        events = await self._house.journal.events(place.session, after=place.sequence - 1)
        return events[0]

    async def _said(self, asked: Completion, wanted: Wanted, request: Request) -> Event:
        """Say it to the session it belongs to."""
        house = self._house
        named = request.headers.get(SESSION_HEADER) or (asked.metadata or {}).get("session")
        # Whoever goes on with a conversation has it alone: another one may have begun the same.
        known = self._known.pop(wanted.known_by or "", None)
        if named is None and (known is None or not await _is_there(house.journal, known)):
            return await self._begun(asked.model, wanted.whole)
        session_id = named or known or ""
        refuse_unspoken(house, await house.journal.session(session_id))
        said = await ingress.send_message(house.journal, session_id, wanted.words, house.redactor)
        await house.written(session_id)
        return said

    async def _begun(self, model: str, words: str) -> Event:
        settings, runner = self._house.settings, self._house.opened.runner
        is_agent = model == self._house.default_agent or model in settings.agent
        if not is_agent and model not in settings.model and ":" not in model:
            raise Problem(404, f"there is no model {model!r}; see GET /v1/models")
        agent = self._house.agent_called(model) if is_agent else None
        session = await runner.new_session(agent=agent, model=None if is_agent else model)
        try:
            said = await session.send(words)
        finally:
            await session.close()
        await self._house.written(session.id)
        return said

    async def _whole(
        self, answer: "_Answer", answering: Answering, patience: float, request: Request
    ) -> Response:
        trouble: Exception | None = None
        async with create_task_group() as group:
            group.start_soon(_then_cancel, request, group.cancel_scope)
            trouble = await _heard_out(answer, answering, patience)
            answer.is_whole = True
            group.cancel_scope.cancel()
        if not answer.is_whole and trouble is None:
            await self._hung_up(answer)
            return Response(status_code=400)
        return _refused(trouble) if trouble is not None else self._told(answer, answering)

    def _told(self, answer: "_Answer", answering: Answering) -> Response:
        """One that was heard to its end."""
        end = answering.end
        if end.problem is not None:
            return _refused(Problem(502, end.problem))
        if end.waits:
            answer.add(_WAITS.format(answer.session_id))
        self._remember(answer)
        told = ChatCompletion(
            id=answer.id,
            created=answer.created,
            model=answer.asked.model,
            choices=[Choice(message=Answered(content=answer.text), finish_reason=end.finish)],
            usage=end.usage,
            holdfast=Standing(session=answer.session_id, waits=end.waits),
        )
        return Response(_encode(told), media_type="application/json")

    async def _streamed(
        self, answer: "_Answer", answering: Answering, patience: float
    ) -> AsyncGenerator[bytes]:
        yield answer.chunk(Delta(role="assistant", content=""))
        try:
            async with aclosing(answering.pieces(patience)) as pieces:
                async for piece in pieces:
                    answer.add(piece)
                    yield answer.chunk(Delta(content=piece))
        except (GeneratorExit, get_cancelled_exc_class()):
            with CancelScope(shield=True):
                await self._hung_up(answer)
            raise
        except JournalError as problem:  # as where somebody takes the session away
            yield _told_trouble(problem)
            return
        end = answering.end
        if end.problem is not None:
            yield _told_trouble(Problem(502, end.problem))
            return
        if end.waits:
            words = _WAITS.format(answer.session_id)
            answer.add(words)
            yield answer.chunk(Delta(content=words))
        self._remember(answer)
        yield answer.last(answering)
        yield b"data: [DONE]\n\n"

    async def _hung_up(self, answer: "_Answer") -> None:
        """Nobody reads on: what it would say costs, and nobody asked for it."""
        house, session_id = self._house, answer.session_id
        if house.leaving.aborted:
            return  # it is the server that ends: the session goes on with the next one
        if answer.may_come_again:
            return  # who sends a key wants to have the answer once the connection stands again
        with suppress(JournalError):  # it is gone, or over: nothing of it runs
            # Without a note: that would be what to do instead, and have the model asked again.
            await ingress.interrupt(house.journal, session_id, house.redactor)
            await house.written(session_id)

    def _remember(self, answer: "_Answer") -> None:
        """The client sends all of this again with its next words."""
        said = [*answer.asked.messages, Said("assistant", answer.text)]
        self._known[conversation_key(answer.asked.model, said)] = answer.session_id
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)


class _Answer:
    """One answer as it grows."""

    def __init__(
        self, asked: Completion, session_id: str, created: int, *, may_come_again: bool
    ) -> None:
        self.asked = asked
        self.may_come_again = may_come_again
        """The request has a key: lost on the way, it is sent again for the same answer."""
        self.is_whole = False
        self.session_id = session_id
        self.created = created
        self.id = f"chatcmpl-{session_id}-{created}"
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """More of it."""
        self._pieces.append(piece)

    def chunk(self, delta: Delta) -> bytes:
        """A piece, as it is sent."""
        return self._told([ChunkChoice(delta=delta)])

    def last(self, answering: Answering) -> bytes:
        """The end, and what was used where that was asked for."""
        end = answering.end
        standing = Standing(session=self.session_id, waits=end.waits)
        told = self._told([ChunkChoice(delta=Delta(), finish_reason=end.finish)], standing)
        options = self.asked.stream_options
        if options is not None and options.include_usage:
            used = ChatChunk(
                id=self.id,
                created=self.created,
                model=self.asked.model,
                choices=[],
                usage=end.usage,
            )
            told += b"data: %b\n\n" % _encode(used)
        return told

    def _told(self, choices: list[ChunkChoice], standing: Standing | None = None) -> bytes:
        chunk = ChatChunk(
            id=self.id,
            created=self.created,
            model=self.asked.model,
            choices=choices,
            holdfast=standing,
        )
        return b"data: %b\n\n" % _encode(chunk)


async def _heard_out(answer: _Answer, answering: Answering, patience: float) -> Exception | None:
    """Hear it to its end; what went wrong."""
    try:
        async with aclosing(answering.pieces(patience)) as pieces:
            async for piece in pieces:
                answer.add(piece)
    except Exception as problem:  # noqa: BLE001 - the same
        return problem
    return None


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where in which session something was said."""

    session: str
    sequence: int


async def _then_cancel(request: Request, scope: CancelScope) -> None:
    """Once the client has hung up. Its request is read: nothing else comes any more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _read(request: Request) -> Completion:
    try:
        return _decode(await request.body())
    except TooLarge:
        raise Problem(413, "the conversation is too large") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Problem(400, f"the request cannot be read: {problem}") from None


def _patience(request: Request) -> float:
    given = request.headers.get(WAIT_HEADER)
    if given is None:
        return USUAL_WAIT
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _MOST_WAIT:
        raise Problem(400, f"{WAIT_HEADER} is a number of seconds from 0 to {_MOST_WAIT:,.0f}")
    return seconds


async def _is_there(journal: Journal, session_id: str) -> bool:
    try:
        return (await journal.session(session_id)).state.status != "terminated"
    except UnknownSession:
        return False


class _Trouble(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    type: str
    param: None = None
    code: str


def _trouble(problem: Exception) -> tuple[int, dict[str, _Trouble]]:
    """The same as everywhere, in the words of this form."""
    answer = worded(problem)
    told = msgspec.json.decode(bytes(answer.body), type=TroubleAnswer).error
    kind = "invalid_request_error" if answer.status_code < 500 else "api_error"
    trouble = _Trouble(message=told.message, type=kind, code=told.code)
    return answer.status_code, {"error": trouble}


def _told_trouble(problem: Exception) -> bytes:
    """As a piece of a stream."""
    return b"data: %b\n\n" % _encode(_trouble(problem)[1])


def _refused(problem: Exception) -> Response:
    status, told = _trouble(problem)
    return Response(_encode(told), status, media_type="application/json")
