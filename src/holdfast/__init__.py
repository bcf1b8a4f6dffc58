"""The tool runtime for AI agents: every call repaired, checked, permitted, run, bounded, answered.

Importing this does nothing and loads nothing: names are fetched when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from holdfast import _later
from holdfast._version import __version__

if TYPE_CHECKING:
    from holdfast.agent.models.scripted import ScriptedModel
    from holdfast.app.agent_session import AgentSession
    from holdfast.app.answering import answer_question, open_questions
    from holdfast.app.holdfast import Holdfast
    from holdfast.app.inquiring import answer_inquiry, open_inquiries
    from holdfast.app.problems import ConfigurationError
    from holdfast.app.subagents import Subagent
    from holdfast.contract.agents import Agent, ManifestRule, RunLimits, Visibility
    from holdfast.contract.arguments import (
        optional_string,
        require_arguments,
        require_int,
        require_string,
        require_string_array,
    )
    from holdfast.contract.call import Ask
    from holdfast.contract.envelope import Envelope
    from holdfast.contract.events import Event
    from holdfast.contract.failure import Failure, FailureKind
    from holdfast.contract.model import (
        CallDelta,
        ModelError,
        ModelReply,
        ReasoningDelta,
        TextDelta,
    )
    from holdfast.contract.person import Inquiry, PersonQuestion, Replies
    from holdfast.contract.ports import Answer
    from holdfast.contract.question import Question
    from holdfast.contract.results import Binary, Image
    from holdfast.contract.rules import Rule
    from holdfast.contract.runtime import Progress, Runtime
    from holdfast.contract.session_state import CustomRequest
    from holdfast.contract.tool import Limits, OutputBound, Tool, ToolDefinitionError
    from holdfast.contract.truncate import truncate_for_model
    from holdfast.contract.wakes import WakeEnd
    from holdfast.contract.watchdog import Inspection, Opinion
    from holdfast.envelope.render import parse, render
    from holdfast.envelope.tool_envelope import ToolEnvelope
    from holdfast.policy.path_guard import require_path
    from holdfast.runtime.abort import Abort
    from holdfast.runtime.approvals import ApprovalDesk
    from holdfast.sources.functions import tool

_HOME = {
    "AgentSession": "holdfast.app.agent_session",
    "ScriptedModel": "holdfast.agent.models.scripted",
    "ModelError": "holdfast.contract.model",
    "ModelReply": "holdfast.contract.model",
    "Event": "holdfast.contract.events",
    "TextDelta": "holdfast.contract.model",
    "ReasoningDelta": "holdfast.contract.model",
    "CallDelta": "holdfast.contract.model",
    "WakeEnd": "holdfast.contract.wakes",
    "CustomRequest": "holdfast.contract.session_state",
    "Holdfast": "holdfast.app.holdfast",
    "tool": "holdfast.sources.functions",
    "Tool": "holdfast.contract.tool",
    "Limits": "holdfast.contract.tool",
    "OutputBound": "holdfast.contract.tool",
    "ToolDefinitionError": "holdfast.contract.tool",
    "Runtime": "holdfast.contract.runtime",
    "Progress": "holdfast.contract.runtime",
    "Ask": "holdfast.contract.call",
    "Answer": "holdfast.contract.ports",
    "ApprovalDesk": "holdfast.runtime.approvals",
    "Question": "holdfast.contract.question",
    "open_questions": "holdfast.app.answering",
    "answer_question": "holdfast.app.answering",
    "Inquiry": "holdfast.contract.person",
    "PersonQuestion": "holdfast.contract.person",
    "Replies": "holdfast.contract.person",
    "open_inquiries": "holdfast.app.inquiring",
    "answer_inquiry": "holdfast.app.inquiring",
    "Subagent": "holdfast.app.subagents",
    "Agent": "holdfast.contract.agents",
    "ManifestRule": "holdfast.contract.agents",
    "RunLimits": "holdfast.contract.agents",
    "Visibility": "holdfast.contract.agents",
    "Rule": "holdfast.contract.rules",
    "Inspection": "holdfast.contract.watchdog",
    "Opinion": "holdfast.contract.watchdog",
    "Abort": "holdfast.runtime.abort",
    "ConfigurationError": "holdfast.app.problems",
    "Envelope": "holdfast.contract.envelope",
    "Failure": "holdfast.contract.failure",
    "FailureKind": "holdfast.contract.failure",
    "Image": "holdfast.contract.results",
    "Binary": "holdfast.contract.results",
    "ToolEnvelope": "holdfast.envelope.tool_envelope",
    "render": "holdfast.envelope.render",
    "parse": "holdfast.envelope.render",
    "require_arguments": "holdfast.contract.arguments",
    "require_string": "holdfast.contract.arguments",
    "require_int": "holdfast.contract.arguments",
    "require_string_array": "holdfast.contract.arguments",
    "optional_string": "holdfast.contract.arguments",
    "require_path": "holdfast.policy.path_guard",
    "truncate_for_model": "holdfast.contract.truncate",
}

__all__ = [
    "__version__",
    "Holdfast",
    "tool",
    "Tool",
    "Limits",
    "OutputBound",
    "ToolDefinitionError",
    "Runtime",
    "Progress",
    "Ask",
    "Answer",
    "ApprovalDesk",
    "Question",
    "open_questions",
    "answer_question",
    "Inquiry",
    "PersonQuestion",
    "Replies",
    "open_inquiries",
    "answer_inquiry",
    "Subagent",
    "Agent",
    "ManifestRule",
    "RunLimits",
    "AgentSession",
    "ScriptedModel",
    "ModelError",
    "ModelReply",
    "Event",
    "TextDelta",
    "ReasoningDelta",
    "CallDelta",
    "WakeEnd",
    "CustomRequest",
    "Visibility",
    "Rule",
    "Inspection",
    "Opinion",
    "Abort",
    "ConfigurationError",
    "Envelope",
    "Failure",
    "FailureKind",
    "Image",
    "Binary",
    "ToolEnvelope",
    "render",
    "parse",
    "require_arguments",
    "require_string",
    "require_int",
    "require_string_array",
    "optional_string",
    "require_path",
    "truncate_for_model",
]


_later.install()


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    found: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
