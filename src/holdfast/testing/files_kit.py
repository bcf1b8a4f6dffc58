"""What every implementation of `Files` must do; the real one and the fake pass the same kit.

Each check is told with what the workspace holds and gets a fresh one. Nothing of a test runner is
needed: what went wrong is an AssertionError.
"""

import codecs
from collections.abc import Callable, Mapping
from typing import Protocol

from holdfast.contract.errors import (
    BinaryFile,
    DirectoryNotFound,
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    ToolError,
)
from holdfast.contract.files import Files

CLOSED = "closed"
"""A folder of the workspace that may neither be read nor written."""
LARGEST_READ = 1000
"""What a workspace for the kit reads at once, at most."""


class MakeFiles(Protocol):
    """Makes a fresh workspace."""

    def __call__(self, files: Mapping[str, bytes], links: Mapping[str, str], /) -> Files:
        """With these files and links, paths relative to it; reads at most `LARGEST_READ` at once.

        In reach is what physically lies in the workspace, except below `CLOSED`.
        """
        ...


def check_files(make: MakeFiles) -> None:
    """Everything below."""
    for check in (
        _reads,
        _reads_in_parts,
        _reads_text,
        _keeps_what_is_no_text,
        _writes,
        _writes_on_conditions,
        _refuses_to_write,
        _edits,
        _edits_what_is_odd,
        _removes,
        _makes_directories,
        _lists_and_walks,
        _follows_links_only_within_reach,
        _stays_within_reach,
    ):
        check(make)


def _reads(make: MakeFiles) -> None:
    files = make({"docs/a.txt": b"0123456789", "big": b"x" * 1001}, {})
    facts = files.stat("docs/a.txt")
    _same(
        (facts.path, facts.name, facts.kind, facts.byte_count), ("docs/a.txt", "a.txt", "file", 10)
    )
    _same((files.stat(".").path, files.stat(".").kind), (".", "directory"))
    _same([files.exists(name) for name in ("docs", "docs/a.txt", "none")], [True, True, False])
    _same(files.read_bytes("docs/a.txt"), b"0123456789")
    _same(files.read_bytes("docs/../docs/a.txt", start=8), b"89")
    _same(files.read_bytes("docs/a.txt", start=2, limit=3), b"234")
    for beyond in (20, 1 << 62, 1 << 63, 1 << 80):
        _same(files.read_bytes("docs/a.txt", start=beyond, limit=1 << 80), b"")
        _same(files.read_bytes("docs/a.txt", start=beyond), b"")
    _same(files.read_bytes("docs/a.txt", limit=0), b"")
    _same(files.read_bytes("big", start=1), b"x" * 1000)
    _same(files.read_bytes("big", limit=7), b"x" * 7)
    for limit in (None, 1001, 5000):
        _fails(
            OperationFailed, lambda limit=limit: files.read_bytes("big", limit=limit), "too_large"
        )
    _fails(FileNotFound, lambda: files.stat("none"))
    _fails(FileNotFound, lambda: files.read_bytes("docs/none"))
    _fails(InvalidArguments, lambda: files.read_bytes("docs"))
    _fails(InvalidArguments, lambda: files.read_bytes("docs/a.txt", start=-1))
    _fails(InvalidArguments, lambda: files.read_bytes("docs/a.txt", limit=-1))


def _reads_in_parts(make: MakeFiles) -> None:
    files = make({"d/big": b"x" * 2000 + b"end"}, {"near": "d/big"})
    for name in ("d/big", "near"):
        with files.opened(name) as opened:
            _same(opened.byte_count, 2003)
            _same([opened.read(1999, 3), opened.read(2001, 50)], [b"xen", b"nd"])
            _same([opened.read(2003, 1), opened.read(9999, 5), opened.read(0, 0)], [b"", b"", b""])
            files.write("d/big", b"other")
            _same(opened.read(2000, 3), b"end")  # the same file, under whatever name
        files.write("d/big", b"x" * 2000 + b"end")
    _fails(FileNotFound, lambda: _entered(files, "none"))
    _fails(InvalidArguments, lambda: _entered(files, "d"))


