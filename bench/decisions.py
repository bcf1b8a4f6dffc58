"""What one policy decision costs: a call without targets, one with a path, one with a command.

Each is judged by the whole judge of an opened Holdfast: capabilities, rules, the hooks that ship,
and a permit at the end. Texts are never seen twice, so nothing is answered from a cache.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.call import Permit, Prepared, ToolCall
from holdfast.contract.rules import Rule

CALLS_IN_A_BATCH = 40
"""Shorter than a time slice, so that some batches run undisturbed even on a busy machine."""
RULES = (
    ("run", "git *", "allow"),
    ("run", "ls *", "allow"),
    ("run", "npm run *", "allow"),
    ("run", "git push *", "ask"),
    ("run", "rm *", "deny"),
    ("fs.read", "src/**", "allow"),
    ("fs.write", "**", "ask"),
    ("net.fetch", "*.example.com", "allow"),
)


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(requires={"fs": {"read": ["**"]}}, uses={"path": "fs.read"})
def look(path: str) -> str:
    """Look at a file."""
    return path


@tool(requires={"net": {"hosts": ["*.example.com"]}}, uses={"url": "net.fetch"})
def get(url: str) -> str:
    """Get a page."""
    return url


@tool(requires={"shell": [{"cmd": "*"}]}, uses={"command": "shell.run"})
def run(command: str) -> str:
    """Run a command."""
    return command


def main() -> None:
    batches = 100 if "--quick" in sys.argv else 600
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), batches)
    told = {"load": os.getloadavg()[0], "batches": batches, "calls": CALLS_IN_A_BATCH}
    print(json.dumps({"rows": rows, "rules": len(RULES), **told}))


def measured(workspace: Path, batches: int) -> list[dict[str, object]]:
    """Microseconds of each kind of decision."""
    (workspace / "src" / "deep").mkdir(parents=True)
    for number in range(CALLS_IN_A_BATCH):
        (workspace / "src" / "deep" / f"file{number}.py").touch()
    holdfast = Holdfast(
        tools=[add, look, get, run],
        workspace=workspace,
        settings=Settings(),
        surroundings=Surroundings(data_home=workspace / "data"),
        rules=[
            Rule(permission=one, pattern=two, action=action, scope="project", source="bench")
            for one, two, action in RULES
        ],
    )
    kinds: dict[str, tuple[str, Callable[[int], dict[str, object]]]] = {
        "no path, host or command": ("add", lambda n: {"a": n, "b": 1}),
        "a path": ("look", lambda n: {"path": f"src/deep/file{n % CALLS_IN_A_BATCH}.py"}),
        "a host": ("get", lambda n: {"url": f"https://api{n}.example.com/v1?n={n}"}),
        "a one-line command": ("run", lambda n: {"command": f"git log --oneline -n {n} src"}),
        "two commands and a pipe": ("run", lambda n: {"command": f"git diff HEAD~{n} | ls -l {n}"}),
    }
    return [
        {"decision": kind, **_timed(holdfast, name, arguments, batches)}
        for kind, (name, arguments) in kinds.items()
    ]


def _timed(
    holdfast: Holdfast, name: str, arguments: Callable[[int], dict[str, object]], batches: int
) -> dict[str, float]:
    judge, plan = holdfast._judge, holdfast._catalog.plan(name)
    assert plan is not None
    samples: list[float] = []
    for batch in range(batches):
        prepared = [
            plan.prepare(_call(name, arguments(batch * CALLS_IN_A_BATCH + number)))
            for number in range(CALLS_IN_A_BATCH)
        ]
        samples.append(_batch(judge, prepared))
    return {"min": min(samples), "median": statistics.median(samples)}


def _batch(judge: Callable[[Prepared], object], prepared: list) -> float:
    started = time.perf_counter_ns()
    verdicts = [judge(one) for one in prepared]
    took = (time.perf_counter_ns() - started) / len(prepared) / 1000
    if not all(isinstance(verdict, Permit) for verdict in verdicts):
        sys.exit(f"not permitted: {verdicts[0]}")
    return took


def _call(name: str, arguments: dict[str, object]) -> ToolCall:
    text = json.dumps(arguments)
    return ToolCall(id="cal_bench", tool=name, arguments=text, session_id="ses_bench")


if __name__ == "__main__":
    main()
