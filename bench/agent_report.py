"""What was measured of agent loops, as a table, and which targets hold."""

from collections.abc import Callable

LOOPS = """## The agent loop

Two turns of a model and one call of `add(1, 2)`, milliseconds. The model is a chat-completions
server on this machine that answers at once, so a loop is what a library costs. holdfast writes all
of it into its journal; the peers keep nothing. Agents of peers are made once and used again, and a
loop of holdfast is one wake of a session that is open and has run before; what it costs with the
session made and closed each time is a row of its own, and so is a wake whose tool says that it
only reads, as `add` might: nothing has to be written down before it runs. smolagents is
synchronous: {concurrent} threads with an agent each.
*CPU* is what the library's process computes for a loop, in its best round. `ratio` is to the
fastest peer (in bold), of `min`; *limit* and *floor* are loops by hand, without a
library for agents. Every loop is proven to ask the model twice and to run the tool once.
{rounds} rounds of {loops} loops and {batches} batches of {concurrent} at once, in which all took
turns; load average {low:.1f} to {high:.1f}.
"""

LOOP, RATE, IDLE = 0.3, 5.0, 50.0


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    loads, rows = told["loads"], told["rows"]
    quickest = _fastest(rows)
    head = [
        "loop",
        "min",
        "median",
        "CPU",
        "ratio",
        "at once, loops/s",
        "to the best peer",
        "peak MB",
    ]
    best = _best_rate(rows)
    said = [
        LOOPS.format(
            **{name: told[name] for name in ("rounds", "loops", "batches", "concurrent")},
            low=min(loads),
            high=max(loads),
        ),
        table(head, [_row(row, quickest, best) for row in rows]),
    ]
    kept = [row for row in rows if row["idle_kb"] is not None]
    return said + [
        f"A session that waits for its person: {row['idle_kb']:.1f} KB.\n" for row in kept
    ]


def _row(row: dict, quickest: float, best: float) -> list[str]:
    name = (
        row["path"]
        if row["role"] in {"ours", "also ours", "peer"}
        else f"*{row['role']}:* {row['path']}"
    )
    shortest = f"{row['min']:.2f}"
    rate = f"{row['rate']:,.0f}"
    return [
        name,
        f"**{shortest}**" if row["min"] == quickest else shortest,
        f"{row['median']:.2f}",
        f"{row['cpu']:.2f}",
        f"{row['min'] / quickest:.2f}",
        f"**{rate}**" if row["rate"] == best else rate,
        f"{row['rate'] / best:.1f}",
        f"{row['peak_mb']:.0f}",
    ]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    rows = told["rows"]
    ours = next(row for row in rows if row["role"] == "ours")
    reads = next(row for row in rows if "only reads" in row["path"])
    # A target is an upper bound: of the rate it is the other way round.
    slower = _best_rate(rows) / ours["rate"]
    at_once = f"the best peer's rate of {told['concurrent']} loops at once, to ours"
    return [
        ("agent loop, to the fastest peer", f"<= {LOOP}", LOOP, ours["min"] / _fastest(rows)),
        (
            "the same, with a tool that only reads",
            f"<= {LOOP}",
            LOOP,
            reads["min"] / _fastest(rows),
        ),
        (at_once, f"<= {1 / RATE}", 1 / RATE, slower),
        ("memory of a session that waits, KB", f"< {IDLE:g}", IDLE, ours["idle_kb"]),
    ]


def _fastest(rows: list[dict]) -> float:
    return min(row["min"] for row in rows if row["role"] == "peer")


def _best_rate(rows: list[dict]) -> float:
    return max(row["rate"] for row in rows if row["role"] == "peer")
