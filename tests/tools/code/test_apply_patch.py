"""`apply_patch`: both notations, all or nothing, every path judged before anything is written."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patch_oracle import load, store
from tool_kit import answer, failure, opened, result

from holdfast.contract.errors import OperationFailed, ToolError
from holdfast.contract.failure import FailureKind
from holdfast.contract.files import Written
from holdfast.contract.rules import Rule
from holdfast.testing.fake_files import FakeFiles
from holdfast.tools.patch.outcome import Outcome
from holdfast.tools.patch.reading import read_patch
from holdfast.tools.patch.writing import write_all

pytestmark = pytest.mark.anyio

BEFORE = {
    "src/main.py": b"import os\n\n\ndef main():\n    tries = 3\n    return tries\n",
    "old.txt": b"one\ntwo\nthree\n",
    "gone.txt": b"bye\n",
}

SECTIONS = """*** Begin Patch
*** Update File: src/main.py
@@ def main():
-    tries = 3
+    tries = 5
     return tries
*** Add File: docs/notes.md
+# Notes
+
+- é
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: new/name.txt
@@
 one
-two
+zwei
*** End Patch"""

DIFF = """diff --git a/docs/notes.md b/docs/notes.md
new file mode 100755
--- /dev/null
+++ b/docs/notes.md
@@ -0,0 +1,3 @@
+# Notes
+
+- é
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/old.txt b/new/name.txt
similarity index 50%
rename from old.txt
rename to new/name.txt
--- a/old.txt
+++ b/new/name.txt
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three
diff --git a/src/main.py b/src/main.py
old mode 100644
new mode 100755
--- a/src/main.py
+++ b/src/main.py
@@ -2,5 +2,5 @@ import os
 
 
 def main():
-    tries = 3
+    tries = 5
     return tries
