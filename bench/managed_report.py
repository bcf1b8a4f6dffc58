"""What was measured of the managed tools over a large store, as tables, and which targets hold."""

from collections.abc import Callable

HEAD = """## The managed runtime over a large store

{sessions:,} sessions of one agent with {events:,} events, called as a model calls the tools:
through preflight, policy, journal and envelope. Milliseconds by the clock; *CPU* is what the
process itself computes, which others on the machine do not add to. {rounds} rounds of every
question, in which all took turns; load average {load:.1f} and {listing:.1f}.
"""
SEARCH, LIST = 100.0, 50.0
_LISTED = ("session_list", "session_list_children")


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    search, sessions = told["search"], told["sessions"]
    said = HEAD.format(
        sessions=search["sessions"],
        events=search["events"],
        rounds=search["rounds"],
        load=search["load"],
        listing=sessions["load"],
    )
    asked = [(row["question"], row) for row in search["rows"]]
    listed = [(row["call"], row) for row in sessions["rows"]]
    rows = [
        [name, *(f"{row[key]:.1f}" for key in ("median_ms", "max_ms", "median_cpu_ms"))]
        for name, row in (*asked, *listed)
    ]
    return [said, table(["what is asked", "median", "slowest", "CPU"], rows)]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    slowest = max(row["median_ms"] for row in told["search"]["rows"])
    calls = {row["call"]: row["median_ms"] for row in told["sessions"]["rows"]}
    return [
        ("a search of a million events, the slowest kind, ms", f"< {SEARCH:g}", SEARCH, slowest),
        *(
            (f"{name} among 10,000 sessions, ms", f"< {LIST:g}", LIST, calls[name])
            for name in _LISTED
        ),
    ]
