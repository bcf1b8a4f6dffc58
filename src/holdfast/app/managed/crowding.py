"""How crowded the context of an agent at work is: by the counting of its own loop.

What is done about it is the loop's to know, and the tools' to tell.
"""

from collections.abc import Callable

import msgspec

from holdfast.agent.context.budget import Frame, PromptNames, Room, whole_budget, with_names
from holdfast.agent.context.pressure import pressure_of
from holdfast.agent.conversation import Conversation
from holdfast.agent.place import Equipment
from holdfast.contract.managed.crowding import Crowding


def crowding_of(
    talk: Conversation, equipment: Equipment, names: Callable[[], PromptNames]
) -> Crowding | None:
    """What a request would hold now; None: nothing was told yet."""
    if talk.equipped is None:
        return None
    model = equipment.model
    frame = Frame(talk.frame.prompt) if equipment.tools_off else talk.frame
    room = Room(window=model.window, max_output=model.max_output_tokens)
    whole = whole_budget(frame, room, talk.tokens, len(talk.entries))
    budget = with_names(whole, names())
    return Crowding(budget=msgspec.to_builtins(budget), pressure=pressure_of(budget))
