"""How many of the coercion conformance cases each library handles as the case demands.

A case is a schema, the arguments a model sent, and what must come of them: the arguments the tool
has to see, or a refusal. Whatever a library raises counts as a refusal, also where it cannot work
with the schema at all.

    python bench/malformed.py      prints JSON
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from handlers import fastmcp_tool, holdfast_preflight, jsonschema_check, pydantic_lax

CASES = Path(__file__).parent.parent / "tests/conformance/cases/coercion.jsonl"

Group = Literal["valid", "repairable", "hopeless"]
Handle = Callable[[dict, dict], dict | None]
"""Schema and arguments in; the arguments the tool would see, or None for a refusal."""

LIBRARIES: dict[str, Handle] = {
    "holdfast": holdfast_preflight.handle,
    "pydantic, lax mode": pydantic_lax.handle,
    "jsonschema": jsonschema_check.handle,
    "FastMCP": fastmcp_tool.handle,
}


@dataclass(frozen=True)
class Case:
    name: str
    schema: dict
    sent: dict
    wanted: dict | None
    """None: the call has to be refused."""

    @property
    def group(self) -> Group:
        if self.wanted is None:
            return "hopeless"
        return "valid" if same(self.sent, self.wanted) else "repairable"


def main() -> None:
    logging.disable(logging.CRITICAL)
    cases = read_cases()
    counts = {group: sum(case.group == group for case in cases) for group in Group.__args__}
    rows = [{"name": name, **judge(handle, cases)} for name, handle in LIBRARIES.items()]
    print(json.dumps({"counts": counts, "rows": rows}))


def read_cases() -> list[Case]:
    lines = CASES.read_text(encoding="utf-8").splitlines()
    told = [case for case in map(json.loads, lines) if case["op"] == "preflight"]
    return [
        Case(case["id"], case["schema"], case["args"], case["expect"].get("args")) for case in told
    ]


def judge(handle: Handle, cases: list[Case]) -> dict[str, object]:
    right: dict[str, int] = dict.fromkeys(Group.__args__, 0)
    wrong: list[str] = []
    changed = 0
    for case in cases:
        # A copy: no library may be blamed for what another did to the case.
        seen = handle(json.loads(json.dumps(case.schema)), json.loads(json.dumps(case.sent)))
        if same(seen, case.wanted):
            right[case.group] += 1
        else:
            wrong.append(case.name)
            changed += seen is not None
    return {**right, "ran_wrong": changed, "wrong": wrong}


def same(left: object, right: object) -> bool:
    """Equal as JSON: numbers by value, booleans apart from numbers."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


if __name__ == "__main__":
    main()
