"""Agents and compressors as parts of workflows: a session in, a session out."""

from collections.abc import Iterable
from types import TracebackType
from typing import Self, Unpack

from holdfast.agent.flow.background import BACKGROUND, refuse_event_loop
from holdfast.agent.flow.compressing import INSTRUCTION
from holdfast.agent.flow.workflow import AgentParam, Workflow
from holdfast.app.flow_loop import (
    run_session_compress,
    run_session_compress_async,
    run_session_loop,
    run_session_loop_async,
)
from holdfast.app.flow_model import Provider
from holdfast.app.flow_options import LoopOptions, SettlingOptions, checked, checked_settling
from holdfast.contract.flow import FlowToolCall
from holdfast.runtime.flow_session import Session


class _Closing(AgentParam):
    """What can be closed: its model lets go of connections and memory."""

    def close(self) -> None:
        """Let go of what its model holds; a model that others use must not be closed yet.

        One that is only named is made for each loop, and closed with it.
        """
        refuse_event_loop("close", "close_async()")
        begun = BACKGROUND.start(self.close_async)
        begun.wait()
        error = begun.error()
        if error is not None:
            raise error

    async def close_async(self) -> None:
        """The same for code in an event loop."""
        provider = self.provider
        if provider is not None and not isinstance(provider, str):
            await provider.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Agent(_Closing, Workflow):
    """Goes on with a session until its model is done; takes what `run_session_loop` takes."""

    def __init__(
        self,
        system_prompt: str | Session,
        provider: Provider = None,
        tools: Iterable[FlowToolCall] = (),
        **options: Unpack[LoopOptions],
    ) -> None:
        super().__init__(system_prompt, provider, tools)
        self._options = checked(options, "Agent")

    def forward(self, session: Session) -> Session:
        """Run the loop; the output is there at once."""
        return run_session_loop(session, self.session, self.provider, self.tools, **self._options)

    async def forward_async(self, session: Session) -> Session:
        """Run the loop to its end."""
        return await run_session_loop_async(
            session, self.session, self.provider, self.tools, **self._options
        )


class Compressor(_Closing, Workflow):
    """Tells a session again in short."""

    def __init__(
        self,
        system_prompt: str | Session,
        provider: Provider = None,
        instruction: str = INSTRUCTION,
        **options: Unpack[SettlingOptions],
    ) -> None:
        super().__init__(system_prompt, provider)
        self._instruction = instruction
        self._options = checked_settling(options, "Compressor")

    def forward(self, session: Session) -> Session:
        """One completion; RuntimeError when nothing came of it."""
        return run_session_compress(
            session, self.session, self.provider, self._instruction, **self._options
        )

    async def forward_async(self, session: Session) -> Session:
        """The same in an event loop."""
        return await run_session_compress_async(
            session, self.session, self.provider, self._instruction, **self._options
        )
