"""What a run may want to remember when it begins: looked for without being asked.

The question is made of what is known of the moment. How it is told to the model is not known here.
"""

from collections.abc import Callable, Sequence

import msgspec

from holdfast.contract.archive import SessionQuery
from holdfast.contract.errors import ToolError
from holdfast.contract.events import WantedOutcome
from holdfast.contract.journal import JournalError
from holdfast.contract.managed.retrieval import Candidate, PlannedStep, Wanted
from holdfast.contract.outcomes import Evaluation, Grade
from holdfast.contract.skills import Skill
from holdfast.contract.steps import Step
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.retrieval.finding import Finding
from holdfast.runtime.managed.text_score import query_of, score

MOST_PARTS, LONGEST_PART = 6, 240
MOST_CANDIDATES, MOST_SKILLS, MOST_RECENT = 3, 2, 2
_LOOKED_THROUGH = 40
"""The sessions of the store that were active last: the agent's are among them, or are not told."""


class Cues(msgspec.Struct, frozen=True, kw_only=True):
    """What is known when a run begins; each of it may be missing."""

    message: str | None = None
    """What a person said last."""
    outcome: WantedOutcome | None = None
    open_loop: str | None = None
    """What the last run left to be done, or why this one was queued."""
    blocked_tool: str | None = None
    """The tool that somebody has to confirm or run."""
    grade: Grade | None = None
    evaluation: Evaluation | None = None
    summary: str | None = None
    """What the last run said at its end."""


class RecentSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was active lately."""

    session_id: str
    title: str | None = None
    summary: str | None = None
    next_step: Step


class RecalledSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that may help."""

    name: str
    description: str
    score: int
    next_step: Step


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; sessions only where nothing else was."""

    query: str = ""
    candidates: tuple[Candidate, ...] = ()
    plan: tuple[PlannedStep, ...] = ()
    skills: tuple[RecalledSkill, ...] = ()
    sessions: tuple[RecentSession, ...] = ()


def recall_query(cues: Cues) -> str:
    """The question of automatic recall: up to six parts, the most telling first."""
    outcome, grade, evaluation = cues.outcome, cues.grade, cues.evaluation
    wanted = None
    if outcome is not None:
        wanted = " ".join((outcome.title, *outcome.success_criteria))
    parts = (
        cues.message,
        wanted,
        cues.open_loop,
        cues.blocked_tool,
        None if grade is None else f"{grade.status} {grade.summary}",
        None if evaluation is None else f"{evaluation.status} {evaluation.summary}",
        cues.summary,
    )
    told = [" ".join(part.split())[:LONGEST_PART].rstrip() for part in parts if part]
    return "\n".join(list(filter(None, told))[:MOST_PARTS])


def fitting_skills(query: str, skills: Sequence[Skill]) -> tuple[RecalledSkill, ...]:
    """The skills whose name or description fits, the best first."""
    asked = query_of(query)
    scored = [(score(asked, f"{one.name} {one.description}").points, one) for one in skills]
    fitting = sorted((one for one in scored if one[0]), key=lambda one: (-one[0], one[1].name))
    return tuple(
        RecalledSkill(
            name=one.name,
            description=one.description,
            score=points,
            next_step=Step(
                tool="skills_read",
                args={"name": one.name},
                rationale="Its instructions stand there.",
            ),
        )
        for points, one in fitting[:MOST_SKILLS]
    )


class Recall:
    """Of one session."""

    def __init__(
        self, ground: Ground, finding: Finding, skills: Callable[[], Sequence[Skill]]
    ) -> None:
        """``skills``: those that can be loaded."""
        self._ground = ground
        self._finding = finding
        self._skills = skills

    async def recalled(self, cues: Cues) -> Recalled:
        """What may help a run that begins now. Where nothing can be read, nothing is recalled."""
        query = recall_query(cues)
        try:
            return await self._recalled(query)
        except (ToolError, JournalError):
            return Recalled(query=query)

    async def _recalled(self, query: str) -> Recalled:
        candidates: tuple[Candidate, ...] = ()
        plan: tuple[PlannedStep, ...] = ()
        if query:
            found = await self._finding.everywhere(Wanted(query=query, limit=MOST_CANDIDATES), ())
            candidates, plan = found.hits, found.expansion_plan
        skills = fitting_skills(query, self._skills())
        if candidates or skills:
            return Recalled(query=query, candidates=candidates, plan=plan, skills=skills)
        return Recalled(query=query, sessions=await self._recent())

    async def _recent(self) -> tuple[RecentSession, ...]:
        stores = await self._ground.stores()
        newest = await stores.archive.sessions(SessionQuery(limit=_LOOKED_THROUGH))
        ours = [
            one for one in newest if one.id != self._ground.session_id and self._ground.is_ours(one)
        ]
        return tuple(
            RecentSession(
                session_id=one.id,
                title=self._clean(one.state.title),
                summary=self._clean(one.state.managed.summary if one.state.managed else None),
                next_step=Step(
                    tool="session_get_snapshot",
                    args={"session_id": one.id},
                    rationale="It shows where that session stands.",
                ),
            )
            for one in ours[:MOST_RECENT]
        )

    def _clean(self, text: str | None) -> str | None:
        return None if not text else self._ground.clean(text)