def _entered(files: Files, path: str) -> int:
    with files.opened(path) as opened:
        return opened.byte_count


_TEXT = "é\r\nx\r\ny\n"


def _reads_text(make: MakeFiles) -> None:
    marked = {
        "utf-8": b"",
        "utf-8-sig": codecs.BOM_UTF8,
        "utf-16-le": codecs.BOM_UTF16_LE,
        "utf-16-be": codecs.BOM_UTF16_BE,
        "utf-32-le": codecs.BOM_UTF32_LE,
        "utf-32-be": codecs.BOM_UTF32_BE,
    }
    for encoding, mark in marked.items():
        content = mark + _TEXT.encode(encoding.removesuffix("-sig"))
        files = make({"t": content}, {})
        found = files.read_text("t")
        _same((found.text, found.encoding, found.mark), (_TEXT, encoding, mark))
        _same((found.newline, found.byte_count), ("\r\n", len(content)))
        _same(files.write("t", content).revision, found.revision)
        _differ(files.write("t", b"other").revision, found.revision)
    for text, newline in (("", "\n"), ("a\rb\rc\n", "\r"), ("a\nb\r", "\n")):
        _same(make({"t": text.encode()}, {}).read_text("t").newline, newline)


def _keeps_what_is_no_text(make: MakeFiles) -> None:
    binaries = (
        b"a\0b",
        b"caf\xe9",
        codecs.BOM_UTF8 + b"\xff",
        codecs.BOM_UTF16_LE + b"\0\xd8",
        b"\x89PNG\r\n\x1a\n\0",
    )
    for content in binaries:
        files = make({"b": content}, {})
        problem = _fails(BinaryFile, lambda files=files: files.read_text("b"))
        _expect(str(len(content)) in str(problem), f"{problem} does not tell the size")
    files = make({"b": b"caf\xe9"}, {})
    _same(files.read_text("b", encoding="latin-1").text, "café")
    problem = _fails(BinaryFile, lambda: files.read_text("b", encoding="UTF-8"))
    _expect("3" in str(problem), f"{problem} does not tell the position")
    for encoding in ("nonsense", "hex", "a\0b", "\ud800", ""):
        _fails(InvalidArguments, lambda name=encoding: files.read_text("b", encoding=name))


def _writes(make: MakeFiles) -> None:
    files = make({"old.txt": b"old"}, {})
    written = files.write("a/b/new.txt", "é")
    _same((written.path, written.byte_count, written.created), ("a/b/new.txt", 2, True))
    _same(files.read_bytes("a/b/new.txt"), "é".encode())
    _same(written.revision, files.read_text("a/b/new.txt").revision)
    mode = files.stat("old.txt").mode
    written = files.write("./old.txt", b"new")
    _same((written.path, written.created), ("old.txt", False))
    _same((files.read_bytes("old.txt"), files.stat("old.txt").mode), (b"new", mode))
    files.write("old.txt", b"newer", mode=0o600)
    _same(files.stat("old.txt").mode, 0o600)
    files.write("old.txt", b"")
    _same((files.read_bytes("old.txt"), files.stat("old.txt").mode), (b"", 0o600))
    for path in ("none/", "a/"):
        _fails(InvalidArguments, lambda path=path: files.write(path, b""))
    files.write("run.sh", b"", mode=0o755)
    _same(files.stat("run.sh").mode, 0o755)


