"""A model that says what it is told to, and small flow tools, for tests of loops."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from holdfast.app.flow_options import SettlingOptions
from holdfast.app.settings import Settings, StoreSettings
from holdfast.contract.chunks import AskedCall, ToolResultChunk
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.model import (
    FinishReason,
    Heard,
    ModelReply,
    ModelRequest,
    ModelUsage,
    TextDelta,
)
from holdfast.flow import Session

UNKEPT: SettlingOptions = {"settings": Settings(store=StoreSettings(kind="none"))}
"""Nothing is written down, and no file is read."""

ANYTHING: Mapping[str, object] = {"type": "object"}


class Scripted:
    """Replies in turn; an exception is raised, the last reply stays."""

    name = "scripted"
    provider = "tests"
    window = 100_000
    max_output_tokens = 1_000

    def __init__(self, *replies: ModelReply | BaseException) -> None:
        self._replies = replies
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
        self.requests.append(request)
        if isinstance(reply, BaseException):
            raise reply
        if heard is not None:
            for letter in reply.text or "":
                heard(TextDelta(letter))
        return reply

    async def close(self) -> None:
        self.closed += 1


def says(text: str, finish: FinishReason = "stop", cost: int = 0) -> ModelReply:
    return ModelReply(text=text, finish=finish, usage=ModelUsage(input_tokens=cost))


def asks(*calls: Sequence[str], text: str | None = None) -> ModelReply:
    """Calls as name and arguments; their ids are c1, c2 and so on."""
    asked = tuple(
        AskedCall(f"c{place}", name, *arguments)
        for place, (name, *arguments) in enumerate(calls, 1)
    )
    return ModelReply(text=text, calls=asked, finish="tool_calls")


class Does(FlowToolCall):
    """A tool that does what a function does."""

    def __init__(
        self,
        name: str,
        does: Callable[[FlowSession, Mapping[str, object]], object],
        parameters: Mapping[str, object] = ANYTHING,
    ) -> None:
        self._name = name
        self._does = does
        self._parameters = parameters

    @property
    def name(self) -> str:
        return self._name

    @property
    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        return self._does(session, arguments)


def gives(name: str, value: object) -> Does:
    """A tool that always gives the same."""

    def does(_session: FlowSession, _arguments: Mapping[str, object]) -> object:
        return value

    return Does(name, does)


class Safe(Does):
    """The same, and its calls may overlap where `n` differs."""

    parallel_safe: ClassVar[bool] = True

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        return ("n", str(arguments["n"]))


def user() -> Session:
    return Session.from_user_message("hi")


def agent() -> Session:
    return Session.from_agent_prompt("be brief")


def results(session: Session) -> list[str]:
    """The texts of all tool results."""
    return [row.content for row in session.chunk_table if isinstance(row, ToolResultChunk)]


def kinds(session: Session) -> list[str]:
    return [str(row.__struct_config__.tag) for row in session.chunk_table]


def raising(error: BaseException) -> Callable[..., object]:
    def raises(*_given: object) -> object:
        raise error

    return raises