"""

AFTER = {
    "src/main.py": BEFORE["src/main.py"].replace(b"3", b"5"),
    "docs/notes.md": "# Notes\n\n- é\n".encode(),
    "new/name.txt": b"one\nzwei\nthree\n",
}


@pytest.mark.parametrize("patch", [SECTIONS, DIFF, DIFF.rstrip("\n")])
async def test_many_files_change_at_once(workspace: Path, patch: str) -> None:
    store(BEFORE, workspace)
    async with opened(workspace) as hf:
        done = await result(hf, "apply_patch", patch=patch)
    assert load(workspace) == AFTER
    told = {one["path"]: (one["change"], one.get("source")) for one in done["files"]}
    assert done["ok"] is True
    assert told == {
        "src/main.py": ("changed", None),
        "docs/notes.md": ("added", None),
        "gone.txt": ("deleted", None),
        "new/name.txt": ("moved", "old.txt"),
    }
    if patch is not SECTIONS:
        run = {name for name in AFTER if (workspace / name).stat().st_mode & stat.S_IXUSR}
        assert run == {"docs/notes.md", "src/main.py"}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("hello", "there is no file in it"),
        ("@@ -1 +1 @@\n-a\n+b\n", "a hunk comes before any file"),
        ("--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-a\n+b\n", "counts 3 old and 1 new lines, and 1 and 1"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\nnoise\n", "'noise' is no line of a hunk"),
        ("--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-a\n+b\n", "no plain path"),
        ("*** Begin Patch\n*** Update File: f\n-a\n+b\n", "without *** End Patch"),
        ("*** Begin Patch\n*** Change File: f\n*** End Patch", "a file begins with *** Add File"),
        ("*** Begin Patch\n*** Update File: f\n*** End Patch", "nothing is said of what is"),
        ("*** Begin Patch\n*** Update File: f\nx\n*** End Patch", "begins with a blank, - or +"),
        (
            "*** Begin Patch\n*** Add File: g\nx\n*** End Patch",
            "each line of a new file begins with +",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n",
            "no links",
        ),
        (
            "diff --git a/l b/l\nindex 1..2 100644\nGIT binary patch\nliteral 1\n",
            "binary files are not patched",
        ),
    ],
)
async def test_what_is_no_patch_is_told_with_its_line(
    workspace: Path, patch: str, said: str
) -> None:
    store({"f": b"a\n"}, workspace)
    async with opened(workspace) as hf:
        refused = await failure(hf, "apply_patch", patch=patch)
    assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "patch")
    assert refused.message.startswith("Line ")
    assert said in refused.message
    assert load(workspace) == {"f": b"a\n"}


PAIRS = (("a", 1), ("b", 2), ("c", 3))


def section(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


@pytest.mark.parametrize(
    ("patch", "kind", "said"),
    [
        (
            "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n",
            FailureKind.INVALID_ARGS,
            "f, hunk 1 (@@ -2,3 +2,3 @@, line 3): its old lines do not stand there. Nearest is"
            " line 2, where 2 of 3 agree; line 3 is 'x\\n', and the patch has 'c\\n'.",
        ),
        (
            section("*** Update File: f", "-q", "+r"),
            FailureKind.INVALID_ARGS,
            "its old lines stand nowhere in the file",
        ),
        (
            section("*** Update File: f", "@@ class X:", "-b", "+r"),
            FailureKind.INVALID_ARGS,
            "there is no line 'class X:' to look below",
        ),
        (
            section("*** Update File: twice", "-a", "+b"),
            FailureKind.INVALID_ARGS,
            "stand at 2 places (lines 1, 3)",
        ),
        (section("*** Update File: none", "-a", "+b"), FailureKind.NOT_FOUND, "There is no none"),
        (section("*** Delete File: none"), FailureKind.NOT_FOUND, "There is no none"),
        (section("*** Add File: f", "+x"), FailureKind.INVALID_ARGS, "it exists already"),
        (
            section("*** Update File: f", "*** Move to: twice", "-b", "+B"),
            FailureKind.INVALID_ARGS,
            "twice: it exists already",
        ),
    ],
)
async def test_what_does_not_fit_is_told_with_its_place(
    workspace: Path, patch: str, kind: FailureKind, said: str
) -> None:
    tree = {"f": b"a\nb\nx\nd\n", "twice": b"a\nb\na\n", "first": b"1\n"}
    store(tree, workspace)
    if patch.startswith("*** Begin Patch"):
        # What comes before what does not fit is not written either.
        patch = patch.replace(
            "*** Begin Patch\n", "*** Begin Patch\n*** Update File: first\n-1\n+2\n", 1
        )
    async with opened(workspace) as hf:
        refused = await failure(hf, "apply_patch", patch=patch)
    assert refused.kind == kind
    assert said in refused.message
    assert load(workspace) == tree


@pytest.mark.req("SPEC-EXT-03")
async def test_one_hunk_that_fails_leaves_every_file_as_it_was(workspace: Path) -> None:
    tree = {"a": b"1\n", "b": b"2\n", "c": b"3\n"}
    store(tree, workspace)
    hunks = "".join(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{old}\n+x\n" for name, old in PAIRS)
    async with opened(workspace) as hf:
        refused = await failure(hf, "apply_patch", patch=hunks.replace("-3\n", "-9\n"))
        assert refused.kind == FailureKind.INVALID_ARGS
        assert load(workspace) == tree
        await result(hf, "apply_patch", patch=hunks)
    assert load(workspace) == {"a": b"x\n", "b": b"x\n", "c": b"x\n"}


async def test_rules_see_every_path_before_anything_runs(workspace: Path) -> None:
    store(BEFORE, workspace)
    denied = {
        "fs.write": ["gone.txt", "docs/**", "new/**", "old.txt", "src/*.py"],
        "fs.read": ["old.txt"],
    }
    for permission, patterns in denied.items():
        for pattern in patterns:
            rule = Rule(
                scope="session",
                source="test",
                permission=permission,
                pattern=pattern,
                action="deny",
            )
            async with opened(workspace, rules=[rule]) as hf:
                for patch in (SECTIONS, DIFF):
                    refused = await failure(hf, "apply_patch", patch=patch)
                    assert refused.kind == FailureKind.REJECTED
                    assert pattern.partition("*")[0].rstrip("/") in refused.message
            assert load(workspace) == BEFORE
    for path in ("../out", "/etc/out", ".git/hooks/x"):
        async with opened(workspace) as hf:
            patch = section("*** Add File: ok", "+x", f"*** Add File: {path}", "+x")
            assert (await failure(hf, "apply_patch", patch=patch)).kind == FailureKind.REJECTED
    assert load(workspace) == BEFORE


async def test_line_endings_and_blanks_stay_those_of_the_file(workspace: Path) -> None:
    store({"w": b"a \r\nb\r\nc", "e": b""}, workspace)
    patch = section(
        *("*** Update File: w", " a", "-b", "+B", "+B2", "*** Update File: e", "+first")
    )
    async with opened(workspace) as hf:
        await result(hf, "apply_patch", patch=patch)
        assert load(workspace) == {"w": b"a \r\nB\r\nB2\r\nc", "e": b"first\n"}
        await result(
            hf,
            "apply_patch",
            patch=section(*("*** Update File: w", "@@", " c", "+d", "*** End of File")),
        )
    assert load(workspace)["w"] == b"a \r\nB\r\nB2\r\nc\r\nd"


FULL_DISK = """
import resource, sys
from pathlib import Path
import anyio
sys.path.insert(0, sys.argv[2])
from tool_kit import opened
workspace = Path(sys.argv[1])
patch = (workspace.parent / "patch").read_text()
async def main():
    async with opened(workspace) as hf:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        envelope = await hf.settle("apply_patch", {"patch": patch})
        print(envelope.failure and envelope.failure.extras.get("reason"))
