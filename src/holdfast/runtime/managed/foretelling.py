"""What is known of a call that shares something before a person is asked about it: why it is bound
to be refused. Nothing is changed, and what the call checks itself it checks again.
"""

from collections.abc import Callable

from holdfast.contract.errors import ToolError
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.memory import MemoryWrite
from holdfast.contract.managed.resources import Wanted
from holdfast.contract.runtime import Runtime
from holdfast.envelope.from_error import failure_from
from holdfast.runtime.managed.memory_book import MemoryBook
from holdfast.runtime.managed.resource_port import CallFiles
from holdfast.runtime.managed.sharing import PROMOTE

SHARE, RESTORE = "resources_promote_to_substrate", "resources_restore_version"


class Foretelling:
    """Of one session."""

    def __init__(self, memory: MemoryBook, files: Callable[[Runtime], CallFiles]) -> None:
        """``files``: the shared files, as a call reaches them."""
        self._memory = memory
        self._files = files

    async def failure(self, call: Runtime, given: JsonObject) -> Failure | None:
        """Why it cannot work; None: nothing is known that speaks against it."""
        try:
            await self._tried(call, given)
        except ToolError as problem:
            return failure_from(problem, tool=call.tool)
        except OSError:
            pass  # the call itself tells it, should it be so then
        return None

    async def _tried(self, call: Runtime, given: JsonObject) -> None:
        match call.tool:
            case "memory_promote_note":
                note = MemoryWrite(
                    content=_text(given, "content") or "",
                    mode="append" if given.get("mode") == "append" else "replace",
                    expected_version_id=_text(given, "expected_version_id"),
                )
                await self._memory.sharing.passed(note, required=_wanted(PROMOTE, given)[0])
            case "resources_promote_to_substrate":
                source = _text(given, "source_path")
                if source is not None:
                    wanted = _wanted(SHARE, given)[1]
                    target, overwrite = _text(given, "target_path"), given.get("overwrite") is True
                    files = self._files(call).sharing
                    await files.may_promote(source, target, wanted, overwrite=overwrite)
            case "resources_restore_version":
                version = _text(given, "version_id")
                if version is not None:
                    await self._files(call).sharing.may_restore(version, _wanted(RESTORE, given)[1])
            case _:
                pass


def _wanted(tool: str, given: JsonObject) -> tuple[bool | None, Wanted]:
    said = given.get("require_outcome_pass")
    required = said if isinstance(said, bool) else None
    return required, Wanted(
        tool=tool,
        require_outcome_pass=required,
        expected_version_id=_text(given, "expected_version_id"),
        expected_content_hash=_text(given, "expected_content_hash"),
    )


def _text(given: JsonObject, name: str) -> str | None:
    value = given.get(name)
    return (value.strip() or None) if isinstance(value, str) else None
