"""Where a session stands as a run begins: its outcome, its shell, the last words, what may help.

What a model is told of it is for `notes` to say.
"""

import logging
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import msgspec
from anyio import move_on_after

from holdfast.contract.events import Event, UserMessage
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.managed.recalling import MemoryUpkeep, Recall, Recalled, SetupWatch
from holdfast.contract.steps import Step
from holdfast.runtime.managed.artifact_values import pending_requests
from holdfast.runtime.managed.asked_to_read import asked_to_read
from holdfast.runtime.managed.judging import Judged
from holdfast.runtime.managed.look import Look
from holdfast.runtime.managed.notes import Survey
from holdfast.runtime.managed.recall_query import About, recall_query
from holdfast.runtime.managed.showing import Pages, Provider

RECALL_SECONDS = 5.0
"""How long a run waits for what may help: it begins without."""
_T = TypeVar("_T")
_log = logging.getLogger("holdfast")


class Brought(msgspec.Struct):
    """What others know and do around a run; None: nobody does."""

    recall: Recall | None = None
    setup: SetupWatch | None = None
    memory: MemoryUpkeep | None = None
    shows: dict[str, Provider] = {}
    """By names of ARTIFACTS: who says what is in one."""
    pages: dict[str, Pages] = {}
    """The same of those whose files somebody writes on other occasions, too."""


async def unless_it_fails(what: str, work: Awaitable[_T], otherwise: _T) -> _T:
    """What comes of it. A failure is told in the log, and no more: nothing depends on it.

    JournalError: whoever runs the session has to know.
    """
    try:
        return await work
    except JournalError:
        raise
    except Exception:  # noqa: BLE001 - an index or a disk may fail in any way, and the run goes on
        _log.exception("%s failed; the run goes on without", what)
        return otherwise


async def surveyed(look: Look, brought: Brought) -> Survey:
    """Where the session stands now; JournalError."""
    watch, recall = brought.setup, brought.recall
    drift = unless_it_fails("describing the setup", _has_drifted(watch), otherwise=False)
    has_drifted = await drift  # before anything else is looked at: it may write that down
    session, judged = await look.session(), await look.judged()
    posture = await unless_it_fails("a look at the shell", look.shell_posture(), None)
    said = await look.newest(1, "user.message")
    about = _about(look, session, judged, said)
    return Survey(
        outcome=judged.outcome,
        grade=judged.grade,
        evaluation=judged.evaluation,
        is_released=_is_released(look, session),
        has_drifted=has_drifted,
        shell=posture,
        reads=_reads(session, said),
        recalled=await unless_it_fails("recalling", _recalled(recall, about), Recalled()),
    )


async def _has_drifted(watch: SetupWatch | None) -> bool:
    return False if watch is None else await watch.describe_now()


async def _recalled(recall: Recall | None, about: About) -> Recalled:
    query = recall_query(about)
    if recall is None or not query:
        return Recalled()
    with move_on_after(RECALL_SECONDS):
        return await recall.recalled(query)
    return Recalled()


def _about(look: Look, session: Session, judged: Judged, said: Sequence[Event]) -> About:
    state = session.state
    waits_for = None
    if not _is_released(look, session):
        confirmation, custom = state.confirmation, state.custom
        waits_for = confirmation.tool_name if confirmation else custom.name if custom else None
    wake = min(state.wakes, key=lambda one: one.due_micros, default=None)
    return About(
        message=_words(said),
        outcome=judged.outcome,
        waits_for=waits_for,
        goes_on_with=None if wake is None else f"{wake.reason} {wake.note or ''}",
        grade=judged.grade,
        evaluation=judged.evaluation,
        summary=None if state.managed is None else state.managed.summary,
    )


def _is_released(look: Look, session: Session) -> bool:
    """Whether nothing is waited for any more: it was answered or stopped, or its time has come."""
    state = session.state
    if state.interrupts:
        return True
    now = look.ground.clock.unix_ns() // 1000
    return not pending_requests(session) and all(one.due_micros <= now for one in state.wakes)


def _words(said: Sequence[Event]) -> str | None:
    payload = said[-1].payload if said else None
    return payload.message if isinstance(payload, UserMessage) else None


def _reads(session: Session, said: Sequence[Event]) -> Step | None:
    """Of words that were not heard before."""
    words = _words(said)
    if words is None or said[-1].id not in session.state.pending:
        return None
    return asked_to_read(words, session.state.workspace or "/")
