"""Random files, random changes of them, and what `git apply` makes of the patch in between."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hypothesis import strategies as st

Tree = dict[str, bytes]

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
NAMES: st.SearchStrategy[str] = st.sampled_from(["f", "g", "d/h", "d/e/i", "two words", "é"])
LINES = st.sampled_from(
    [b"a", b"b", b"c", b"", b"x y", b"\tz", b"-a", b"+b", b"a ", b"@@ -1 +1 @@"]
)


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(LINES, max_size=14))
    end = draw(st.sampled_from([b"\n", b"\n", b"\n", b""]))
    return b"\n".join(lines) + end if lines else b""


@st.composite
def changed(draw: st.DrawFn, content: bytes) -> bytes:
    lines = content.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines)))
        end = draw(st.integers(at, min(at + 2, len(lines))))
        lines[at:end] = draw(st.lists(LINES, max_size=2))
    return b"\n".join(lines)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, Tree]:
    before = draw(st.dictionaries(NAMES, contents(), min_size=1, max_size=4))
    after: Tree = {}
    for name, content in before.items():
        match draw(st.sampled_from(["keep", "change", "change", "change", "delete", "rename"])):
            case "keep":
                after[name] = content
            case "change":
                after[name] = draw(changed(content))
            case "rename":
                after[f"{name}.new"] = draw(st.one_of(st.just(content), changed(content)))
            case _:
                pass
    if draw(st.booleans()):
        after["added"] = draw(contents())
    return before, after


@st.composite
def damaged(draw: st.DrawFn, patch: bytes) -> bytes:
    """A patch with a fault or two, as a model or a wire makes them."""
    lines = patch.split(b"\n")
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 6)):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                lines[at] = draw(st.sampled_from([b" ", b"+", b"-"])) + lines[at][1:]
            case 3:
                lines[at] = lines[at].replace(b"1", draw(st.sampled_from([b"2", b"0", b"7"])))
            case 4:
                lines = lines[:at]
            case 5:
                lines.insert(at, draw(st.sampled_from([b" a", b"+b", b"-c", b"noise", b""])))
            case _:
                lines[at] += b"a"
        lines = lines or [b""]
    return b"\n".join(lines)


def store(tree: Mapping[str, bytes], folder: Path) -> None:
    for name, content in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def load(folder: Path) -> Tree:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def diff_of(before: Tree, after: Tree, place: Path, context: int, *more: str) -> bytes:
    """What git says is between two trees."""
    for name, tree in (("a", before), ("b", after)):
        shutil.rmtree(place / name, ignore_errors=True)
        (place / name).mkdir(parents=True)
        store(tree, place / name)
    argv = ["git", "diff", "--no-index", "--no-prefix", "-M", f"-U{context}", *more, "a", "b"]
    done = subprocess.run(argv, cwd=place, env=ENVIRONMENT, capture_output=True, check=False)
    # Outside of a repository, git takes the two folders for a part of the names.
    return re.sub(rb'(?m)^((?:rename|copy) (?:from|to) "?)[ab]/', rb"\1", done.stdout)


def git_applied(tree: Tree, patch: bytes, place: Path) -> Tree | None:
    """What git makes of it; None: it refuses."""
    folder = place / "git"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    store(tree, folder)
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=folder,
        env={**ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(place)},
        # The tool completes the last line of a patch; a patch of git's own always has it.
        input=patch if patch.endswith(b"\n") else patch + b"\n",
        capture_output=True,
        check=False,
    )
    return load(folder) if done.returncode == 0 else None
