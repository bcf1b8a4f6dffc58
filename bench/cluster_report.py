"""What was measured of a cluster, as tables, and which targets hold."""

from collections.abc import Callable

HEAD = """## Many machines

A wake is a session that somebody said something to: told over NATS, handed to a worker, run, and
acknowledged once its journal says what came of it. Its run does nothing. Beside it jobs of peers
that do nothing, in queues that they keep in the same PostgreSQL; {wakes:,} of each, one worker, all
servers and workers on this one machine, load average {load:.1f}.
"""
GROWTH = """Workers are processes of their own; three servers of NATS keep every message. *Thinking*
runs wait {thinking_ms:.0f} ms each, as for a model, {thinking_concurrency} at once in a worker. The
{cores} cores are shared by workers, PostgreSQL and NATS.
"""
OURS = "holdfast, one NATS server"


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    dispatch, figures = told["dispatch"], told["figures"]
    ours = _best(dispatch, OURS)
    rates = [
        [row["way"], f"{row['max']:,.0f}", f"{row['median']:,.0f}", f"{ours / row['max']:.1f}"]
        for row in dispatch["rows"]
    ]
    growth = [
        [
            name,
            str(one["workers"]),
            f"{one['per_second']:,}",
            f"{one['cores_busy_percent']} %",
            f"{one['cpu_ms_per_wake']:.2f}",
        ]
        for name, key in (("does nothing", "nothing"), ("thinking", "thinking"))
        for one in figures[key]
    ]
    waiting = [[f"{one['sessions']:,}", f"{one['cpu_percent']:.2f} %"] for one in figures["idle"]]
    return [
        HEAD.format(**dispatch),
        table(["a second", "best", "median", "ours to it"], rates),
        "",
        GROWTH.format(**figures),
        table(["runs", "workers", "wakes a second", "cores busy", "ms of a worker's core"], growth),
        "",
        table(["sessions that wait for leave", "of a core"], waiting),
    ]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    best = _best(told["dispatch"], OURS)
    return [("a wake in a cluster, microseconds (2,000 a second)", "<= 500", 500.0, 1e6 / best)]


def _best(dispatch: dict, way: str) -> float:
    return next(row["max"] for row in dispatch["rows"] if row["way"] == way)
