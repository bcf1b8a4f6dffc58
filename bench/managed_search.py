"""How long an agent waits for `retrieval_search` and its sisters, over all it ever did.

Ten thousand sessions of one agent with a million events, all in its store; the tool is called as a
model calls it, through everything a call goes through. Queries of several kinds take turns.

    python bench/managed_search.py [--quick] [--store FOLDER]      prints JSON

With a folder the store is kept there, and used again the next time.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract.events import UserMessage
from holdfast.contract.journal import Journal
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from managed_corpus import AGENT, EVENTS_EACH, Corpus

SESSIONS, QUICK_SESSIONS = 10_000, 200
ROUNDS, QUICK_ROUNDS = 20, 3
APPENDED = 50
"""Events that are new before a question."""


class Spent(NamedTuple):
    """Milliseconds by the clock, and of the processor: others on the machine add to the first."""

    waited: float
    worked: float


def main() -> None:
    quick = "--quick" in sys.argv
    sessions = QUICK_SESSIONS if quick else SESSIONS
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        place = Path(sys.argv[sys.argv.index("--store") + 1] if "--store" in sys.argv else folder)
        print(json.dumps(asyncio.run(measured(place, sessions, rounds))))


async def measured(place: Path, sessions: int, rounds: int) -> dict[str, object]:
    """Milliseconds of each kind of question, and what it took to build the store."""
    surroundings = Surroundings(data_home=place / "data", state_home=place / "state")
    built = await _built(surroundings, sessions)
    workspace = place / "workspace"
    workspace.mkdir(exist_ok=True)
    agent = Agent(id=AGENT, description="Codes.", instructions="Code.")
    async with Holdfast(
        profile="managed",
        workspace=workspace,
        settings=Settings(),
        surroundings=surroundings,
        agent=agent,
        model=ScriptedModel([]),
    ) as hf:
        assert hf.parts.log is not None
        journal = await hf.parts.log.journal()
        rows = await _asked(hf, journal, rounds)
    size = sum(one.stat().st_size for one in (place / "data").glob("holdfast.db*"))
    return {
        "load": os.getloadavg()[0],
        "sessions": sessions,
        "events": sessions * EVENTS_EACH,
        "megabytes": round(size / 1e6),
        **built,
        "rounds": rounds,
        "rows": rows,
    }


async def _built(surroundings: Surroundings, sessions: int) -> dict[str, object]:
    """The store, filled unless it was before."""
    clock = SystemClock()
    ids = TimeIds(clock)
    store = open_store(Settings(), surroundings, clock, ids)
    told: dict[str, object] = {}
    if await store.journal.next_due() is None:
        corpus, began = Corpus(), time.perf_counter()
        for number in range(sessions):
            name = ids.new("ses")
            for wake_id, said in corpus.session(number):
                if wake_id is None:
                    await store.journal.create(name, said)
                else:
                    await store.journal.append(name, said, wake_id=wake_id)
            if number % 1000 == 999:
                print(f"managed_search: {number + 1} of {sessions} sessions", file=sys.stderr)
        told["journal_seconds"] = round(time.perf_counter() - began, 1)
    began = time.perf_counter()
    await store.archive.search("everything")
    told["index_seconds"] = round(time.perf_counter() - began, 1)
    await store.journal.close()
    return told


def _questions(corpus: Corpus) -> dict[str, tuple[str, Mapping[str, object]]]:
    """By name: the tool, and what it is asked."""
    words = corpus.words
    rare, some, common = words[30_000], words[2_000], words[20]
    long = " ".join(words[at] for at in range(5, 30_000, 250))[:1400]
    return {
        "rare word": ("retrieval_search", {"query": rare}),
        "word of some events": ("retrieval_search", {"query": some}),
        "word of a tenth of all": ("retrieval_search", {"query": common}),
        "three words": ("retrieval_search", {"query": f"{common} {some} {rare}"}),
        "six common words": ("retrieval_search", {"query": " ".join(words[10:16])}),
        "path": ("retrieval_search", {"query": f"src/{words[3]}/{words[50]}.py"}),
        "words of nobody": ("retrieval_search", {"query": "zzyzx qwxyz"}),
        "120 words, as recall asks": ("retrieval_search", {"query": long}),
        "lineage without sessions": (
            "retrieval_search",
            {"query": f"{common} {some}", "lineage": "children"},
        ),
        "memory_search": ("memory_search", {"query": f"{common} {some}"}),
        "session_search_context": ("session_search_context", {"query": f"{common} {some}"}),
        "session_search_traces": ("session_search_traces", {"query": f"{common} {some}"}),
    }


async def _asked(hf: Holdfast, journal: Journal, rounds: int) -> list[dict[str, object]]:
    corpus = Corpus()
    questions = _questions(corpus)
    samples: dict[str, list[Spent]] = {}
    found: dict[str, int] = {}
    for number in range(rounds + 1):
        for name, (tool, arguments) in questions.items():
            spent, found[name] = await _answered(hf, tool, arguments)
            if number:  # the first round warms up
                samples.setdefault(name, []).append(spent)
        said = [UserMessage(message=corpus.text(8, 40)) for _ in range(APPENDED)]
        await journal.append(hf.session_id, said)
        name = f"three words, {APPENDED} events new"
        spent, found[name] = await _answered(hf, *questions["three words"])
        if number:
            samples.setdefault(name, []).append(spent)
    return [
        {
            "question": name,
            "hits": found[name],
            "median_ms": round(statistics.median(one.waited for one in spent), 1),
            "max_ms": round(max(one.waited for one in spent), 1),
            "median_cpu_ms": round(statistics.median(one.worked for one in spent), 1),
        }
        for name, spent in samples.items()
    ]


async def _answered(hf: Holdfast, tool: str, arguments: Mapping[str, object]) -> tuple[Spent, int]:
    began, before = time.perf_counter(), time.process_time()
    envelope = await hf.settle(tool, dict(arguments))
    spent = Spent((time.perf_counter() - began) * 1000, (time.process_time() - before) * 1000)
    assert envelope.failure is None, envelope.failure
    return spent, json.loads(envelope.result_json)["count"]


if __name__ == "__main__":
    main()
