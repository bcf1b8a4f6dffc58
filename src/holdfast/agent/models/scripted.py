"""A model that plays turns which somebody wrote: for tests, tours and demonstrations.

It thinks nothing and reaches nobody. Files are read by others; here is only what stands in them.
"""

import tomllib
from collections.abc import Callable, Iterable
from typing import TypeAlias

import anyio
import msgspec

from holdfast.agent.models.replaying import tell
from holdfast.agent.models.wire import encoded
from holdfast.contract.chunks import AskedCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import (
    FinishReason,
    Heard,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelTrouble,
    ModelUsage,
)

USUAL_WINDOW = 128_000
USUAL_OUTPUT_TOKENS = 8_192


class ScriptError(ValueError):
    """A script cannot be played; says where and what to do."""


class ScriptedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that it asks for."""

    name: str
    arguments: JsonObject | str = {}
    """A table, or text that is sent as it is, also where it is malformed."""
    id: str | None = None
    """None: by the numbers of turn and call."""


class ScriptedTrouble(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a turn gives no reply."""

    trouble: ModelTrouble
    told: str = "so the script wants it"
    status: int | None = None
    retry_after: float | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What it does when it is asked once."""

    text: str | None = None
    reasoning: str | None = None
    calls: tuple[ScriptedCall, ...] = ()
    finish: FinishReason | None = None
    """None: by whether there are calls."""
    usage: ModelUsage = ModelUsage()
    error: ScriptedTrouble | None = None
    """Instead of a reply."""
    seconds: float = 0.0
    """How long it seems to think."""
    opaque: JsonObject | None = None
    cut_calls: tuple[str, ...] = ()
    """Names of calls that it was cut inside of."""


class _Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    turn: tuple[Turn, ...]


Played: TypeAlias = Turn | ModelReply | ModelError | str
"""A turn, a reply or an error as they are, or just a text."""
Choosing: TypeAlias = Callable[[ModelRequest], Played]
"""Chooses a turn by what it is asked."""


def script_in(text: str, name: str) -> tuple[Turn, ...]:
    """The turns of a file: `[[turn]]` tables of TOML, or JSON of the same shape; ScriptError."""
    try:
        if name.endswith(".json"):
            return msgspec.json.decode(text, type=_Script).turn
        return msgspec.convert(tomllib.loads(text), _Script).turn
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeEncodeError) as problem:
        raise ScriptError(f"{name}: {problem}; write [[turn]] tables, see docs/models.md") from None


class ScriptedModel:
    """Plays turns in their order, whoever asks; then it is over, and says so."""

    provider = "scripted"

    def __init__(
        self,
        turns: Iterable[Played | Choosing],
        *,
        name: str = "scripted",
        window: int = USUAL_WINDOW,
        max_output_tokens: int = USUAL_OUTPUT_TOKENS,
    ) -> None:
        self._turns = tuple(turns)
        self.requests: list[ModelRequest] = []
        """All that was asked, for tests to look at."""
        self.name = name
        self.window = window
        self.max_output_tokens = max_output_tokens

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """The next turn; ModelError, also when there is none."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._turns):
            raise ModelError(
                "unavailable",
                f"the script {self.name!r} is over: it has {len(self._turns)} turns and was asked"
                f" for number {number + 1}; add a turn to it",
            )
        turn = self._turns[number]
        played = turn(request) if callable(turn) else turn
        reply = await _played(played, number + 1)
        tell(reply, heard)
        return reply

    async def close(self) -> None:
        """Nothing is held."""


async def _played(played: Played, number: int) -> ModelReply:
    match played:
        case str():
            return ModelReply(text=played)
        case ModelReply():
            return played
        case ModelError():
            raise played
        case Turn():
            await anyio.sleep(played.seconds)
            return _reply(played, number)


def _reply(turn: Turn, number: int) -> ModelReply:
    error = turn.error
    if error is not None:
        raise ModelError(
            error.trouble, error.told, status=error.status, retry_after=error.retry_after
        )
    calls = tuple(_call(call, number, place) for place, call in enumerate(turn.calls, 1))
    return ModelReply(
        text=turn.text,
        calls=calls,
        finish=turn.finish or ("tool_calls" if calls else "stop"),
        usage=turn.usage,
        reasoning=turn.reasoning,
        opaque=turn.opaque,
        cut_calls=turn.cut_calls,
    )


def _call(call: ScriptedCall, number: int, place: int) -> AskedCall:
    written = call.arguments
    arguments = written if isinstance(written, str) else encoded(written).decode()
    return AskedCall(call.id or f"cal_scripted_{number}_{place}", call.name, arguments)
