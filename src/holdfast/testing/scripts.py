"""A model that plays turns which you wrote, and the turns: an agent without any provider."""

from holdfast.agent.models.scripted import ScriptedCall, ScriptedModel, ScriptedTrouble, Turn

__all__ = ["ScriptedCall", "ScriptedModel", "ScriptedTrouble", "Turn"]
