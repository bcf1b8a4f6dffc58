"""What of an event can be searched for: the words of people, of the agent and of tools."""

from collections.abc import Iterator

from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallSettled,
    ChildCreated,
    ChildIdle,
    CustomToolResult,
    ModelReplied,
    OutcomeDefined,
    Payload,
    StatusIdle,
    ToolUse,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.json_value import JsonValue, decode_json
from holdfast.contract.managed_events import OutcomeEvaluated, ShellChanged
from holdfast.contract.wake_events import LearningCaptured
from holdfast.record.chat import words_before_calls

_SETS_VARIABLES = "shell_set_env"
MOST_CHARACTERS = 20_000
"""Of one event: the beginning of what a tool printed is found, not all of it."""


def searchable(payload: Payload) -> str:
    """The words of an event; empty: it has none."""
    return "\n".join(filter(None, _words(payload)))[:MOST_CHARACTERS].replace("\0", " ")


def kind_of(payload: Payload) -> str:
    """What kind of event it is, and of which tool: `call.asked/bash`."""
    kind = str(payload.__struct_config__.tag)
    tool = payload.tool if isinstance(payload, CallAsked | CallSettled) else ""
    return f"{kind}/{tool}" if tool else kind


def _words(said: Payload) -> Iterator[str | None]:
    match said:
        case UserMessage() | ChildCreated():
            yield said.message
        case UserInterrupt():
            yield said.note
        case AgentMessage() | ModelReplied() | LearningCaptured():
            yield from _of_the_agent(said)
        case ChildIdle() | StatusIdle():
            yield said.summary
        case CustomToolResult():
            yield said.tool_name
            yield said.output
        case ToolUse():
            yield said.tool_name
            yield said.output
        case CallAsked():
            yield said.tool
            yield _variable_named(said) if said.tool == _SETS_VARIABLES else said.arguments
        case CallSettled():
            yield from _texts(decode_json(bytes(said.envelope)))
        case OutcomeDefined() | OutcomeEvaluated() | ShellChanged():
            yield from _of_managed(said)
        case _:
            return


def _variable_named(said: CallAsked) -> str | None:
    """The name of the variable that a call sets; its value cannot be found."""
    try:
        arguments = decode_json(said.arguments)
    except ValueError:
        return None
    key = arguments.get("key") if isinstance(arguments, dict) else None
    return key if isinstance(key, str) else None


def _of_the_agent(said: AgentMessage | ModelReplied | LearningCaptured) -> Iterator[str | None]:
    match said:
        case AgentMessage():
            yield said.message
            yield said.summary
        case ModelReplied():
            yield words_before_calls(said)
        case LearningCaptured():
            yield said.title
            yield said.detail


def _of_managed(said: OutcomeDefined | OutcomeEvaluated | ShellChanged) -> Iterator[str | None]:
    """Names of variables, and never their values."""
    match said:
        case OutcomeDefined():
            yield said.outcome.title
            yield said.outcome.detail
            yield from said.outcome.success_criteria
        case OutcomeEvaluated():
            yield said.record.outcome_title
            yield said.record.grade_status
            yield said.record.evaluation.status
            yield said.record.evaluation.summary
        case ShellChanged():
            yield said.cwd
            yield from (name for name, _ in said.set_env)


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text in a value, in order; the names of fields say nothing."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, list):
            waiting += reversed(here)
        elif isinstance(here, dict):
            waiting += reversed(list(here.values()))
