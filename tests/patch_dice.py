"""Patches by dice, for the long run against `git apply`: what differs has to have a name.

Each name is one of the differences that `docs/builtin-files.md` lists; anything else is a fault.
"""

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from execution.files.ground import Ground
from patch_oracle import Tree, diff_of, git_applied, load, store

from holdfast.contract.errors import ToolError
from holdfast.tools.patch.outcome import Outcome
from holdfast.tools.patch.reading import read_patch
from holdfast.tools.patch.writing import write_all

NAMES = ("f", "g", "d/h", "d/e/i", "d", "two words", "é", 'q"uote', "x.orig", "x", "-dash", "a/b")
LINES = (
    *(b"a", b"b", b"c", b"", b"x y", b"\tz", b"-a", b"+b", b"a ", b"@@ -1 +1 @@", b"--- a/f"),
    *(b"+++ b/f", b"a\r", b"\r", b"\\ No newline at end of file", b"diff --git a/f b/f", b" "),
)
PUT_IN = (
    *(b" a", b"+b", b"-c", b"noise", b"", b"\\ No newline at end of file", b"--- a/f", b"+++ b/f"),
    *(b"--- /dev/null", b"+++ /dev/null", b"@@ -1 +1 @@", b"@@ -0,0 +1 @@", b"rename from f"),
    *(b"rename to g", b"new file mode 100644", b"deleted file mode 100644", b"old mode 100644"),
    *(b"new mode 100755", b"diff --git a/f b/f", b"diff --git a/../x b/../x", b"copy from f"),
    *(b"copy to zz", b'+++ "b/caf\\351"', b"new file mode 120000", b"index 000..111 100644"),
)

NO_NEWLINE = "a last line without its newline in the middle"
REFUSED_HERE = {
    "a binary file": "binary files are not patched",
    "a mode that is none of a plain file": "only plain files, 100644 and 100755",
    "a file made twice": "it exists already",
    "a file in the place of a directory": "is a directory",
    "a directory in the place of a file": "not_a_directory",
    "names that do not say which file is meant": (
        "it is not clear which|its two names differ|stands there twice|stands in its"
        "|has no part to leave out|no plain path|no dev/null to|/dev/null needs|stands alone above"
    ),
    "a name that is no UTF-8": "is no UTF-8",
    "a file deleted and named again": "an earlier part of the patch",
    "words about a last line that is not there": "no line comes before `No newline",
    NO_NEWLINE: "its old lines (do not|stand nowhere)",
}
"""What git applies and we refuse, by what the refusal says."""


def made(dice: random.Random, place: Path) -> tuple[Tree, bytes]:
    """Files, and a patch for them, or nearly."""
    while True:
        before = _tree(dice, dice.sample(NAMES, dice.randint(1, 4)))
        patch = _diff(dice, before, _after(dice, before), place)
        if dice.random() < 0.7:
            patch = _damaged(dice, patch)
        if dice.random() < 0.15:
            before = {name: _changed(dice, content) for name, content in before.items()}
        patch += b"" if patch.endswith(b"\n") else b"\n"
        if len(patch) > 1 and _is_text(patch):
            return before, patch


def _is_text(patch: bytes) -> bool:
    try:
        return b"*** Begin Patch" not in patch.decode().encode()
    except UnicodeDecodeError:
        return False


def judged(tree: Tree, patch: bytes, place: Path) -> str:
    """How both end: the same, or with a difference that has a name; AssertionError otherwise."""
    theirs, ours = git_applied(tree, patch, place), _ours(tree, patch, place)
    if isinstance(ours, ToolError):
        if theirs is None:
            return "refused by both"
        said = next((one for one, why in REFUSED_HERE.items() if re.search(why, str(ours))), None)
        assert said is not None, f"git applies what is refused here: {ours}"
        assert said != NO_NEWLINE or b"\n\\ No newline" in patch, f"git finds its lines: {ours}"
        return said
    if ours == theirs:
        return "applied by both"
    said = _taken_here(patch, is_refused=theirs is None)
    assert said is not None, f"git: {theirs}, ours: {ours}"
    return said


def _taken_here(patch: bytes, *, is_refused: bool) -> str | None:
    """What we apply and git refuses, or applies to another file."""
    head = rb"(?m)^(?:diff --git|---|\+\+\+|rename|copy|index|new|old|deleted|similarity).*"
    if re.search(head + rb"\r$", patch):
        return "line ends of another system in a header"
    plain = re.search(rb'(?m)^--- (?!"?a/)|^\+\+\+ (?!"?b/)', patch)
    if plain is not None:
        return "names without a/ and b/"
    if not is_refused:
        return None
    if re.search(rb'(?m)^(?:---|\+\+\+) ".*\n(?:---|\+\+\+|@@)', patch):
        return "two names of a plain diff, one of them quoted"
    if re.search(rb"(?m)^(?:new|old|new file|deleted file) mode", patch):
        return "a header in another order, or without all of its lines"
    return None


