"""Odd headers of unified diffs: what each of them comes to, and that git does the same."""

from pathlib import Path

import pytest
from patch_oracle import Tree, git_applied

from holdfast.contract.errors import InvalidArguments
from holdfast.testing.fake_files import FakeFiles
from holdfast.tools.patch.outcome import Outcome
from holdfast.tools.patch.reading import read_patch
from holdfast.tools.patch.writing import write_all

BEFORE: Tree = {"f": b"a\n", "g": b"b\n", "empty": b""}

CHANGE = "@@ -1 +1 @@\n-a\n+x\n"
ADD = "@@ -0,0 +1 @@\n+x\n"
DELETE = "@@ -1 +0,0 @@\n-a\n"
NAMES = "--- a/f\n+++ b/f\n"
OF_F = "diff --git a/f b/f\n"
OF_G = "diff --git a/g b/g\n"
OF_NEW = "diff --git a/n b/n\n"
F_TO_N = "diff --git a/f b/n\n"
FROM_NOTHING = "--- /dev/null\n+++ b/n\n"
TO_NOTHING = "--- a/f\n+++ /dev/null\n"
RENAME = "rename from f\nrename to n\n"
ALONE = "a `diff --git` line stands alone above it."


def ours(patch: str) -> Tree:
    """What is there after the patch; a refusal is raised, and has changed nothing."""
    files = FakeFiles(BEFORE)
    try:
        write_all(files, Outcome(files, 1 << 20, read_patch(patch)).steps())
    except InvalidArguments:
        assert stored(files) == BEFORE
        raise
    return stored(files)


def stored(files: FakeFiles) -> Tree:
    return {one.path: files.read_bytes(one.path) for one in files.walk() if one.kind == "file"}


def after(*gone: str, **now: bytes) -> Tree:
    return {name: text for name, text in {**BEFORE, **now}.items() if name not in gone}


@pytest.mark.system("git")
@pytest.mark.parametrize(
    ("patch", "wanted"),
    [
        pytest.param(f"{OF_F}\n{NAMES}{CHANGE}", after(f=b"x\n"), id="alone above a plain change"),
        pytest.param(f"{OF_G}\n{NAMES}{CHANGE}", after(f=b"x\n"), id="alone, plain of another"),
        pytest.param(f"{OF_F}\n{TO_NOTHING}{DELETE}", after("f"), id="alone above a plain delete"),
        pytest.param(f"{OF_F}{OF_F}{NAMES}{CHANGE}", after(f=b"x\n"), id="alone above its like"),
        pytest.param(f"{OF_G}{F_TO_N}{RENAME}", after("f", n=b"a\n"), id="alone above a rename"),
        pytest.param(
            f"{OF_G}{OF_F}deleted file mode 100644\n{DELETE}", after("f"), id="alone above a delete"
        ),
        pytest.param(f"{OF_F}{NAMES}{CHANGE}{OF_G}", after(f=b"x\n"), id="alone at the end"),
        pytest.param(
            f"{OF_F}new mode 100755\nnew mode 100755\n{NAMES}{CHANGE}",
            after(f=b"x\n"),
            id="the same twice",
        ),
        pytest.param(
            f"{OF_F}index 1..2 100644\nindex 3..4 100644\n{NAMES}{CHANGE}",
            after(f=b"x\n"),
            id="words that decide nothing, twice",
        ),
        pytest.param(f"{OF_F}index 1..2 100644\n{CHANGE}", after(f=b"x\n"), id="one name only"),
        pytest.param(f"{F_TO_N}copy from f\ncopy to n\n", after(n=b"a\n"), id="copy"),
        pytest.param(
            f"{F_TO_N}copy from f\ncopy to n\n--- a/f\n+++ b/n\n{CHANGE}",
            after(n=b"x\n"),
            id="copy that is changed",
        ),
        pytest.param(
            f"{F_TO_N}rename old f\nrename new n\n", after("f", n=b"a\n"), id="old words of renames"
        ),
        pytest.param(
            "diff --git a/empty b/empty\ndeleted file mode 100644\nindex 1..0\n",
            after("empty"),
            id="an empty file is deleted",
        ),
        pytest.param(f"{OF_NEW}new file mode 100644\n", after(n=b""), id="an empty file is added"),
        pytest.param(f"--- f.orig\n+++ f\n{CHANGE}", after(f=b"x\n"), id="orig"),
        pytest.param(f"--- n\n+++ n\n{ADD}", after(n=b"x\n"), id="new without saying so"),
    ],
)
def test_what_git_takes_ends_the_same(patch: str, wanted: Tree, tmp_path: Path) -> None:
    assert ours(patch) == wanted
    assert git_applied(BEFORE, patch.encode(), tmp_path) == wanted


