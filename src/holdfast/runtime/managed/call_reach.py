"""The files of one call: each is looked at through the call's own hand, so that rules count, and
then opened through no link.

What is done with them is not known here.
"""

from collections.abc import Callable

from anyio import to_thread

from holdfast.contract.errors import FileNotFound, InvalidArguments, PathOutsideRoot, PolicyDenied
from holdfast.contract.files import Files
from holdfast.contract.versions import content_hash
from holdfast.execution.files.rooted import Found
from holdfast.runtime.managed.mount_paths import Placed
from holdfast.runtime.managed.substrate import read


class CallReach:
    """Of one call."""

    def __init__(self, files: Callable[[], Files], against: Callable[[str], str | None]) -> None:
        """``against``: what rules say against writing to a path of a mount that is else only read;
        None: nothing."""
        self._files = files
        self._against = against

    async def admitted(self, place: Placed) -> bool:
        """Whether something is there; PolicyDenied where the call may not read it."""

        def look() -> bool:
            try:
                self._files().stat(place.full)
            except FileNotFound:
                return False
            return True

        return await to_thread.run_sync(look)

    async def writable(self, place: Placed) -> None:
        """PolicyDenied where the call may not read it, or a rule speaks against writing there."""
        await self.admitted(place)
        said = await to_thread.run_sync(self._against, place.full)
        if said is not None:
            raise PolicyDenied(said)

    async def found(self, place: Placed, field: str) -> Found | None:
        """The file that an argument names; None: there is none. InvalidArguments: it is no file."""
        if not await self.admitted(place):
            return None
        try:
            return await read(place)
        except InvalidArguments as problem:
            raise InvalidArguments(str(problem), field=field, expected=problem.expected) from None

    async def there(self, place: Placed, field: str) -> Found:
        """The file that an argument names; FileNotFound, InvalidArguments."""
        found = await self.found(place, field)
        if found is None:
            raise FileNotFound(f"There is no {place.full}.", field=field)
        return found

    async def held(self, place: Callable[[], Placed]) -> str | None:
        """The hash of a file; None: no file that this call can read is there, or may be named."""
        try:
            found = await self.found(place(), "path")
        except (InvalidArguments, PathOutsideRoot, PolicyDenied):
            return None
        return None if found is None else content_hash(found.content)

    async def copy(self, content: bytes, target: Placed, *, is_new: bool) -> None:
        """Write it as `write` would."""

        def write() -> None:
            self._files().write(target.full, content, new=is_new)

        await to_thread.run_sync(write)
