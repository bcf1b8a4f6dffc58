"""What an agent learned: each thing once, and those that are told to all its sessions.

How it is captured is the loop's to know; here it is read from what the journal says.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from holdfast.contract.archive import Learned
from holdfast.contract.managed.memory import Learning, LearningList
from holdfast.contract.wake_events import LearningCaptured
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.memory_refusals import told_by_stores

MOST_PROMOTED = 200
"""Of MEMORY.md: what was learned before stands in the journal alone."""


class LearnedBook:
    """What the agent of one session learned, in all its sessions."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def newest(self, limit: int, /) -> LearningList:
        """The newest first, each once."""
        found = tuple(islice(reversed(await self.all()), limit))
        return LearningList(agent_id=self._ground.agent_id, count=len(found), learnings=found)

    async def all(self) -> tuple[Learning, ...]:
        """Each once, the oldest first."""
        ground = self._ground
        agents = [ground.agent_id, *([None] if ground.agent_id == ground.usual_agent else [])]
        with told_by_stores():
            stores = await ground.stores()
            return once(await stores.archive.learned(agents))


def once(found: Iterable[Learned]) -> tuple[Learning, ...]:
    """Each where it was captured first; it is promoted if it was to be any time."""
    kept: dict[str, Learning] = {}
    for one in found:
        key = _key(one.said)
        before = kept.setdefault(key, _learning(one))
        if one.said.promote_to_memory and not before.promote_to_memory:
            kept[key] = replace(before, promote_to_memory=True)
    return tuple(kept.values())


def promoted_text(learnings: Sequence[Learning]) -> str:
    """What MEMORY.md says of them, a line each, the newest last; empty where there is none."""
    promoted = [one for one in learnings if one.promote_to_memory]
    if not promoted:
        return ""
    earlier = len(promoted) - MOST_PROMOTED
    lines = [f"- {one.kind}: {_line(one.title)}: {_line(one.detail)}" for one in promoted]
    more = [f"- {earlier} earlier ones: see learning_list."] if earlier > 0 else []
    return "\n".join(("## Promoted learnings", "", *more, *lines[-MOST_PROMOTED:]))


def _key(said: LearningCaptured) -> str:
    if said.dedupe_key is not None:
        return said.dedupe_key
    return f"{said.learning_kind}::{said.title}::{said.detail}".lower()


def _line(text: str) -> str:
    """What others said cannot begin a line of its own."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _learning(one: Learned) -> Learning:
    said = one.said
    return Learning(
        learning_id=one.event_id,
        kind=said.learning_kind,
        title=said.title,
        detail=said.detail,
        promote_to_memory=said.promote_to_memory,
        dedupe_key=said.dedupe_key,
        session_id=one.session_id,
        wake_id=one.wake_id,
        created_at=one.at.isoformat(),
    )
