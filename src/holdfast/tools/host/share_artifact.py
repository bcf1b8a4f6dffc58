"""`share_artifact`: hand a file, a directory or a text to the person the work is for."""

import posixpath

import msgspec

from holdfast.contract.artifacts import (
    ARTIFACT_END,
    ARTIFACT_START,
    Artifacts,
    KeptArtifact,
    artifact_name,
)
from holdfast.contract.builtin import builtin
from holdfast.contract.errors import (
    DirectoryNotFound,
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    Unavailable,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.paths import is_within
from holdfast.contract.runtime import Progress, Runtime, SessionFacts
from holdfast.contract.tool import ArgumentFault, Limits, OutputBound
from holdfast.tools.host.marker_block import given, holds_marker, kept_facts, marker_block
from holdfast.tools.host.media_types import BYTES, DIRECTORY, TEXT, media_type

MOST_CONTENT = 128 * 1024
"""Characters of a text that is not in a file: it comes back with the answer."""
_ALSO_IN = ("output", "out", "build", "dist")
_MARKED = (
    "It holds a marker ({where}), by which a surface finds artifacts in an answer. Write it to a"
    " file, and share that by its path."
)

_LEFT_OUT = "{:,} left out: links, special files, and what may not be read"


class SharedArtifact(msgspec.Struct, frozen=True):
    """The block a surface looks for."""

    text: str


def _guard(arguments: JsonObject, session: SessionFacts) -> ArgumentFault | None:
    """A path that by its text alone lies outside of the home."""
    path = arguments.get("path")
    if not isinstance(path, str) or not path or session.workspace is None:
        return None
    if "\0" in path:
        return ArgumentFault(message=_outside(path, session.workspace, "a NUL byte"), field="path")
    if not is_within(_joined(session.workspace, path), session.workspace):
        return ArgumentFault(message=_outside(path, session.workspace), field="path")
    return None


@builtin(
    requires={"fs": {"read": ["**"]}},
    uses={"path": "fs.read"},
    guard=_guard,
    read_only=False,
    effects=("resource_read", "session_write"),
    acp_kind="other",
    interrupt_behavior="cancel",
    parallel_safe=True,
    limits=Limits(output=OutputBound(max_bytes=1024 * 1024)),
)
def share_artifact(
    rt: Runtime,
    artifacts: Artifacts,
    path: str | None = None,
    content: str | None = None,
    filename: str | None = None,
    description: str | None = None,
) -> SharedArtifact:
    r"""Share a file, a directory or a text with the user: it is copied to their artifact folder.

    Give path for something that exists, or content together with filename for a short text; when
    both are given the path wins. In content, \n and \t are taken as line break and tab: share
    source code by its path. Example: {"path": "output/report.pdf", "description": "The report"}

    Args:
        path: A file or directory below the home.
        content: The text itself, if it is in no file.
        filename: What it shall be called: a plain name, without any directory.
        description: What it is, in one sentence.
    """
    if description is not None and holds_marker(description):
        raise InvalidArguments(_MARKED.format(where="description"), field="description")
    if filename:
        _check_name(filename)
    if path:
        return _shared_path(rt, artifacts, path, filename, description)
    if not content:
        raise InvalidArguments(
            "There is nothing to share: give the path of a file, or content together with"
            " filename.",
            field="path",
        )
    if not filename:
        raise InvalidArguments(
            "content needs a filename: a plain basename such as `notes.md`.", field="filename"
        )
    return _shared_text(artifacts, _unescaped(content), filename, description)


def _shared_path(
    rt: Runtime, artifacts: Artifacts, path: str, filename: str | None, description: str | None
) -> SharedArtifact:
    source = _found(rt, path)
    name = filename or _safe(posixpath.basename(source.rstrip("/")))
    if holds_marker(path):
        raise InvalidArguments(_MARKED.format(where="path"), field="path")
    rt.progress(Progress(message=f"Copying {name}"))
    kept = artifacts.copy(source, name)
    kind = DIRECTORY if kept.is_directory else media_type(name, BYTES)
    facts = given({"mime_type": kind, "path": path, "description": description})
    return _block(artifacts, kept, facts, None)


def _shared_text(
    artifacts: Artifacts, content: str, filename: str, description: str | None
) -> SharedArtifact:
    if holds_marker(content):
        raise InvalidArguments(_MARKED.format(where="content"), field="content")
    if len(content) > MOST_CONTENT:
        raise InvalidArguments(
            f"content has {len(content):,} characters, and {MOST_CONTENT:,} at most are taken."
            " Write it to a file, and share that by its path.",
            field="content",
        )
    kept = artifacts.write(filename, content.encode("utf-8", "surrogatepass"))
    kind = media_type(filename, TEXT)
    facts = given({"mime_type": kind, "has_content": True, "description": description})
    return _block(artifacts, kept, facts, content)


def _block(
    artifacts: Artifacts, kept: KeptArtifact, facts: JsonObject, content: str | None
) -> SharedArtifact:
    context = kept_facts(kept, artifacts.context_id, artifacts.context_type)
    said: JsonObject = {"filename": kept.name, **facts, **context}
    left = f" ({_LEFT_OUT.format(kept.left_out)})" if kept.left_out else ""
    header = f"Shared {kept.name}{left}."
    return SharedArtifact(marker_block(header, ARTIFACT_START, said, content, ARTIFACT_END))


def _found(rt: Runtime, path: str) -> str:
    """The first candidate there is."""
    home = rt.session.workspace
    if home is None:
        raise Unavailable("This session has no workspace, so there is nothing to share by path.")
    name = posixpath.basename(path.rstrip("/"))
    candidates = [_joined(home, path), *(f"{home}/{folder}/{name}" for folder in _ALSO_IN)]
    for place, candidate in enumerate(candidates):
        try:
            rt.fs.stat(candidate)
        except (FileNotFound, DirectoryNotFound):
            continue
        except PolicyDenied as refused:
            if place:
                continue
            raise InvalidArguments(_outside(path, home, str(refused)), field="path") from None
        return candidate
    tried = "\n".join(f"- {candidate}" for candidate in candidates)
    raise OperationFailed(f"There is no {path} to share. Tried, in this order:\n{tried}")


def _joined(home: str, path: str) -> str:
    return "/" + posixpath.normpath(posixpath.join(home, path)).lstrip("/")


def _outside(path: str, home: str, why: str = "it leads outside of the trusted root") -> str:
    return (
        f"The path `{path[:200]}` is refused: {why}. Only what lies below the trusted root"
        f" {home} can be shared. Find the file with sandbox_search_files, and use the path it"
        " gives."
    )


def _check_name(filename: str) -> None:
    wrong = artifact_name(filename)
    if wrong is not None:
        raise InvalidArguments(
            f"The filename is refused: {wrong}. Give a plain basename such as `report.pdf`.",
            field="filename",
            expected="a plain basename",
        )


def _safe(name: str) -> str:
    """A name that is on the disk already, as an artifact can be called."""
    kept = "".join(one if one.isprintable() and one != "\\" else "_" for one in name)
    kept = kept.encode("utf-8", "replace")[-200:].decode("utf-8", "ignore")
    return "artifact" if artifact_name(kept) is not None else kept


def _unescaped(content: str) -> str:
    return content.replace("\\n", "\n").replace("\\t", "\t")
