"""Every kind of event there is, and which of them leave something to do."""

from holdfast.contract.events import (
    AgentChunk,
    AgentMessage,
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildAnswered,
    ChildCreated,
    ChildIdle,
    ChildWaits,
    CustomToolResult,
    CustomToolUse,
    EventsProcessed,
    FlowGrown,
    InquiryAnswered,
    InquiryAsked,
    ModelReplied,
    ModelRequested,
    OutcomeDefined,
    Payload,
    SessionClosed,
    SessionCreated,
    SidecarKept,
    SpanCompleted,
    SpanStarted,
    StatusChanged,
    StatusIdle,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.managed_events import MANAGED_KINDS
from holdfast.contract.wake_events import CARRIED_KINDS, WAKE_KINDS

KINDS: tuple[type[Payload], ...] = (
    *(UserMessage, OutcomeDefined, UserInterrupt, ToolConfirmation, CustomToolResult),
    *(SessionCreated, ChildCreated, ChildIdle, StatusChanged, StatusIdle),
    *(EventsProcessed, SessionClosed, SpanStarted, SpanCompleted),
    *(AgentMessage, ToolUse, CustomToolUse),
    *(CallAsked, ApprovalAsked, ApprovalAnswered, CallIntended, CallSettled, SidecarKept),
    *(ModelRequested, ModelReplied, CallRefused, AgentChunk, FlowGrown),
    *(InquiryAsked, InquiryAnswered),
    *WAKE_KINDS,
    ApprovalWithdrawn,
    *(ChildWaits, ChildAnswered),
    *MANAGED_KINDS,
    *CARRIED_KINDS,
)
"""Every kind there is."""

MAKES_RUNNABLE: tuple[type[Payload], ...] = (
    *(UserMessage, OutcomeDefined, UserInterrupt, ToolConfirmation, CustomToolResult),
)
"""While one of them waits, there is something to do."""
