"""Unified diffs, git's own headers included: from text to what is to happen to files."""

from collections.abc import Iterator

from holdfast.tools.patch.diff_hunks import is_hunk, read_hunks
from holdfast.tools.patch.diff_names import (
    NOTHING,
    checked,
    git_names,
    header_name,
    stripped,
    stripped_pair,
    whole_name,
)
from holdfast.tools.patch.model import FilePatch, Kind, NumberedHunk, bad_patch

_GIT = b"diff --git "
_PLAIN_FILES = ("100644", "100755")
_REPEATED = ("index ", "similarity index ", "dissimilarity index ")
"""Words that decide nothing."""
_ALONE = "a `diff --git` line stands alone above it."
_WORDS = (
    *("--- ", "+++ ", "old mode ", "new mode ", "deleted file mode ", "new file mode "),
    *("copy from ", "copy to ", "rename from ", "rename to ", "rename old ", "rename new "),
    *("similarity index ", "dissimilarity index ", "index "),
)
_BEGINNINGS = tuple(word.encode() for word in _WORDS)
_LONGEST_HEADER = 16_384
"""Two of the longest paths there are, with room for escapes."""


def read_diff(lines: list[bytes]) -> Iterator[FilePatch]:
    """Every file of a diff. What stands between them is passed over, as git does."""
    at = 0
    lone: str | None = None
    while at < len(lines):
        line = lines[at]
        if is_hunk(line):
            raise bad_patch(at + 1, "a hunk comes before any file: --- and +++ lines are missing.")
        if line.startswith(_GIT):
            header = _GitHeader(lines, at)
            if header.end > at + 1:
                hunks, end = read_hunks(lines, header.end)
                _refuse_binary(lines, end)
                patch = header.patch(hunks)
                if lone is not None:
                    header.refuse_below(lone, patch)
                yield patch
                at, lone = end, None
                continue
            lone = lone or header.only_name()
        elif _begins_plain(lines, at):
            hunks, end = read_hunks(lines, at + 2)
            patch = _plain(lines, at, hunks)
            if lone is not None and patch.kind == "add":
                raise bad_patch(at + 1, _ALONE)
            yield patch
            at, lone = end, None
            continue
        at += 1


def _begins_plain(lines: list[bytes], at: int) -> bool:
    return (
        at + 2 < len(lines)
        and lines[at].startswith(b"--- ")
        and lines[at + 1].startswith(b"+++ ")
        and is_hunk(lines[at + 2])
    )


def _plain(lines: list[bytes], at: int, hunks: tuple[NumberedHunk, ...]) -> FilePatch:
    old, new = (header_name(_header(lines, at + side)[4:], at + 1 + side) for side in (0, 1))
    old, new = stripped_pair(old, new, at + 1)
    if old == NOTHING == new:
        raise bad_patch(at + 1, "both sides are /dev/null.")
    if old == NOTHING:
        return _made("add", at, hunks, new=checked(new, at + 2))
    if new == NOTHING:
        return _made("delete", at, hunks, old=checked(old, at + 1))
    # `x.orig` and its like beside `x`: the shorter name is the file's.
    name = checked(old if new.startswith(old) else new, at + 2)
    no_old_lines = not any(one.hunk.old for one in hunks) and len(hunks) == 1
    return _made("change", at, hunks, old=name, new=name)._replace(may_be_new=no_old_lines)


def _made(
    kind: Kind,
    at: int,
    hunks: tuple[NumberedHunk, ...],
    *,
    old: str | None = None,
    new: str | None = None,
) -> FilePatch:
    if kind == "add" and any(one.hunk.old for one in hunks):
        raise bad_patch(at + 1, f"{new} is new, and its patch has old lines.")
    if kind == "delete" and any(one.hunk.new for one in hunks):
        raise bad_patch(at + 1, f"{old} is deleted, and its patch has new lines.")
    return FilePatch(kind=kind, at=at + 1, old=old, new=new, numbered=hunks)


def _header(lines: list[bytes], at: int) -> str:
    line = lines[at]
    if len(line) > _LONGEST_HEADER:
        raise bad_patch(at + 1, f"a line of a header has at most {_LONGEST_HEADER:,} bytes.")
    # A diff that came with other line ends; git quotes a name that really ends so.
    return line.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")


