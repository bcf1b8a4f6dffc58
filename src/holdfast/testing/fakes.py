"""A fake for every port: deterministic, in memory, honest about what it was asked."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

from holdfast.contract.audit import ProgramRun
from holdfast.contract.backend import BackendTool, ToolResult
from holdfast.contract.call import Ask
from holdfast.contract.ports import (
    Answer,
    IdPrefix,
    PathProblem,
    PathTrouble,
    PathView,
    StoredOutput,
)
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import Progress
from holdfast.contract.truncate import cut_utf8

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """Time that moves only when told to."""

    def __init__(self, start: datetime = _EPOCH) -> None:
        self._now = start
        self._ticks = 0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)
        self._ticks += int(seconds * 1_000_000_000)

    def set_to(self, moment: datetime) -> None:
        """Somebody puts the wall clock right; no time passes by that."""
        self._now = moment

    def now(self) -> datetime:
        """The time it was set to."""
        return self._now

    def unix_ns(self) -> int:
        """The same, in nanoseconds."""
        return int(self._now.timestamp() * 1_000_000) * 1_000

    def ticks(self) -> int:
        """Nanoseconds since it was made."""
        return self._ticks


class FakeIds:
    """Ids that count up."""

    def __init__(self) -> None:
        self._given = 0

    def new(self, prefix: IdPrefix) -> str:
        """The next one."""
        self._given += 1
        return f"{prefix}_{self._given:012x}{'0' * 14}"


class FakeApprover:
    """Answers from a list; with the list used up, nobody is there."""

    def __init__(self, answers: Iterable[Answer | None] = ()) -> None:
        self._answers = list(answers)
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask, /) -> Answer | None:
        """The next answer."""
        self.asked.append(ask)
        return self._answers.pop(0) if self._answers else None


class FakeAudit:
    """Keeps what ran in memory."""

    def __init__(self) -> None:
        self.runs: list[ProgramRun] = []

    def ran(self, run: ProgramRun, /) -> None:
        """Remember it."""
        self.runs.append(run)


class FakeSidecars:
    """Keeps outputs in memory, under a quota per session."""

    def __init__(self, session_quota: int = 1 << 30) -> None:
        self._quota = session_quota
        self.kept: dict[str, dict[str, bytes]] = {}

    def keep(self, session_id: str, name: str, content: bytes) -> StoredOutput | None:
        """Remember as much as the quota allows."""
        session = self.kept.setdefault(session_id, {})
        room = self._quota - sum(len(stored) for stored in session.values())
        shown = cut_utf8(content, max(room, 0))
        path = f"/sidecars/{session_id}/{name}"
        if (content and not shown) or path in session:
            return None
        session[path] = shown
        return StoredOutput(path=path, stored_bytes=len(shown))

    def forget(self, session_id: str) -> None:
        """Drop the session's outputs."""
        self.kept.pop(session_id, None)


class FakeProgress:
    """Remembers every sign of life."""

    def __init__(self) -> None:
        self.heard: list[Progress] = []

    def __call__(self, progress: Progress, /) -> None:
        """Remember."""
        self.heard.append(progress)


class FakeFlowSession:
    """A flow session whose sandbox answers from a list and remembers what was dispatched."""

    def __init__(self, answers: Iterable[ToolResult | bool] = (), *, sandbox: bool = True) -> None:
        self._answers = list(answers)
        self._has_sandbox = sandbox
        self.dispatched: list[BackendTool] = []

    def require_sandbox(self) -> "FakeFlowSession":
        """Itself, or the error of a session without a sandbox."""
        if not self._has_sandbox:
            raise RuntimeError(
                'session has no sandbox backend; call session.to("local") or'
                " session.bind_sandbox(...)"
            )
        return self

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        """Remember the payload; give the next answer."""
        self.dispatched.append(payload)
        return self._answers.pop(0) if self._answers else True


class FakeGrants:
    """Remembers a project's grants in memory."""

    def __init__(self, grants: Iterable[Rule] = ()) -> None:
        self._grants = list(grants)

    def load(self) -> tuple[Rule, ...]:
        """The grants given so far."""
        return tuple(self._grants)

    def add(self, grants: Sequence[Rule], /) -> None:
        """Keep these too."""
        self._grants += grants


class FakePaths:
    """A file system in memory: files and links; everything else may be a directory."""

    def __init__(
        self,
        files: Iterable[str] = (),
        links: Mapping[str, str] | None = None,
    ) -> None:
        self._files = frozenset(files)
        self._links = dict(links or {})

    def look(self, path: str, base: str | None, /) -> PathView | PathProblem:
        """Follow a path as it is written."""
        if not path or "\0" in path:
            return PathProblem("nul" if path else "empty")
        if not path.startswith("/") and base is None:
            return PathProblem("no_workspace")
        whole = path if path.startswith("/") else f"{base}/{path}"
        lexical = posixpath.normpath("/" + whole.lstrip("/"))
        if not _is_text(whole):
            return PathProblem("not_text", lexical)
        if len(whole) >= 4096 or any(len(part) > 255 for part in whole.split("/")):
            return PathProblem("too_long", lexical)
        physical = self._follow(PurePosixPath("/"), whole.split("/"), 0)
        if isinstance(physical, PurePosixPath):
            return PathView(lexical, str(physical))
        return PathProblem(physical, lexical)

    def _follow(
        self, at: PurePosixPath, parts: list[str], links: int
    ) -> "PurePosixPath | PathTrouble":
        for place, part in enumerate(parts):
            if str(at) in self._files:
                return "not_a_directory"
            at = at.parent if part == ".." else at / part
            target = self._links.get(str(at))
            if target is not None:
                if links == 40:
                    return "loop"
                start = PurePosixPath("/") if target.startswith("/") else at.parent
                rest = [*target.split("/"), *parts[place + 1 :]]
                return self._follow(start, rest, links + 1)
        return at


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
