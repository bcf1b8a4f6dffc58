"""What was measured of `holdfast serve`, as tables, and which targets hold."""

from collections.abc import Callable

HEAD = """## The server

`holdfast serve`, asked over loopback by another process: {streams} streams of events are open,
most of them of sessions whose agents run now and then, and in the workbench calls of a tool are
settled at a steady pace, {wanted_a_second} a second for {seconds} seconds. Then calls that wait for
leave are allowed: the time is from the answer that a person sends to the event that says that the
call runs, as a stream tells it. Load average {load:.1f}.
"""
APPROVAL_MS = 100.0


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    spreads = (
        ("a call in the workbench, from when it was due", "call_ms"),
        ("from leave to the call, in the workbench", "approval_ms"),
        ("from leave to the call, in a session that nobody ran meanwhile", "session_approval_ms"),
    )
    rows = [
        [name, *(f"{told[key][one]:.1f}" for one in ("median", "p99", "max"))]
        for name, key in spreads
    ]
    amounts = [
        ["calls a second", f"{told['calls_a_second']:.0f}"],
        ["errors", str(told["errors"])],
        ["events told, all streams together", f"{told['events']:,}"],
        ["memory in the first third, MB", f"{told['rss_first_mb']:.1f}"],
        ["memory in the last third, MB", f"{told['rss_last_mb']:.1f}"],
    ]
    return [
        HEAD.format(**told),
        table(["milliseconds", "median", "p99", "slowest"], rows),
        "",
        table(["under load", ""], amounts),
    ]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    slowest = max(told["approval_ms"]["p99"], told["session_approval_ms"]["p99"])
    return [
        ("server under load: errors", "<= 0", 0.0, float(told["errors"])),
        ("from leave to the call, p99 ms", f"< {APPROVAL_MS:g}", APPROVAL_MS, slowest),
    ]
