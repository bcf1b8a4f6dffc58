"""What stands beside the type in `Annotated`: bounds, lengths, patterns, descriptions.

The objects are known by their attributes alone, so that msgspec's `Meta`, the annotated-types
family and pydantic's `Field` are read alike and none of the last two is imported.
"""

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import cast

from holdfast.contract.json_value import JsonObject, plain
from holdfast.sources.shapes import Facts

_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}


def facts_of(metadata: Iterable[object]) -> Facts:
    """Read it all; what comes later wins. ValueError for a bound JSON Schema cannot express."""
    collected = _Collected()
    for remark in metadata:
        collected.add(remark)
    return Facts(
        bounds=collected.bounds,
        min_length=collected.lengths.get("min_length"),
        max_length=collected.lengths.get("max_length"),
        pattern=collected.texts.get("pattern"),
        description=collected.texts.get("description"),
        extra=collected.extra,
        aware=collected.aware,
    )


class _Collected:
    def __init__(self) -> None:
        self.bounds: dict[str, int | float] = {}
        self.lengths: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.extra: JsonObject = {}
        self.aware: bool | None = None

    def add(self, remark: object) -> None:
        if isinstance(remark, str):
            self.texts["description"] = " ".join(remark.split())
        elif not isinstance(remark, type):
            self._add_bounds(remark)
            self._add_texts(remark)
            self._add_extra(remark)
            nested: object = getattr(remark, "metadata", None)
            if isinstance(nested, (list, tuple)):
                for inner in cast("list[object]", nested):
                    self.add(inner)

    def _add_bounds(self, remark: object) -> None:
        for attribute, keyword in _BOUNDS.items():
            bound: object = getattr(remark, attribute, None)
            if bound is not None:
                self.bounds[keyword] = _number(attribute, bound)
        for attribute in ("min_length", "max_length"):
            length: object = getattr(remark, attribute, None)
            if isinstance(length, int) and not (attribute == "min_length" and length == 0):
                self.lengths[attribute] = length
        aware: object = getattr(remark, "tz", None)
        if isinstance(aware, bool):
            self.aware = aware

    def _add_texts(self, remark: object) -> None:
        pattern: object = getattr(remark, "pattern", None)
        if isinstance(pattern, re.Pattern):
            pattern = cast("re.Pattern[str]", pattern).pattern
        if isinstance(pattern, str):
            self.texts["pattern"] = pattern
        for attribute in ("documentation", "description"):
            text: object = getattr(remark, attribute, None)
            if isinstance(text, str):
                self.texts["description"] = " ".join(text.split())

    def _add_extra(self, remark: object) -> None:
        examples: object = getattr(remark, "examples", None)
        if isinstance(examples, (list, tuple)):
            self.extra["examples"] = [plain(example) for example in cast("list[object]", examples)]
        for attribute in ("extra_json_schema", "json_schema_extra"):
            extra: object = getattr(remark, attribute, None)
            if isinstance(extra, Mapping):
                entries = cast("Mapping[str, object]", extra).items()
                self.extra.update((key, plain(value)) for key, value in entries if key != "title")


def _number(attribute: str, bound: object) -> int | float:
    if isinstance(bound, Decimal):
        bound = float(bound)
    if isinstance(bound, (int, float)) and not isinstance(bound, bool) and math.isfinite(bound):
        return bound
    raise ValueError(f"the bound {attribute}={bound!r} is not a number; check it in the body")
