"""Whatever the document of the HTTP API allows, and more, is asked of a server: seeded, bounded."""

import time
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, cast

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode

# Its types are open, and its checks are found by their names.
schemathesis: Any = import_module("schemathesis")
_CHECKS: Any = import_module("schemathesis.specs.openapi.checks")
CHECKS = [
    import_module("schemathesis.checks").not_a_server_error,
    _CHECKS.status_code_conformance,
    _CHECKS.content_type_conformance,
    _CHECKS.response_schema_conformance,
]
STREAMS = "text/event-stream"
_KNOWN = 0.5
"""How often names in a path are those of something that is there."""
_SETTINGS = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class Fuzzed(msgspec.Struct):
    """What is asked, and what came of it."""

    address: str
    token: str
    names: Mapping[str, Sequence[str]]
    """What there is of each name in a path, a query or a body."""
    until: float
    asked: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """How often each operation was asked."""
    wrong: list[str] = msgspec.field(default_factory=list[str])
    """What was wrong with answers."""


def fuzz(document: Mapping[str, Any], target: Fuzzed, examples: int) -> None:
    """Ask for everything but streams, which have no end; what takes things away comes last."""
    schema = schemathesis.openapi.from_dict(dict(document))
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]
    for operation in sorted(operations, key=lambda one: one.method == "delete"):
        told = operation.definition.raw
        if STREAMS in told["responses"].get("200", {}).get("content", {}):
            continue
        name = str(told["operationId"])
        target.asked[name] = 0
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            with suppress(Unsatisfiable):  # nothing can be wrong with what takes nothing
                _fuzz(operation.as_strategy(generation_mode=mode), target, name, examples)


def _fuzz(cases: Any, target: Fuzzed, name: str, examples: int) -> None:
    @seed(1)
    @settings(_SETTINGS, max_examples=examples)
    @given(cases, strategies.randoms(use_true_random=False))
    def ask(case: Any, dice: Any) -> None:
        if time.monotonic() > target.until:
            return
        for part in (case.path_parameters, case.query, case.body):
            _name_known(part, target.names, dice)
        target.asked[name] += 1
        headers = {"authorization": f"Bearer {target.token}"}
        answer = case.call(base_url=target.address, headers=headers, timeout=10)
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as group:
            said = [f"{one.title}: {one.message}" for one in group.exceptions]
            sent = f"{case.method} {answer.request.url} {answer.request.body!r}"
            told = f"{answer.status_code} {answer.text[:300]}"
            target.wrong.append(f"{sent[:500]} -> {told} {said}")

    ask()


def _name_known(part: Any, names: Mapping[str, Sequence[str]], dice: Any) -> None:
    """Name something that is there, often: what is not there is refused before anything else."""
    if not isinstance(part, MutableMapping):
        return  # a body that is none, as it was made wrong
    found = cast("MutableMapping[str, object]", part)
    for one in list(found):
        if names.get(one) and dice.random() < _KNOWN:
            found[one] = dice.choice(names[one])
