"""A step: a call that can be made as it stands, and why it leads on. Every hint ends in one."""

import msgspec

from holdfast.contract.json_value import JsonObject


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What to call next."""

    tool: str
    args: JsonObject = {}
    rationale: str
