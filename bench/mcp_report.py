"""What was measured of MCP servers and of manifest programs, as tables, and which targets hold."""

from collections.abc import Callable

SERVERS = """## MCP servers

One raw client asks holdfast's server and the official Python SDK's, taking turns; the tool adds two
numbers. holdfast does all it does: preflight, policy, the journal, redaction, the output bound.
*start* is from the start of the process to the answer of a first call. Load average {load:.1f}.
"""

PROGRAMS = """### Programs of a manifest

Milliseconds from a call to its envelope, and for the same program started bare with its input and
output piped.
"""

CALL, START, RATE, PROGRAM = 0.35, 0.25, 5.0, 1.3


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    ours, theirs = "holdfast", "mcp SDK"
    pipe, http, starts = told["pipe"], told["http"], told["starts"]
    rows = [
        _row("call over a pipe, ms", pipe[ours], pipe[theirs]),
        _row("call over HTTP, ms", http[ours], http[theirs]),
        _row("start to first result, ms", starts[ours], starts[theirs]),
        [
            "32 calls in flight, calls/s",
            f"{pipe[ours]['rate']:,.0f}",
            f"{pipe[theirs]['rate']:,.0f}",
            f"{pipe[ours]['rate'] / pipe[theirs]['rate']:.2f}",
        ],
    ]
    spawned = told["programs"]
    return [
        SERVERS.format(load=told["load"]),
        table(["what", "holdfast", "mcp SDK", "ratio"], rows),
        PROGRAMS,
        table(
            ["way", "min ms", "median ms"],
            [[way, f"{one['min']:.2f}", f"{one['median']:.2f}"] for way, one in spawned.items()],
        ),
    ]


def _row(what: str, ours: dict, theirs: dict) -> list[str]:
    ratio = ours["median"] / theirs["median"]
    return [what, f"{ours['median']:.2f}", f"{theirs['median']:.2f}", f"{ratio:.2f}"]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    spawned, pipe = told["programs"], told["pipe"]
    program = spawned["manifest program"]["median"] / spawned["bare spawn"]["median"]
    # A target is an upper bound: of the rate it is the other way round.
    slower = pipe["mcp SDK"]["rate"] / pipe["holdfast"]["rate"]
    return [
        ("MCP call over a pipe, to the SDK's server", f"<= {CALL}", CALL, _of(pipe)),
        ("MCP call over HTTP, to the SDK's server", f"<= {CALL}", CALL, _of(told["http"])),
        ("MCP start to first result, to the SDK's", f"<= {START}", START, _of(told["starts"])),
        ("SDK's rate with 32 calls in flight, to ours", f"<= {1 / RATE}", 1 / RATE, slower),
        ("manifest program, to a bare spawn", f"<= {PROGRAM}", PROGRAM, program),
    ]


def _of(measured: dict) -> float:
    return measured["holdfast"]["median"] / measured["mcp SDK"]["median"]
