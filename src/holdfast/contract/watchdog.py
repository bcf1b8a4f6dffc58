"""The watchdog: hooks that see every call before it runs. They can refuse or ask, never permit."""

from collections.abc import Awaitable
from typing import Protocol, cast

import msgspec

from holdfast.contract.agents import AgentManifest
from holdfast.contract.call import Prepared
from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.contract.rules import Action, Use


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook is shown."""

    prepared: Prepared
    manifest: AgentManifest
    """What the agent declares about itself, compiled."""
    uses: tuple[Use, ...]

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.prepared.tool.name

    @property
    def arguments(self) -> JsonObject:
        """The arguments after repair and check: a copy, whoever looks cannot change the call."""
        arguments = self.prepared.arguments
        if self.prepared.checked is None:
            return arguments
        return cast("JsonObject", decode_json(encode_json(arguments)))

    @property
    def session_id(self) -> str:
        """The session the call belongs to."""
        return self.prepared.call.session_id


class Opinion(msgspec.Struct, frozen=True):
    """What a hook thinks of a call. `allow` means no more than: nothing against it."""

    verdict: Action = "allow"
    reason: str = ""


NOTHING_AGAINST_IT = Opinion()


class Hook(Protocol):
    """Looks at a call before it runs. Raising counts as a refusal."""

    def __call__(self, inspection: Inspection, /) -> Opinion | Awaitable[Opinion]:
        """Give an opinion."""
        ...