anyio.run(main)
"""


def test_a_full_disk_leaves_every_file_as_it_was(workspace: Path) -> None:
    """The second of three files does not fit: the system itself refuses to write more."""
    tree = {"a": b"1\n", "b": b"1\n" * 9_000, "gone": b"x\n"}
    store(tree, workspace)
    (workspace / "a").chmod(0o640)
    added = "".join(f"+{'y' * 50}\n" for _ in range(100))
    (workspace.parent / "patch").write_text(
        section(
            *("*** Delete File: gone", "*** Update File: a", "-1", "+2"),
            *("*** Add File: new/dir/file", "+x"),
            *("*** Update File: b", added.rstrip("\n"), "*** End of File"),
        )
    )
    kit = str(Path(__file__).parents[2])
    argv = [sys.executable, "-c", FULL_DISK, str(workspace), kit]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "no_space\n", done.stderr
    assert load(workspace) == tree
    assert stat.S_IMODE((workspace / "a").stat().st_mode) == 0o640
    assert not (workspace / "new").exists()


class Failing(FakeFiles):
    """Files of which one change fails, and only that one."""

    left = 0

    def write(self, path: str, content: bytes | str, /, **how: object) -> Written:
        self._count(path)
        return super().write(path, content, **how)  # pyright: ignore[reportArgumentType] - passed on

    def remove(self, path: str, /) -> None:
        self._count(path)
        super().remove(path)

    def _count(self, path: str) -> None:
        self.left -= 1
        if not self.left:
            raise OperationFailed(f"{path} cannot be written.")


contents = st.text("ab\n", max_size=8).map(str.encode)


@settings(deadline=None)
@given(
    tree=st.dictionaries(st.sampled_from("abcd"), contents, min_size=1),
    added=st.lists(st.sampled_from(["x", "y/z"]), unique=True),
    kinds=st.lists(st.sampled_from(["delete", "append", "move"]), min_size=4, max_size=4),
    fails_at=st.integers(1, 8),
)
def test_whatever_write_fails_everything_is_as_it_was(
    tree: dict[str, bytes], added: list[str], kinds: list[str], fails_at: int
) -> None:
    lines = [line for name in added for line in (f"*** Add File: {name}", "+new")]
    for name, kind in zip(tree, kinds, strict=False):
        lines += {
            "delete": [f"*** Delete File: {name}"],
            "append": [f"*** Update File: {name}", "+more"],
            "move": [f"*** Update File: {name}", f"*** Move to: moved/{name}", "+more"],
        }[kind]
    files = Failing(tree)
    steps = Outcome(files, 1000, read_patch(section(*lines))).steps()
    files.left = fails_at
    entries = sorted(one.path for one in files.walk())
    try:
        write_all(files, steps)
    except ToolError:
        now = {one.path: one for one in files.walk()}
        assert {path: files.read_bytes(path) for path in tree} == tree
        assert sorted(now) == entries
    else:
        assert len(steps) < fails_at


async def test_what_cannot_be_put_back_is_named(workspace: Path) -> None:
    class Broken(Failing):
        def _count(self, path: str) -> None:
            self.left -= 1
            if self.left <= 0:
                raise OperationFailed(f"{path} cannot be written.")

    files = Broken({"a": b"1\n", "b": b"1\n"})
    patch = section("*** Update File: a", "-1", "+2", "*** Update File: b", "-1", "+2")
    steps = Outcome(files, 1000, read_patch(patch)).steps()
    files.left = 2
    with pytest.raises(OperationFailed, match="not everything could be put back: a ") as refused:
        write_all(files, steps)
    assert refused.value.extras["reason"] == "partial"
    async with opened(workspace) as hf:
        assert (await answer(hf, "apply_patch", patch="x")).failure is not None
