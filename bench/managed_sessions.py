"""What it costs to list an agent's sessions in a store of many: each as a model would ask for it.

The store is made by the journal's own code: all sessions are of one agent, half of them children of
the one that asks, which is the worst there is. What is measured is a whole call, from its arguments
to its answer, written down as every call is.

    python bench/managed_sessions.py [--quick]      prints JSON
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Raw

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    EventsProcessed,
    OutcomeDefined,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanStarted,
    StatusChanged,
    StatusIdle,
    WantedOutcome,
)
from holdfast.contract.journal import Journal
from holdfast.contract.managed_events import OutcomeEvaluated, SetupDescribed
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, outcome_fingerprint

SESSIONS, QUICK_SESSIONS = 10_000, 1000
EVENTS = 100
"""Of each session."""
ROUNDS, QUICK_ROUNDS = 31, 7
AT_ONCE = 16
AGENT = Agent(id="looker", description="Looks.")
OUTCOMES = tuple(
    WantedOutcome(title=f"Piece {number}", success_criteria=("It is done.",)) for number in range(9)
)
TRENDS = ("first_iteration", "improving", "stable", "regressing")
ANSWER = Raw(b'{"metadata":{"duration_ms":1},"ok":true,"result":{"text":"found"},"tool":"look"}')
ASKED = {
    "session_list": {},
    "session_list of those that get on": {"outcome_trend": "improving", "status": "idle"},
    "session_list of kin": {"lineage": "related"},
    "session_list of fifty": {"limit": 50},
    "session_list_children": {},
    "session_get_snapshot": {},
}


def main() -> None:
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(measured(Path(folder), quick=quick))
    print(json.dumps({"load": os.getloadavg()[0], **told}))


async def measured(folder: Path, *, quick: bool) -> dict[str, object]:
    """Milliseconds of each call."""
    count = QUICK_SESSIONS if quick else SESSIONS
    (folder / "work").mkdir()
    home = Surroundings(data_home=folder / "data", state_home=folder / "state")
    async with Holdfast(
        profile="managed",
        workspace=folder / "work",
        settings=Settings(),
        surroundings=home,
        agent=AGENT,
        model=ScriptedModel([]),
    ) as hf:
        log = hf.parts.log
        assert log is not None
        began = time.perf_counter()
        await filled(await log.journal(), hf.session_id, count)
        made = time.perf_counter() - began
        rows = [await taken(hf, name, QUICK_ROUNDS if quick else ROUNDS) for name in ASKED]
    return {"sessions": count, "events": count * EVENTS, "made_seconds": round(made), "rows": rows}


async def taken(hf: Holdfast, name: str, rounds: int) -> dict[str, object]:
    """How long one of the calls takes."""
    samples: list[float] = []
    used: list[float] = []
    for _ in range(rounds):
        began, spent = time.perf_counter(), time.process_time()
        envelope = await hf.settle(name.partition(" ")[0], ASKED[name])
        samples.append((time.perf_counter() - began) * 1000)
        used.append((time.process_time() - spent) * 1000)
        assert envelope.failure is None, envelope.failure
    return {
        "call": name,
        "median_ms": round(statistics.median(samples), 2),
        "max_ms": round(max(samples), 2),
        "median_cpu_ms": round(statistics.median(used), 2),
        "bytes": len(envelope.result_json),
    }


async def filled(journal: Journal, parent: str, count: int) -> None:
    """So many sessions, a few at once."""
    numbers = iter(range(count))

    async def some() -> None:
        for number in numbers:
            above = parent if number % 2 else None
            await journal.create(f"ses_{number:08}", list(payloads(number, above)))

    await asyncio.gather(*[some() for _ in range(AT_ONCE)])


def payloads(number: int, parent: str | None) -> Iterator[Payload]:
    """What happened in one session: it was asked, ran and came to rest."""
    outcome = OUTCOMES[number % len(OUTCOMES)]
    name = f"wak_{number:08}"
    metadata = {} if parent is None else {"delegated": True}
    yield SessionCreated(agent_id=AGENT.id, parent_id=parent, metadata=metadata)
    yield OutcomeDefined(outcome=outcome)
    yield SetupDescribed(
        fingerprint=f"{number % 3:064}",
        resource_contract_fingerprint="0" * 64,
        environment_fingerprint="0" * 64,
        setup={},
    )
    yield StatusChanged(from_status="rescheduling", to_status="running", reason="a wake")
    yield SpanStarted(span_id=name, span_kind="wake", name="session_run")
    for at in range((EVENTS - 8) // 3):
        call = f"cal_{number:08}{at:04}"
        yield CallAsked(call_id=call, tool="look", arguments='{"path":"src"}')
        yield CallIntended(call_id=call, tool="look", arguments_hash="0" * 64, grounds="it reads")
        yield CallSettled(call_id=call, tool="look", envelope=ANSWER)
    yield EventsProcessed(event_ids=())
    yield StatusIdle(reason="idle", summary="Looked.")
    yield SpanCompleted(
        span_id=name, span_kind="wake", name="session_run", summary="Looked.", result="success"
    )
    found = Evaluation(
        status="pass" if number % 5 else "not_ready",
        confidence="medium",
        summary="As far as can be seen.",
        promotion_ready=bool(number % 5),
        trend=TRENDS[number % len(TRENDS)],
    )
    yield OutcomeEvaluated(
        record=EvaluationRecord(
            evaluated_at="2026-01-01T00:00:00+00:00",
            wake_id=name,
            iteration=0,
            outcome_title=outcome.title,
            outcome_fingerprint=outcome_fingerprint(outcome),
            grade_status="done_candidate",
            evaluation=found,
        )
    )


if __name__ == "__main__":
    main()