class _GitHeader:
    """`diff --git` and what follows it, up to the hunks."""

    def __init__(self, lines: list[bytes], at: int) -> None:
        self._at = at
        self._said: dict[str, tuple[str, int]] = {}
        self.end = at + 1
        self._both = git_names(_header(lines, at), at + 1)
        while self.end < len(lines) and lines[self.end].startswith(_BEGINNINGS):
            text = _header(lines, self.end)
            word = next(one for one in _WORDS if text.startswith(one))
            if (
                word not in _REPEATED
                and self._said.get(word, (text[len(word) :],))[0] != text[len(word) :]
            ):
                raise self._bad(f"{word.strip()!r} stands there twice, with different words.")
            self._said[word] = (text[len(word) :], self.end + 1)
            self.end += 1

    def refuse_below(self, lone: str, patch: FilePatch) -> None:
        """For git the file of a line that stood alone above is the one that is meant here, too."""
        nothing = any(self._said.get(word, ("", 0))[0] == NOTHING for word in ("--- ", "+++ "))
        another = patch.kind == "change" and patch.old != lone
        if patch.kind == "add" or nothing or another:
            raise self._bad(_ALONE)

    def only_name(self) -> str:
        """A header that stands alone has to name one file."""
        if self._both is None:
            raise self._bad("it is not clear which file is meant.")
        return self._both

    def patch(self, hunks: tuple[NumberedHunk, ...]) -> FilePatch:
        """What the header and its hunks say together."""
        kind = self._kind()
        old = self._name(("rename from ", "rename old ", "copy from "), "--- ", absent="add")
        new = self._name(("rename to ", "rename new ", "copy to "), "+++ ", absent="delete")
        if kind == "change" and old != new:
            raise self._bad("its two names differ, and it says nothing of a rename.")
        executable = self._mode()
        if kind == "change" and not hunks and executable is None:
            raise self._bad("it says nothing of what is to change.")
        made = _made(kind, self._at, hunks, old=old, new=new)
        return made._replace(executable=executable)

    def _kind(self) -> Kind:
        kinds: list[Kind] = []
        if "new file mode " in self._said:
            kinds.append("add")
        if "deleted file mode " in self._said:
            kinds.append("delete")
        if any(word.startswith("rename ") for word in self._said):
            kinds.append("rename")
        if any(word.startswith("copy ") for word in self._said):
            kinds.append("copy")
        if len(kinds) > 1:
            raise self._bad(f"it cannot be {' and '.join(kinds)} at once.")
        return kinds[0] if kinds else self._kind_by_names()

    def _kind_by_names(self) -> Kind:
        if self._said.get("--- ", ("", 0))[0] == NOTHING:
            raise self._bad("a file from /dev/null needs a `new file mode 100644` line.")
        if self._said.get("+++ ", ("", 0))[0] == NOTHING:
            raise self._bad("a file that becomes /dev/null needs a `deleted file mode` line.")
        return "change"

    def _name(self, moved: tuple[str, ...], marked: str, *, absent: Kind) -> str | None:
        given = next((self._said[word] for word in moved if word in self._said), None)
        names = [] if given is None else [whole_name(*given)]
        if marked in self._said:
            name = header_name(*self._said[marked])
            if (name == NOTHING) != (self._kind() == absent):
                raise self._bad(f"{name!r} stands in its {marked}line.")
            if name != NOTHING:
                names.append(stripped(name, self._said[marked][1]))
        if self._kind() == absent:
            return None
        if self._kind() in ("add", "delete") and self._both is not None:
            names.append(self._both)
        one_sided = self._kind() == "change" and bool({"--- ", "+++ "} & self._said.keys())
        if not names and self._both is not None and not one_sided:
            names = [self._both]
        if len(set(names)) != 1:
            raise self._bad(f"it is not clear which file is meant: {names or 'none is named'}.")
        return checked(names[0], self._at + 1)

    def _mode(self) -> bool | None:
        """Whether it is to be executable; None: nothing is said of it."""
        words = ("new mode ", "new file mode ", "old mode ", "deleted file mode ")
        said = [self._said[word][0].strip() for word in words if word in self._said]
        said += self._said.get("index ", ("", 0))[0].split()[1:]
        for mode in said:
            if mode not in _PLAIN_FILES:
                raise self._bad(
                    f"mode {mode!r}: only plain files, 100644 and 100755, are patched, no links and"
                    " no submodules."
                )
        for word in ("new mode ", "new file mode "):
            if word in self._said:
                return self._said[word][0].strip() == "100755"
        return None

    def _bad(self, said: str) -> Exception:
        return bad_patch(self._at + 1, said)


def _refuse_binary(lines: list[bytes], at: int) -> None:
    if at < len(lines) and lines[at].startswith((b"GIT binary patch", b"Binary files ")):
        raise bad_patch(at + 1, "binary files are not patched: write them with a command.")
