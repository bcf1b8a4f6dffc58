"""A model that is asked over HTTP, whatever the form of its wire. The form is another module's."""

from functools import partial

import msgspec

from holdfast.agent.models.counting import counted
from holdfast.agent.models.exchange import Destination, Exchange
from holdfast.agent.models.form import Form, Surrounding, nobody
from holdfast.agent.models.setup import ModelSetup
from holdfast.agent.models.wire import encoded
from holdfast.contract.model import Heard, ModelError, ModelReply, ModelRequest, ModelTool
from holdfast.contract.ports import IdSource
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds


class HttpModel:
    """One model of a provider. Connections are opened by the first question."""

    def __init__(self, setup: ModelSetup, form: Form, ids: IdSource | None = None) -> None:
        self._setup = setup
        self._form = form
        self._new_id = partial((ids or TimeIds(SystemClock())).new, "cal")
        self._left_out: frozenset[str] = frozenset()
        """Fields that this model has refused."""
        destination = Destination(
            url=f"{setup.url}{form.path}",
            headers={**form.headers(setup.key), **setup.headers},
            secret=setup.key,
            patience=setup.patience,
            most_bytes=setup.most_bytes,
            proxy=setup.proxy,
        )
        self._exchange = Exchange(destination)

    @property
    def name(self) -> str:
        """What its provider calls it."""
        return self._setup.model

    @property
    def provider(self) -> str:
        """Whose it is."""
        return self._form.provider

    @property
    def window(self) -> int:
        """How many tokens a request and its reply may hold together."""
        return self._setup.window

    @property
    def max_output_tokens(self) -> int:
        """How many of them a reply may have."""
        return self._setup.max_output_tokens

    def body(self, request: ModelRequest) -> bytes:
        """What is sent: the same request is the same bytes."""
        body = self._form.body(self._setup, request)
        for name in self._left_out:
            body.pop(name, None)
        return encoded({**body, **self._setup.extra})

    def sent_tool(self, tool: ModelTool) -> bytes:
        """A tool as it is sent."""
        return encoded(self._form.tool(tool))

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """Ask once; ModelError. A field that the model refuses is left out, and asked again."""
        try:
            return await self._asked(request, heard or nobody)
        except ModelError as problem:
            refused = self._form.unwanted(problem) - self._left_out - self._setup.extra.keys()
            if not refused:
                raise
            self._left_out |= refused
        return await self._asked(request, heard or nobody)

    async def _asked(self, request: ModelRequest, heard: Heard) -> ModelReply:
        setup, body = self._setup, self.body(request)
        around = Surrounding(self._new_id, heard, setup.key, setup.origin)
        reading = self._form.reading(around)
        await self._exchange.ask(body, reading)
        reply = counted(reading.reply(), body)
        cost = self._setup.prices.micros(reply.usage)
        if not cost:
            return reply
        usage = msgspec.structs.replace(reply.usage, cost_micros=cost)
        return msgspec.structs.replace(reply, usage=usage)

    async def close(self) -> None:
        """Let go of connections; the next question opens new ones."""
        await self._exchange.close()
