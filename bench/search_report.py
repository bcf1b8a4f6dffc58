"""What was measured of searching, as a table, and which targets hold."""

from collections.abc import Callable

SEARCHING = """## Searching

Milliseconds on a tree of {files:,} files with {gigabytes:.2f} GB in all, {rounds} rounds in which
all took turns (peers: one), load average {load:.1f}. Each row of holdfast is a whole call, bounded
and with its sidecar. *rare*: a text in three files. *some*: a regular expression that matches in
every twentieth file; deepagents searches for plain text only. *common*: a letter. *files*: `rg
--files` lists every file, `glob` those that fit `**/*_1*.rs`; also with the directories that fit,
and everything there is. `ratio` is to rg, of `min`. Left out: {left_out}.
"""

FOUND, FILES, STOPPED = 1.05, 1.1, 0.15


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    best = {(row["what"], row["way"]): row["min"] for row in told["rows"]}
    rows = [
        [
            row["what"],
            row["way"],
            f"{row['min']:,.1f}",
            f"{row['median']:,.1f}",
            f"{row['min'] / best[row['what'], 'rg']:.3f}",
        ]
        for row in sorted(told["rows"], key=lambda row: row["what"])
    ]
    words = SEARCHING.format(
        gigabytes=told["bytes"] / 1e9, left_out=", ".join(told["missing"]) or "nobody", **told
    )
    return [words, table(["what", "way", "min", "median", "ratio"], rows, text_columns=2)]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    best = {(row["what"], row["way"]): row["min"] for row in told["rows"]}

    def ratio(what: str, way: str) -> float | None:
        found = next((taken for name, taken in best.items() if name == (what, way)), None)
        return None if found is None else found / best[what, "rg"]

    stopped = next(way for what, way in best if what == "common" and way != "rg")
    return [
        ("grep of a rare text, to rg", f"<= {FOUND}", FOUND, ratio("rare", "holdfast")),
        ("grep of some thousand lines, to rg", f"<= {FOUND}", FOUND, ratio("some", "holdfast")),
        ("grep with a limit, to all of rg", f"<= {STOPPED}", STOPPED, ratio("common", stopped)),
        (
            "glob of files, to rg --files",
            f"<= {FILES}",
            FILES,
            ratio("files", "holdfast, kind file"),
        ),
    ]