REFUSED_BY_BOTH = [
    pytest.param(CHANGE, 1, "a hunk comes before any file", id="no file"),
    pytest.param(
        f"{OF_F}index 1..2 100644\nBinary files a/f and b/f differ\n",
        3,
        "binary files are not patched",
        id="binary",
    ),
    pytest.param(
        f"diff --git a/f b/g\n\n{NAMES}{CHANGE}",
        1,
        "it is not clear which file is meant.",
        id="alone, and of two files",
    ),
    pytest.param(f"{OF_F}\n{FROM_NOTHING}{ADD}", 3, ALONE, id="alone above a plain add"),
    pytest.param(
        f"{OF_F}{OF_NEW}new file mode 100644\n{FROM_NOTHING}{ADD}",
        2,
        ALONE,
        id="alone above an add",
    ),
    pytest.param(
        f"{OF_F}{OF_F}deleted file mode 100644\n{TO_NOTHING}{DELETE}",
        2,
        ALONE,
        id="alone above a delete that says so twice",
    ),
    pytest.param(f"{OF_G}{OF_F}{NAMES}{CHANGE}", 2, ALONE, id="alone above another's change"),
    pytest.param(
        f"{OF_G}{OF_F}{OF_F}{NAMES}{CHANGE}", 3, ALONE, id="two alone, and the first counts"
    ),
    pytest.param(OF_F, 1, "there is no file in it.", id="alone, and nothing else"),
    pytest.param(
        f"--- /dev/null\n+++ /dev/null\n{CHANGE}", 1, "both sides are /dev/null.", id="nothing"
    ),
    pytest.param(
        f"{FROM_NOTHING}{CHANGE}",
        1,
        "n is new, and its patch has old lines.",
        id="plain add with old lines",
    ),
    pytest.param(
        f"{OF_NEW}new file mode 100644\n{FROM_NOTHING}{CHANGE}",
        1,
        "n is new, and its patch has old lines.",
        id="add with old lines",
    ),
    pytest.param(
        f"{OF_F}deleted file mode 100644\n{TO_NOTHING}{CHANGE}",
        1,
        "f is deleted, and its patch has new lines.",
        id="delete with new lines",
    ),
    pytest.param(
        f"{OF_F}--- a/f\n--- a/g\n+++ b/f\n{CHANGE}",
        1,
        "'---' stands there twice, with different words.",
        id="two names of one side",
    ),
    pytest.param(
        f"{OF_F}index 1..2 100644\n",
        1,
        "it says nothing of what is to change.",
        id="nothing to do",
    ),
    pytest.param(
        f"{F_TO_N}{RENAME}copy from f\ncopy to n\n",
        1,
        "it cannot be rename and copy at once.",
        id="rename and copy",
    ),
    pytest.param(
        f"{OF_F}new file mode 100644\ndeleted file mode 100644\n",
        1,
        "it cannot be add and delete at once.",
        id="add and delete",
    ),
    pytest.param(
        f"{OF_NEW}{FROM_NOTHING}{ADD}",
        1,
        "a file from /dev/null needs a `new file mode 100644` line.",
        id="add without its mode",
    ),
    pytest.param(
        f"{OF_NEW}new file mode 100644\n--- a/n\n+++ b/n\n{ADD}",
        1,
        "'a/n' stands in its --- line.",
        id="add of what was there",
    ),
    pytest.param(
        f"{OF_F}deleted file mode 100644\n{NAMES}{DELETE}",
        1,
        "'b/f' stands in its +++ line.",
        id="delete of what stays",
    ),
    pytest.param(
        f"{F_TO_N}{RENAME}--- /dev/null\n+++ b/n\n{CHANGE}",
        1,
        "'/dev/null' stands in its --- line.",
        id="rename from nothing",
    ),
    pytest.param(
        f"{OF_F}+++ b/f\n{CHANGE}",
        1,
        "it is not clear which file is meant: none is named.",
        id="one side only",
    ),
    pytest.param(
        f"{F_TO_N}rename from f\n",
        1,
        "it is not clear which file is meant: none is named.",
        id="half a rename",
    ),
    pytest.param(
        f"{F_TO_N}{RENAME}--- a/f\n+++ b/m\n{CHANGE}",
        1,
        "it is not clear which file is meant: ['n', 'm'].",
        id="rename to two names",
    ),
    pytest.param(
        f"{OF_F}old mode 100644\nnew mode 120000\n",
        1,
        "mode '120000': only plain files",
        id="a file becomes a link",
    ),
]


