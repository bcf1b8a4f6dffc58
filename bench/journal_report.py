"""What was measured of the journal, as tables, and which targets hold."""

from collections.abc import Callable

WRITING = """## Writing a call down

Calls a second. A call is written down twice: what was asked together with the intent, before
anything happens, and its answer after it, each with all that follows from it for the session and
its conversation. *power* and PostgreSQL wait for the disk. 64 sessions share one store;
`Holdfast.settle` is the whole call of a trivial async tool. Peers store the same call and result:
langgraph's checkpointer a checkpoint of the last two messages and a pending write, openai-agents'
session two items. {rounds} rounds in which all took turns, load average {load:.1f}. `to bare` is
to one-row commits of the same durability, of `best`.
"""

READING = """### Reading a session of {events:,} events

Milliseconds, median; alone in its file, and beside 1,000 other sessions. Full text catches up with
{caught_up:,.0f} events a second.
"""

BARE = "one row, one commit: sqlite3, WAL, NORMAL"
BARE_FULL = "one row, one commit: sqlite3, WAL, FULL"
OF_BARE, AIMED_AT = 0.12, 0.2
POWER_GAIN, SERVER_GAIN = 10, 5
OPENING_MS, PAGE_MS = 300.0, 5.0


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    best = {row["way"]: row["max"] for row in told["rows"]}
    reading = told["reading"]
    return [
        WRITING.format(rounds=told["rounds"], load=told["load"]),
        table(["way", "best", "median", "to bare"], [_written(row, best) for row in told["rows"]]),
        READING.format(**reading),
        table(
            ["what", "alone", "beside 1,000"],
            [
                [what, f"{reading['alone'][what]:.2f}", f"{reading['beside'][what]:.2f}"]
                for what in reading["alone"]
            ],
        ),
    ]


def _written(row: dict, best: dict[str, float]) -> list[str]:
    slow = "power" in row["way"] or "FULL" in row["way"]
    ratio = row["max"] / best[BARE_FULL if slow else BARE]
    shown = "" if row["role"] == "peer" or "PostgreSQL" in row["way"] else f"{ratio:.2f}"
    return [row["way"], f"{row['max']:,.0f}", f"{row['median']:,.0f}", shown]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured; all of them are to be small."""
    best = {row["way"]: row["max"] for row in told["rows"]}
    one = best[BARE] / best["journal, one session"]
    judged: list[tuple[str, str, float, float | None]] = [
        ("bare commits in the time of a journaled call", "<= 8.33", 1 / OF_BARE, one),
        ("the same, as aimed at", "<= 5.00", 1 / AIMED_AT, one),
        _gain("power", POWER_GAIN, best),
        _gain("PostgreSQL", SERVER_GAIN, best),
    ]
    beside = told["reading"]["beside"]
    for what, took in beside.items():
        limit = OPENING_MS if what.startswith("open") else PAGE_MS
        judged.append((f"{what}, ms", f"< {limit:g}", limit, took))
    return judged


def _gain(store: str, wanted: int, best: dict[str, float]) -> tuple[str, str, float, float]:
    ratio = best[f"journal, one session, {store}"] / best[f"journal, 64 sessions, {store}"]
    return (f"{store}: calls of one session to 64", f"<= {1 / wanted:.2f}", 1 / wanted, ratio)
