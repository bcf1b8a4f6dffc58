"""What goes along with the next step of a run, and what need not be run again.

It only advises, and gives an answer again where nothing can have changed. Nothing of it is kept.
"""

from holdfast.agent.context.budget import Frame, Room, whole_budget
from holdfast.agent.context.pressure import (
    DESCRIBES,
    is_roomy,
    pressure_note,
    pressure_words,
)
from holdfast.agent.notices import StepFacts, step_notices
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.replies import TurnCall
from holdfast.agent.roles import CHANGES_NOTHING, Role, role_of
from holdfast.agent.spending import Spending
from holdfast.agent.task_state import TaskState
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import UserMessage
from holdfast.contract.wake_events import AgentEquipped


class Guide:
    """The guide of one run."""

    def __init__(self, place: Workplace, equipment: Equipment) -> None:
        self._place = place
        self._talk = place.talk
        self._guides = equipment.guidance
        self._tools_off = equipment.tools_off
        model = equipment.model
        self._room = Room(window=model.window, max_output=model.max_output_tokens)
        self._equipped: AgentEquipped | None = None
        self._roles: dict[str, Role] = {}
        self._state: TaskState[Envelope] = TaskState(
            self._roles, witness=place.witness, nudging=equipment.guidance
        )
        self._words: set[str] = set()
        """What people said that is known already."""
        self._todos = place.todos()
        self._steps_since_todos = 0
        self._changing = False
        """A call of this step may be changing what was read before."""

    def held(self, call: TurnCall) -> Envelope | None:
        """The answer that the same call had before, where it still holds."""
        if not self._guides or self._changing:
            return None
        self._look_at_outfit()
        self._role(call.name)
        return self._state.held(call.name, call.arguments)

    def begins(self, call: TurnCall) -> None:
        """Until its answer is told, nothing is answered by what was known before a change."""
        self._changing = self._changing or self._role(call.name) not in CHANGES_NOTHING

    def record(self, call: TurnCall, envelope: Envelope) -> None:
        """The model is told this answer."""
        self._state.record(call.name, call.arguments, envelope)

    def notices(self, spent: Spending) -> tuple[str, ...]:
        """Advice for the step that begins."""
        self._changing = False
        if not self._guides:
            return ()
        self._hear_people()
        todos = self._place.todos()
        self._steps_since_todos = 0 if todos != self._todos else self._steps_since_todos + 1
        self._todos = todos
        return step_notices(
            StepFacts(
                steps_left=spent.rounds_left,
                nudge=self._state.notice() if spent.rounds else None,
                open_todos=sum(one.status != "completed" for one in todos),
                steps_since_todos=self._steps_since_todos,
                pressure=self._pressure(),
            )
        )

    def _hear_people(self) -> None:
        """Who speaks within a run may have changed anything: what was held is held no more."""
        pending = self._talk.pending.items()
        words = {name for name, said in pending if isinstance(said, UserMessage)}
        if not words <= self._words:
            self._words |= words
            self._state.begin_message()

    def _pressure(self) -> str | None:
        """How full the context is; everything counts that is sent."""
        talk, frame = self._talk, self._talk.frame
        if is_roomy(self._room.limit - frame.tokens - talk.tokens):
            return None
        frame = Frame(frame.prompt) if self._tools_off else frame
        budget = whole_budget(frame, self._room, talk.tokens, len(talk.entries))
        led = pressure_note(budget) if self._place.tool(DESCRIBES) is not None else None
        return led or pressure_words(budget)

    def _look_at_outfit(self) -> None:
        """Know what is offered, where that has changed."""
        equipped = self._talk.equipped
        if equipped is None or equipped is self._equipped:
            return
        self._equipped = equipped
        for tool in () if self._tools_off else equipped.tools:
            self._roles.pop(tool.name, None)
            self._role(tool.name)

    def _role(self, name: str) -> Role:
        if name not in self._roles and (tool := self._place.tool(name)) is not None:
            self._roles[name] = role_of(tool)
        return self._roles.get(name, "unknown")
