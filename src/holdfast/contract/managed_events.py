"""What happens in a session of the managed profile, beside what happens in every session.

More kinds of events; how they add up is `record`'s to know.
"""

import msgspec

from holdfast.contract.events import Payload
from holdfast.contract.json_value import JsonObject
from holdfast.contract.outcomes import EvaluationRecord


class SetupDescribed(Payload, frozen=True, kw_only=True, tag="setup.described"):
    """What the session stands on from here on: written when it changes."""

    fingerprint: str
    """The same for sessions of the same setup, whatever their ids and paths are."""
    resource_contract_fingerprint: str
    environment_fingerprint: str
    setup: JsonObject
    """The contract in its sections, each with a fingerprint."""


class ContextMeasured(Payload, frozen=True, kw_only=True, tag="context.measured"):
    """How much of its context the model was given of what, when a run came to rest."""

    budget: JsonObject
    pressure: JsonObject | None = None


class OutcomeEvaluated(Payload, frozen=True, kw_only=True, tag="outcome.evaluated"):
    """How far the session had come with its outcome when a run came to rest."""

    record: EvaluationRecord


class ShellChanged(Payload, frozen=True, kw_only=True, tag="shell.changed"):
    """Where commands run from here on, and with which variables; what is not said stays."""

    cwd: str | None = None
    set_env: tuple[tuple[str, str], ...] = ()
    """Names and values."""
    unset_env: tuple[str, ...] = ()
    withheld_env: tuple[str, ...] = ()
    """Set to what is not written down, as it holds a secret."""
    shell_id: str | None = None
    """The persistent shell that is meant by ``status``."""
    status: str | None = None
    """Whether that is open: `active` or `closed`."""


class ResourceStaged(Payload, frozen=True, kw_only=True, tag="resource.staged"):
    """A file that is shared was copied into the session's workspace, to be worked on."""

    source_path: str
    """From the root of what is shared."""
    target_path: str
    """From the root of the workspace."""
    source_hash: str
    target_hash: str


class ResourcePromoted(Payload, frozen=True, kw_only=True, tag="resource.promoted"):
    """A file was written where all sessions of the agent see it."""

    target_path: str
    version_id: str
    content_hash: str
    source_path: str | None = None
    """The session's file; None: an older version was brought back."""
    restored_from: str | None = None
    overridden: bool = False
    """The caller wanted it although the outcome was not reached."""


class NotesPromoted(Payload, frozen=True, kw_only=True, tag="memory.promoted"):
    """Notes were written where all sessions of the agent see them."""

    version_id: str
    content_hash: str
    overridden: bool = False


MANAGED_KINDS: tuple[type[Payload], ...] = (
    *(SetupDescribed, ContextMeasured, OutcomeEvaluated, ShellChanged),
    *(ResourceStaged, ResourcePromoted, NotesPromoted),
)


class ManagedState(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What a session's events say of its setup and its outcome, for whoever looks from outside."""

    outcome_title: str | None = None
    outcome_fingerprint: str | None = None
    outcome_event_id: str | None = None
    success_criteria: tuple[str, ...] = ()
    evaluated: EvaluationRecord | None = None
    """The newest evaluation of that outcome."""
    evaluations: int = 0
    """How many there are of it."""
    setup_fingerprint: str | None = None
    resource_contract_fingerprint: str | None = None
    last_wake_id: str | None = None
    """The newest run that has ended, when it did, and what it said at its end."""
    rested_at: int = 0
    summary: str = ""
    processed_event_id: str | None = None
    """The last event of people that was taken into account."""
    produced_event_id: str | None = None
    """The last event of that run."""
    through: int = 0
    """The number of the last event that the model was told of."""
