"""A scenario as it is compared: what the model was told, and what the journal says, in order.

Time stands still, so it says nothing. Ids are named by the order in which they turn up, and the
fingerprint of a request stands for what is shown anyway; nothing else is changed.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from agents_at_work import Desk

from holdfast.contract.events import Event, ModelRequested
from holdfast.contract.model import ModelRequest
from holdfast.contract.wake_events import AgentEquipped

GOLDEN = Path(__file__).parent / "golden"
_PREFIXES = ("ses_", "evt_", "cal_", "msg_", "wak_", "apr_")
_LONG = 20
"""An id is longer than any word that begins like one."""
_SHOWN = 3_000
"""Of a longer text the beginning and the length are enough."""


class Names:
    """Names for ids, in the order in which they are met."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._counted: dict[str, int] = {}

    def named(self, value: Any) -> Any:
        """The same value with names in place of ids."""
        if isinstance(value, dict):
            return {key: self.named(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType] - JSON
        if isinstance(value, (list, tuple)):
            return [self.named(one) for one in value]  # pyright: ignore[reportUnknownVariableType] - JSON
        if isinstance(value, str):
            return self._text(value if len(value) < _SHOWN else f"{value[:40]}… {len(value)}")
        return value

    def _text(self, text: str) -> str:
        if text.startswith(_PREFIXES) and len(text) > _LONG and text.replace("_", "").isalnum():
            self._meet(text)
        for known, name in self._known.items():
            text = text.replace(known, name)
        return text

    def _meet(self, found: str) -> None:
        if found not in self._known:
            prefix = found[:4]
            self._counted[prefix] = self._counted.get(prefix, 0) + 1
            self._known[found] = f"{prefix}{self._counted[prefix]}"


def told_event(event: Event) -> list[Any]:
    payload = event.payload
    said: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(payload))
    said.pop("type")
    if isinstance(payload, ModelRequested):
        said.pop("request_hash")
    if isinstance(payload, AgentEquipped):
        said["tools"] = [one.name for one in payload.tools]
    return [event.type, event.id, said]


def told_request(request: ModelRequest) -> dict[str, Any]:
    rows = [msgspec.to_builtins(row) for row in request.rows]
    return {"rows": rows, "notices": list(request.notices), "tools": len(request.tools)}


async def check_scenario(name: str, desk: Desk, *more: Iterable[Event]) -> None:
    """Compare with the file of this name; UPDATE_SCENARIOS=1 writes it."""
    names = Names()
    events = [told_event(one) for one in await desk.events()]
    others = [[told_event(one) for one in some] for some in more]
    requests = [told_request(one) for one in desk.model.requests]
    told = names.named({"events": events, "others": others, "requests": requests})
    file = GOLDEN / f"{name}.json"
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SCENARIOS"):
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")