def _writes_on_conditions(make: MakeFiles) -> None:
    files = make({"t": b"1"}, {})
    _fails(OperationFailed, lambda: files.write("t", b"2", new=True), "exists")
    _expect(files.write("n", b"2", new=True).created, "a new file was not created")
    read = files.read_text("t")
    files.write("t", b"2", revision=read.revision)
    _fails(OperationFailed, lambda: files.write("t", b"3", revision=read.revision), "stale")
    _fails(OperationFailed, lambda: files.write("gone", b"3", revision=read.revision), "stale")
    _same((files.read_bytes("t"), files.exists("gone")), (b"2", False))


def _refuses_to_write(make: MakeFiles) -> None:
    files = make({"d/t": b"1"}, {})
    _fails(InvalidArguments, lambda: files.write("d", b"x"))
    _fails(InvalidArguments, lambda: files.write("d/t", b"x", mode=0o4755))
    _fails(InvalidArguments, lambda: files.write("d/t", b"x", mode=-1))
    _fails(InvalidArguments, lambda: files.write("d/t", "\ud800"))
    _same([one.name for one in files.walk()], ["d", "t"])
    _same(files.read_bytes("d/t"), b"1")


def _edits(make: MakeFiles) -> None:
    files = make({"t": b"one\r\ntwo\r\n", "plain": b"a"}, {})
    seen: list[str] = []

    def change(text: str) -> str:
        seen.append(text)
        return text.replace("one\ntwo", "1\n2\r\n3")

    written = files.edit("t", change)
    _same((seen, written.created, written.byte_count), (["one\ntwo\n"], False, 9))
    _same(files.read_bytes("t"), b"1\r\n2\r\n3\r\n")
    before = files.stat("t")
    _same(files.edit("t", lambda text: text).revision, written.revision)
    _same(files.stat("t"), before)
    _fails(FileNotFound, lambda: files.edit("none", lambda text: text + "x"))
    _fails(InvalidArguments, lambda: files.edit("t", lambda text: text + "\ud800"))
    _fails(OperationFailed, lambda: files.edit("t", lambda t: files.write("t", t) and "x"), "busy")
    _same(files.read_bytes("t"), b"1\r\n2\r\n3\r\n")
    files.edit("plain", lambda text: text + "b")
    _same(files.read_bytes("plain"), b"ab")


def _edits_what_is_odd(make: MakeFiles) -> None:
    marked = codecs.BOM_UTF16_BE + "a\rb\r".encode("utf-16-be")
    files = make({"m": marked, "mixed": b"a\r\nb\nc\r", "b": b"\0", "s": codecs.BOM_UTF8}, {})
    files.edit("m", lambda text: text.replace("a\nb", "c\nd"))
    _same(files.read_bytes("m"), codecs.BOM_UTF16_BE + "c\rd\r".encode("utf-16-be"))
    files.edit("mixed", lambda text: text.replace("b\n", "B\n"))
    _same(files.read_bytes("mixed"), b"a\r\nB\nc\r")
    files.edit("s", lambda text: text + "x")
    _same(files.read_bytes("s"), codecs.BOM_UTF8 + b"x")
    _fails(BinaryFile, lambda: files.edit("b", lambda text: text))


def _removes(make: MakeFiles) -> None:
    files = make({"d/t": b"1", "u": b"2"}, {"d/near": "t", "d/lost": "none"})
    files.remove("u")
    _expect(not files.exists("u"), "what was removed exists")
    _fails(FileNotFound, lambda: files.remove("u"))
    _fails(OperationFailed, lambda: files.remove("d"), "not_empty")
    files.remove("d/near")
    _same(files.read_bytes("d/t"), b"1")
    files.remove("d/lost")
    files.remove("d/t")
    _same(files.list("d"), ())
    files.remove("d")
    _same(files.list(), ())


def _makes_directories(make: MakeFiles) -> None:
    files = make({"t": b""}, {})
    files.make_directory("a/b/c")
    files.make_directory("a/b")
    _same([one.path for one in files.walk("a")], ["a/b", "a/b/c"])
    _fails(InvalidArguments, lambda: files.make_directory("t"))