@pytest.mark.system("git")
@pytest.mark.parametrize(("patch", "line", "said"), REFUSED_BY_BOTH)
def test_what_git_refuses_is_refused_with_its_line(
    patch: str, line: int, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArguments) as refused:
        ours(patch)
    assert str(refused.value).startswith(f"Line {line} of the patch: {said}")
    assert refused.value.extras == {"reason": "bad_patch", "line": line}
    assert git_applied(BEFORE, patch.encode(), tmp_path) is None


@pytest.mark.system("git")
@pytest.mark.parametrize(
    ("patch", "said", "git_makes"),
    [
        pytest.param(
            f"diff --git a/f b/n\n--- a/f\n+++ b/n\n{CHANGE}",
            "its two names differ, and it says nothing of a rename.",
            after("f", n=b"x\n"),
            id="a rename that nobody spoke of",
        ),
        pytest.param(
            f"{OF_F}{TO_NOTHING}{DELETE}",
            "a file that becomes /dev/null needs a `deleted file mode` line.",
            after("f") | {"dev/null": b""},
            id="a file of the name dev/null",
        ),
        pytest.param(
            f"{OF_G}{OF_F}index 1..2 100644\n{CHANGE.replace('-a', '-b')}",
            ALONE,
            after(g=b"x\n"),
            id="the file of the line above",
        ),
    ],
)
def test_what_git_takes_for_something_nobody_meant_is_refused(
    patch: str, said: str, git_makes: Tree, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArguments) as refused:
        ours(patch)
    assert said in str(refused.value)
    assert git_applied(BEFORE, patch.encode(), tmp_path) == git_makes


NEW = "new file mode 100644\n"


@pytest.mark.parametrize(
    ("patch", "wanted"),
    [
        (f"--- a/empty\n+++ b/empty\n{ADD}", after(empty=b"x\r\n")),
        (f"{OF_NEW}{NEW}{FROM_NOTHING}{ADD}", after(n=b"x\r\n")),
        (f"{FROM_NOTHING}{ADD}", after(n=b"x\r\n")),
        (f"{F_TO_N}similarity index 100%\n{RENAME}", after("f", n=b"a\n")),
        ("diff --git a/empty b/empty\ndeleted file mode 100644\n", after("empty")),
        (f'{OF_F}new mode 100755\n--- "a/f"\n+++ "b/f"\n', after()),
    ],
)
def test_line_ends_of_another_system_are_no_part_of_a_name(patch: str, wanted: Tree) -> None:
    """A file of such a name would look like another one."""
    assert ours(patch.replace("\n", "\r\n")) == wanted


@pytest.mark.parametrize("name", [r"caf\351", r"caf\303", "caf\ud800"])
def test_a_quoted_name_that_is_no_text_is_refused(name: str) -> None:
    """Under another name than the one that is meant, nothing is made."""
    patch = f'diff --git "a/{name}" "b/{name}"\n{NEW}--- /dev/null\n+++ "b/{name}"\n{ADD}'
    with pytest.raises(InvalidArguments, match="is no UTF-8"):
        ours(patch)
    whole = r"caf\303\251"
    patch = f'diff --git "a/{whole}" "b/{whole}"\n{NEW}--- /dev/null\n+++ "b/{whole}"\n{ADD}'
    assert ours(patch) == after(café=b"x\n")


def test_what_stands_behind_a_quoted_name_is_no_part_of_it() -> None:
    assert ours(f'{F_TO_N}similarity index 100%\nrename from "f" \nrename to "n" x\n') == after(
        "f", n=b"a\n"
    )
