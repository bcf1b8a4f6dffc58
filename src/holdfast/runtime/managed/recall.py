"""What a run may want to remember when it begins: looked for without being asked.

What is asked is made elsewhere, of what is known of the moment; how it is told to the model is not
known here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.contract.archive import SessionQuery
from holdfast.contract.errors import ToolError
from holdfast.contract.journal import JournalError
from holdfast.contract.managed.recalling import (
    MOST_CANDIDATES,
    MOST_SESSIONS,
    MOST_SKILLS,
    Recalled,
    Reminder,
)
from holdfast.contract.managed.retrieval import Candidate, Wanted
from holdfast.contract.skills import Skill
from holdfast.contract.steps import Step
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.retrieval.finding import Finding
from holdfast.runtime.managed.text_score import query_of, score

_LOOKED_THROUGH = 40
"""The sessions of the store that were active last: the agent's are among them, or are not told."""
_LONGEST_TITLE = 80


def fitting_skills(query: str, skills: Sequence[Skill]) -> tuple[Reminder, ...]:
    """The skills whose name or description fits, the best first."""
    asked = query_of(query)
    scored = [(score(asked, f"{one.name} {one.description}").points, one) for one in skills]
    fitting = sorted((one for one in scored if one[0]), key=lambda one: (-one[0], one[1].name))
    return tuple(
        Reminder(
            title=one.name,
            source="skill",
            score=points,
            step=Step(
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

    async def recalled(self, query: tuple[str, ...], /) -> Recalled:
        """What may help a run that begins now. Where nothing can be read, nothing is recalled."""
        try:
            return await self._recalled("\n".join(query))
        except (ToolError, JournalError):
            return Recalled()

    async def _recalled(self, query: str) -> Recalled:
        candidates: tuple[Reminder, ...] = ()
        plan: tuple[Step, ...] = ()
        if query:
            found = await self._finding.everywhere(Wanted(query=query, limit=MOST_CANDIDATES), ())
            candidates = tuple(_reminders(found.hits))
            plan = tuple(
                Step(tool=one.tool, args=one.args, rationale=one.rationale)
                for one in found.expansion_plan
            )
        skills = fitting_skills(query, self._skills())
        if candidates or skills:
            return Recalled(candidates=candidates, plan=plan, skills=skills)
        return Recalled(sessions=await self._recent())

    async def _recent(self) -> tuple[Reminder, ...]:
        stores = await self._ground.stores()
        newest = await stores.archive.sessions(SessionQuery(limit=_LOOKED_THROUGH))
        ours = [
            one for one in newest if one.id != self._ground.session_id and self._ground.is_ours(one)
        ]
        return tuple(
            Reminder(
                title=self._ground.clean(one.state.title or one.id)[:_LONGEST_TITLE],
                source="session",
                step=Step(
                    tool="session_get_snapshot",
                    args={"session_id": one.id},
                    rationale="It shows where that session stands.",
                ),
            )
            for one in ours[:MOST_SESSIONS]
        )


def _reminders(found: Iterable[Candidate]) -> Iterator[Reminder]:
    for one in found:
        if one.expansion is not None:
            yield Reminder(
                title=one.title[:_LONGEST_TITLE],
                source=one.source,
                score=one.score,
                confidence=one.confidence,
                step=one.expansion,
            )
