"""Showing a session to its own hand: which artifacts are written when, and who says what they say.

Whoever knows more of a thing than its events tell brings a provider for it. An artifact that cannot
be made is left as it is. Nothing here is ever read back.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from anyio import Lock

from holdfast.contract.journal import MOST_EVENTS, JournalError
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.contract.outcomes import Evaluation
from holdfast.runtime.managed import artifact_values as values
from holdfast.runtime.managed.artifact_folder import ArtifactFolder, json_text
from holdfast.runtime.managed.as_markdown import as_markdown
from holdfast.runtime.managed.drafts import drafts_of, mirrored
from holdfast.runtime.managed.evaluating import gate_step
from holdfast.runtime.managed.look import Look
from holdfast.runtime.managed.wake_traces import WakeTraces

Provider = Callable[[], Awaitable[JsonObject]]
"""Says what one artifact tells, as it is now."""
Pages = Callable[[], Awaitable[Mapping[str, str]]]
"""Says what is in its files, word for word; there may be files of other artifacts among them."""

AT_START = (
    *("managed_tools", "permissions", "environment", "agent_setup", "skills", "vaults"),
    *("session_runtime", "permission_posture"),
)
ONCE_ASSEMBLED = ("context_budget", "session_runtime")
AT_END = (
    *("session_status", "outcome", "outcome_grade", "outcome_repair", "outcome_evaluation"),
    *("outcome_evaluations", "permission_posture", "event_feed", "wake_traces"),
    *("session_relations", "context_budget", "session_runtime"),
)
_log = logging.getLogger("holdfast")


class Showing:
    """Shows one session."""

    def __init__(
        self,
        folder: ArtifactFolder,
        look: Callable[[], Look],
        providers: Mapping[str, Provider],
        pages: Mapping[str, Pages],
    ) -> None:
        """``providers``, ``pages``: by names of ARTIFACTS; what is there when something is shown
        counts."""
        self._folder = folder
        self._look = look
        self._providers = providers
        self._pages = pages
        self._traces = WakeTraces()
        self._one_at_a_time = Lock()

    def missing(self) -> tuple[str, ...]:
        """What was not shown yet."""
        return tuple(name for name in ARTIFACTS if not self._folder.has_shown(name))

    async def show(self, names: Iterable[str], look: Look | None = None) -> None:
        """Write these artifacts; JournalError. ``look``: where one was taken already."""
        async with self._one_at_a_time:  # or an older value could be written over a newer one
            seen = look or self._look()
            files: dict[str, str] = {}
            for name in dict.fromkeys(names):
                files.update(await self._files(name, seen))
            await self._folder.show(files)

    async def _files(self, name: str, look: Look) -> Mapping[str, str]:
        try:
            if name in self._pages:
                said = await self._pages[name]()
                return {file: said[file] for file in ARTIFACTS[name]}
            value = await self._value(name, look)
        except JournalError:
            raise
        except Exception:  # noqa: BLE001 - a provider is somebody else's, and this is only shown
            _log.exception("the artifact %s is not shown", name)
            return {}
        title = name.replace("_", " ").capitalize()
        return {
            file: json_text(value) if file.endswith(".json") else as_markdown(title, value)
            for file in ARTIFACTS[name]
        }

    async def _value(self, name: str, look: Look) -> JsonObject:
        provider = self._providers.get(name)
        if provider is not None:
            return await provider()
        if name == "wake_traces":
            return await self._wake_traces(look)
        return await _OWN[name](look)

    async def _wake_traces(self, look: Look) -> JsonObject:
        """Each event is read once."""
        if self._traces.sequence == 0:
            self._traces.take(await look.newest(MOST_EVENTS))
        while found := await look.behind(self._traces.sequence):
            self._traces.take(found)
        return self._traces.value(look.ground.session_id)


async def _managed_tools(look: Look) -> JsonObject:
    return values.managed_tools(look.ground.tools())


async def _permissions(look: Look) -> JsonObject:
    return values.permissions(look.ground.tools())


async def _environment(look: Look) -> JsonObject:
    state = (await look.session()).state
    return values.environment(state.environment_id, look.ground.mounts)


async def _agent_setup(look: Look) -> JsonObject:
    return values.agent_setup(await look.session())


async def _skills(look: Look) -> JsonObject:
    return values.skills(look.skills)


async def _vaults(look: Look) -> JsonObject:
    return values.vaults(look.ground.mounts)


async def _session_runtime(look: Look) -> JsonObject:
    ground = look.ground
    return values.session_runtime(await look.session(), ground.agent_id, ground.mounts)


async def _context_budget(look: Look) -> JsonObject:
    return values.context_budget(look.ground.session_id, look.ground.crowding())


async def _session_status(look: Look) -> JsonObject:
    session, shell, judged = await look.session(), await look.shell_state(), await look.judged()
    return values.session_status(session, shell, judged.past.wake_id)


async def _outcome(look: Look) -> JsonObject:
    return values.outcome(look.ground.session_id, (await look.judged()).outcome)


async def _outcome_grade(look: Look) -> JsonObject:
    return {
        "session_id": look.ground.session_id,
        "grade": values.plain((await look.judged()).grade),
    }


async def _outcome_repair(look: Look) -> JsonObject:
    """What is still to be shown, and the call that leads on."""
    judged = await look.judged()
    wanted = () if judged.outcome is None else judged.outcome.success_criteria
    shown = {one.criterion for one in judged.grade.evidence}
    step = judged.evaluation.next_suggested_tool or judged.grade.next_suggested_tool
    return {
        "status": judged.grade.status,
        "summary": judged.grade.summary,
        "criteria_not_shown": [one for one in wanted if one not in shown],
        "next_step": values.plain(step),
    }


async def _outcome_evaluation(look: Look) -> JsonObject:
    found = (await look.judged()).evaluation
    return {"session_id": look.ground.session_id, "evaluation": values.plain(found)}


async def _outcome_evaluations(look: Look) -> JsonObject:
    return values.evaluations((await look.judged()).records)


async def _permission_posture(look: Look) -> JsonObject:
    """What has to be decided, and what could be done instead."""
    session, judged = await look.session(), await look.judged()
    shell, crowding = await look.shell_posture(), look.ground.crowding()
    plan = shell.busy_plan.step if shell.busy_plan is not None else shell.recovery_plan
    pressure = None if crowding is None else crowding.pressure
    return {
        "session_id": session.id,
        "pending_requests": values.pending_requests(session),
        "always_ask_tools": values.asking_tools(look.ground.tools()),
        "outcome_evaluation": values.plain(judged.evaluation),
        "next_outcome_step": _next_outcome_step(judged.evaluation, is_wanted=bool(judged.outcome)),
        "context_pressure": values.plain(pressure),
        "shell_mutation_posture": values.plain(shell),
        "next_shell_step": values.plain(plan),
    }


def _next_outcome_step(found: Evaluation, *, is_wanted: bool) -> JsonObject | None:
    if found.promotion_ready or not is_wanted:
        return None
    step = gate_step(found)
    return {"tool": step.tool, "args": step.args, "rationale": step.rationale}


async def _event_feed(look: Look) -> JsonObject:
    events = await look.newest(values.MOST_EVENTS_SHOWN)
    return values.event_feed(look.ground.session_id, events)


async def _session_relations(look: Look) -> JsonObject:
    around = await look.parent(), await look.children()
    return values.relations(look.ground.session_id, *around)


async def _staged_substrate(look: Look) -> JsonObject:
    return mirrored(await drafts_of(look.ground))


_OWN: Mapping[str, Callable[[Look], Awaitable[JsonObject]]] = {
    "session_runtime": _session_runtime,
    "managed_tools": _managed_tools,
    "permissions": _permissions,
    "permission_posture": _permission_posture,
    "environment": _environment,
    "agent_setup": _agent_setup,
    "skills": _skills,
    "vaults": _vaults,
    "context_budget": _context_budget,
    "session_status": _session_status,
    "outcome": _outcome,
    "outcome_grade": _outcome_grade,
    "outcome_repair": _outcome_repair,
    "outcome_evaluation": _outcome_evaluation,
    "outcome_evaluations": _outcome_evaluations,
    "event_feed": _event_feed,
    "session_relations": _session_relations,
    "staged_substrate": _staged_substrate,
}
"""What each tells where nobody knows more."""
