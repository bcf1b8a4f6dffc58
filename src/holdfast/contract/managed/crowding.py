"""How crowded a session's context is, as tools and notes tell it. Values only."""

from typing import Literal

import msgspec

from holdfast.contract.json_value import JsonObject

PressureLevel = Literal["low", "moderate", "high"]


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """How crowded it is, why, and which tools look for what is not in it."""

    level: PressureLevel
    reasons: tuple[str, ...] = ()
    recommended_tools: tuple[str, ...] = ()


class Crowding(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the context a model is given of what."""

    budget: JsonObject
    pressure: Pressure | None = None