def _ours(tree: Tree, patch: bytes, place: Path) -> Tree | ToolError:
    shutil.rmtree(place / "ours", ignore_errors=True)
    (place / "ours").mkdir()
    ground = Ground(place / "ours")
    store(tree, ground.workspace)
    files = ground.files()
    try:
        write_all(files, Outcome(files, 1 << 20, read_patch(patch.decode())).steps())
    except ToolError as problem:
        assert load(ground.workspace) == tree, "a refusal changes nothing"
        return problem
    return load(ground.workspace)


def _tree(dice: random.Random, names: list[str]) -> Tree:
    fitting: Tree = {}
    for name in names:
        if not any(name.startswith(f"{one}/") or one.startswith(f"{name}/") for one in fitting):
            fitting[name] = _content(dice)
    return fitting


def _content(dice: random.Random) -> bytes:
    pool = LINES if dice.random() < 0.3 else LINES[:9]
    lines = [dice.choice(pool) for _ in range(dice.choice((0, 1, 3, 8, 20)))]
    return b"\n".join(lines) + dice.choice((b"\n", b"\n", b"\n", b"", b"\n\n")) if lines else b""


def _changed(dice: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(lines) + 1)
        lines[at : at + dice.randrange(3)] = [dice.choice(LINES) for _ in range(dice.randrange(3))]
    return b"\n".join(lines)


def _after(dice: random.Random, before: Tree) -> Tree:
    after: Tree = {}
    for name, content in before.items():
        match dice.choice(("keep", "change", "change", "change", "delete", "rename", "copy")):
            case "change":
                after[name] = _changed(dice, content)
            case "rename":
                after[f"{name}.new"] = dice.choice((content, _changed(dice, content)))
            case "copy":
                after |= {name: content, f"{name}.copy": _changed(dice, content)}
            case "keep":
                after[name] = content
            case _:
                pass
    if dice.random() < 0.4:
        after["n/e/w"] = _content(dice)
    return after


def _diff(dice: random.Random, before: Tree, after: Tree, place: Path) -> bytes:
    options = ("-C", "--find-copies-harder", *dice.choice(((), ("--text",), ("--binary",))))
    found = diff_of(before, after, place, dice.choice((0, 1, 1, 2, 3, 3)), *options)
    if dice.random() < 0.2:  # a plain one
        git = rb"(diff --git|index |similarity|rename |copy |old mode|new mode|deleted|new file)"
        found = b"\n".join(line for line in found.split(b"\n") if not re.match(git, line))
    return found


def _damaged(dice: random.Random, patch: bytes) -> bytes:
    lines = patch.split(b"\n")
    for _ in range(dice.randint(1, 3)):
        lines = dice.choice(_DAMAGES)(dice, lines) or [b""]
    return b"\n".join(lines)


def _one_line(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    at = dice.randrange(len(lines))
    line = lines[at]
    number = re.sub(
        rb"\d+", lambda one: b"%d" % (int(one[0][:9]) + dice.choice((1, 2, 50))), line, count=1
    )
    put = dice.choice(
        (
            [],
            [line, line],
            [dice.choice((b" ", b"+", b"-")) + line[1:]],
            [number],
            [dice.choice(PUT_IN), line],
            [line + dice.choice((b"a", b"\r", b" ", b"\t"))],
        )
    )
    return [*lines[:at], *put, *lines[at + 1 :]]


def _cut(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    return lines[: dice.randrange(len(lines))]


def _swapped(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    one, two = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return lines


def _parts(beginning: bytes) -> Callable[[random.Random, list[bytes]], list[bytes]]:
    """Parts in another order, or one of them twice."""

    def act(dice: random.Random, lines: list[bytes]) -> list[bytes]:
        parts = re.split(rb"(?m)^(?=" + beginning + b")", b"\n".join(lines))
        if dice.random() < 0.5:
            dice.shuffle(parts)
        else:
            parts.append(dice.choice(parts))
        return b"".join(parts).split(b"\n")

    return act


def _moved_on(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    by = dice.choice((-5, -1, 1, 3, 50, 100_000))

    def moved(header: re.Match[bytes]) -> bytes:
        one, two = (max(0, int(header[at]) + by) for at in (1, 3))
        return b"@@ -%d%s +%d" % (one, header[2] or b"", two)

    return [re.sub(rb"^@@ -(\d{1,9})(,\d+)? \+(\d{1,9})", moved, line) for line in lines]


def _with_returns(_dice: random.Random, lines: list[bytes]) -> list[bytes]:
    return [line.removesuffix(b"\r") + b"\r" for line in lines]


_DAMAGES: tuple[Callable[[random.Random, list[bytes]], list[bytes]], ...] = (
    *(_one_line, _one_line, _one_line, _one_line, _cut, _swapped, _moved_on, _with_returns),
    *(_parts(b"diff --git "), _parts(b"@@ ")),
)
