"""What was measured of processes, as tables, and which targets hold."""

from collections.abc import Callable

PROCESSES = """## Confined processes

Milliseconds from asking for `/bin/true` to knowing how it ended. *bare* is `os.posix_spawn` and
`waitpid` without any confinement. holdfast starts it through a warden that was started before, in
each kind of confinement this machine gives; *new spawner* has a thread confined anew for this one
process, prepared ahead as in a session; *captured* also reads both streams. Everything takes turns,
three times in a row each; load average {load:.1f}. `x bare` is of `min`.
"""

LARGE = """The same from a process that holds 1 GB:
"""

CAPTURE = """### Captured output

100 MB printed by `dd` in pieces of 64 KiB, MB/s; the growth of resident memory. holdfast keeps
beginning and end in memory and the whole in a file.
"""

WARM_LIMIT = 1.25
NEW_LIMIT = 1.6

ANEW = """### A sandbox of its own

Milliseconds for the first command of a policy, closing included: a warden is started in namespaces
of its own. It is paid once for a session and policy.
"""
OF_THE_FILE = 1500 / 4000
GROWTH = 4.0
BUILTIN = 0.2

PERSISTENT = """### The persistent shell

Milliseconds from a command to its report, in one shell that goes on.
"""


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    missing = [f"Not measured here: {why}.\n" for why in told["missing"]]
    return [
        PROCESSES.format(load=told["load"]),
        table(["way", "min ms", "median ms", "x bare"], _spawns(told["spawns"])),
        *missing,
        ANEW,
        table(
            ["way", "min ms", "median ms"],
            [
                [row["way"], f"{row['min']:.1f}", f"{row['median']:.1f}"]
                for row in told["sandboxes"]
            ],
        ),
        LARGE,
        table(["way", "min ms", "median ms", "x bare"], _spawns(told["spawns_1gb"])),
        PERSISTENT,
        table(
            ["command", "min ms", "median ms"],
            [
                [f"`{row['text']}`", f"{row['min']:.3f}", f"{row['median']:.3f}"]
                for row in told["persistent"]
            ],
        ),
        CAPTURE,
        table(
            ["way", "best MB/s", "median MB/s", "memory MB"],
            [
                [
                    row["way"],
                    f"{row['max']:,.0f}",
                    f"{row['median']:,.0f}",
                    f"{row['growth_mb']:.1f}",
                ]
                for row in told["captures"]
            ],
        ),
    ]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    judged: list[tuple[str, str, float, float | None]] = []
    for rows, where in ((told["spawns"], ""), (told["spawns_1gb"], ", 1 GB parent")):
        bare = rows[0]["min"]
        for row in rows:
            name, ratio = row["way"], row["min"] / bare
            if name.startswith("holdfast") and name.endswith("new spawner"):
                judged.append((f"{name}{where}, to bare", "<= 1.60", NEW_LIMIT, ratio))
            elif name.startswith("holdfast") and not name.endswith("captured"):
                judged.append((f"{name}{where}, to bare", "<= 1.25", WARM_LIMIT, ratio))
    captures = {row["way"]: row for row in told["captures"]}
    ours = captures["holdfast, whole output kept"]
    limit = captures["child writes the file itself (limit)"]
    slower = limit["max"] / ours["max"]
    judged.append(
        ("capture of 100 MB: the file's own speed to ours", "<= 2.67", 1 / OF_THE_FILE, slower)
    )
    judged.append(("memory while capturing 100 MB, MB", "< 4", GROWTH, ours["growth_mb"]))
    builtin = next(row for row in told["persistent"] if row["text"] == ":")
    name = "persistent shell, a builtin, median ms"
    judged.append((name, "< 0.2", BUILTIN, builtin["median"]))
    return judged


def _spawns(rows: list[dict]) -> list[list[str]]:
    bare = rows[0]["min"]
    return [
        [row["way"], f"{row['min']:.3f}", f"{row['median']:.3f}", f"{row['min'] / bare:.2f}"]
        for row in rows
    ]