def _lists_and_walks(make: MakeFiles) -> None:
    tree = {"b/x": b"12", "b/a/deep": b"", "b-c": b"", "a": b"", f"{CLOSED}/secret": b""}
    files = make(tree, {"b/link": "../a", "loop": "."})
    _same([one.name for one in files.list()], ["a", "b", "b-c", CLOSED, "loop"])
    listed = [(one.path, one.kind, one.byte_count) for one in files.list("b") if one.kind == "file"]
    _same(listed, [("b/x", "file", 2)])
    walk = ["a", "b", "b/a", "b/a/deep", "b/link", "b/x", "b-c", CLOSED, "loop"]
    _same([one.path for one in files.walk()], walk)
    _same([one.path for one in files.walk() if one.closed], [CLOSED])
    kinds = {one.path: one.kind for one in files.walk()}
    _same((kinds["b/link"], kinds["loop"], kinds["b"]), ("link", "link", "directory"))
    _same([one.path for one in files.walk("b/a")], ["b/a/deep"])
    _same([one.path for one in files.list("loop/b/a")], ["b/a/deep"])
    for look in (files.list, files.walk):
        _fails(DirectoryNotFound, lambda look=look: tuple(look("none")))
        _fails(InvalidArguments, lambda look=look: tuple(look("a")))


def _follows_links_only_within_reach(make: MakeFiles) -> None:
    links = {"near": "d/t", "out": "../outside", "up": "..", "into": f"{CLOSED}/secret"}
    files = make({"d/t": b"1", f"{CLOSED}/secret": b"s"}, links)
    _same(files.read_bytes("near"), b"1")
    _same((files.stat("near").path, files.stat("near").kind), ("d/t", "file"))
    _same(files.write("near", b"2").path, "d/t")
    _same((files.read_bytes("d/t"), files.list()[2].kind), (b"2", "link"))
    for name in ("out", "up/x", "into", "up"):
        _refused(files, name)


def _stays_within_reach(make: MakeFiles) -> None:
    files = make({f"{CLOSED}/secret": b"s"}, {})
    for name in ("..", "../x", "/", "/etc/passwd", f"{CLOSED}/secret", f"{CLOSED}/new", "a\0b", ""):
        _refused(files, name)
    _refused(files, CLOSED)


def _refused(files: Files, path: str) -> None:
    uses: dict[str, Callable[[], object]] = {
        "stat": lambda: files.stat(path),
        "opened": lambda: _entered(files, path),
        "read_bytes": lambda: files.read_bytes(path),
        "read_text": lambda: files.read_text(path),
        "write": lambda: files.write(path, b"x"),
        "edit": lambda: files.edit(path, lambda text: text + "x"),
        "make_directory": lambda: files.make_directory(path),
        "remove": lambda: files.remove(path),
        "list": lambda: files.list(path),
        "walk": lambda: tuple(files.walk(path)),
    }
    _expect(not files.exists(path), f"{path!r} exists, out of reach")
    for use in uses.values():
        refused = _fails(PolicyDenied, use)
        _same(refused.extras["target"], path)
        _expect("requirement" in refused.extras, "a refusal does not name its requirement")


def _fails(
    wanted: type[ToolError], use: Callable[[], object], reason: str | None = None
) -> ToolError:
    try:
        given = use()
    except ToolError as problem:
        _expect(isinstance(problem, wanted), f"{problem!r} is no {wanted.__name__}")
        if reason is not None:
            _same(problem.extras.get("reason"), reason)
        return problem
    raise AssertionError(f"{given!r} instead of a {wanted.__name__}")


def _same(found: object, wanted: object) -> None:
    _expect(found == wanted, f"{found!r}, not {wanted!r}")


def _differ(found: object, other: object) -> None:
    _expect(found != other, f"twice {found!r}")


def _expect(held: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion reads best this way
    if not held:
        raise AssertionError(otherwise)
