"""What goes on from command to command: `ShellKeeping` over a `ShellBook`, and what `bash` is told.

Commands are run by the tools; here it is kept and told what they began with and what they left.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

from anyio import Lock, move_on_after

from holdfast.contract.commanding import CommandDone, CommandGround, Commanding
from holdfast.contract.errors import InvalidArguments, PolicyDenied
from holdfast.contract.json_value import clean_text
from holdfast.contract.managed.shell import (
    Closed,
    Moved,
    Opened,
    ShellGround,
    VariableChanged,
)
from holdfast.contract.managed.shell_views import ShellState
from holdfast.contract.shell import CommandText, PersistentFacts, ShellChange
from holdfast.runtime.managed.shell_book import ShellBook
from holdfast.runtime.managed.shell_ledger import Kept, command_id, remembered
from holdfast.runtime.managed.shell_names import checked_key, is_durable
from holdfast.runtime.managed.shell_room import LONGEST_VALUE, MOST_TOGETHER, fitting, has_room

_UNMOUNTED = "{!r} is not inside of a mount; sandbox_describe lists them."
_READ_ONLY = (
    "Writable commands run only in the session's workspace or a mounted repository, and {!r} is"
    " neither. Set another directory with shell_set_cwd, or give cwd."
)


class ShellKeeper:
    """Of one session."""

    def __init__(
        self, book: ShellBook, whole: Callable[[str, str], str | None] = lambda _name, _text: None
    ) -> None:
        """``whole``: keeps a text under a name, and says where."""
        self._book = book
        self._whole = whole
        self._moved: str | None = None
        """Where the live shell has to go before its next command."""
        self._forgotten: dict[str, None] = {}
        """What it has to forget."""
        self._meanwhile: set[str] = set()
        """What was set or unset since it was told last: its next command is told."""
        self._moved_meanwhile = False
        self._alone = Lock()

    @asynccontextmanager
    async def turn(self, seconds: float, /) -> AsyncGenerator[bool]:
        """Held by whoever runs a command in the persistent shell; whether their turn has come."""
        has_come = False
        with move_on_after(seconds):
            await self._alone.acquire()
            has_come = True
        try:
            yield has_come
        finally:
            if has_come:
                self._alone.release()

    async def ground(self) -> ShellGround:
        """What a command begins with."""
        state = await self._book.state()
        return ShellGround(
            cwd=state.cwd,
            environment=await self._book.values(),
            to_set_again=state.env.to_set_again,
        )

    async def move(self, path: str, /) -> Moved:
        """Have later commands run there."""
        place = self._book.placed(path)
        if place is None:
            raise InvalidArguments(
                _UNMOUNTED.format(path), field="path", expected="a directory inside a mount"
            )
        await self._book.change(cwd=place)
        self._moved, self._moved_meanwhile = place, True
        await self._book.show()
        return Moved(cwd=place, shell_state=await self._book.brief())

    def writable_place(self, path: str, field: str, /) -> str:
        """A directory in which a writable command may run."""
        place = self._book.placed(path, writable=True)
        if place is None:
            raise PolicyDenied(_READ_ONLY.format(path), field=field)
        return place

    async def set_variable(self, key: str, value: str, /) -> VariableChanged:
        """Have later commands begin with a variable."""
        name = checked_key("shell_set_env", key)
        if "\0" in value or not has_room({**await self._book.values(), name: value}):
            raise InvalidArguments(
                f"no program can be given {name} and what is set beside it; unset what is not"
                " needed with shell_unset_env, or put it into a file",
                field="value",
                expected=f"at most {LONGEST_VALUE:,} bytes without a zero byte, and"
                f" {MOST_TOGETHER:,} in all variables",
            )
        await self._book.change(variables={name: value})
        self._forgotten.pop(name, None)
        self._meanwhile.add(name)
        return await self._changed(name)

    async def unset_variable(self, key: str, /) -> VariableChanged:
        """Have them begin without it."""
        name = checked_key("shell_unset_env", key)
        if name in (await self._book.events.own()).keys:
            await self._book.change(forgotten=(name,))
        self._forgotten[name] = None
        self._meanwhile.add(name)
        return await self._changed(name)

    async def _changed(self, name: str) -> VariableChanged:
        await self._book.show()
        state = await self._book.brief()
        return VariableChanged(key=name, env=state.env, shell_state=state)

    async def change(self, variables: Mapping[str, str], *, alive: bool) -> ShellChange:
        """What a shell has to be told before its next command."""
        durable = await self._book.values()
        self._meanwhile.clear()
        self._moved_meanwhile = False
        if not alive:
            cwd = (await self._book.state()).cwd
            return ShellChange(cwd=self._book.placed(cwd), variables=durable)
        differs = {name: value for name, value in durable.items() if variables.get(name) != value}
        return ShellChange(cwd=self._moved, variables=differs, forgotten=tuple(self._forgotten))

    async def opened(self, facts: PersistentFacts, /) -> Opened:
        """The persistent shell is open."""
        known = (await self._book.events.own()).process
        if known is None or (known.shell_id, known.status) != (facts.shell_id, "active"):
            await self._book.change(process=(facts.shell_id, "active"))
            self._moved = None
            self._forgotten.clear()
        await self._book.show()
        state = await self._book.brief()
        return Opened(
            cwd=clean_text(facts.cwd),
            persistent_shell=state.persistent_shell,
            shell_state=state,
        )

    async def closed(self, shell_id: str | None, /) -> Closed:
        """It is not open any more."""
        known = (await self._book.events.own()).process
        told = shell_id or (None if known is None else known.shell_id)
        if told is not None and (known is None or known.status != "closed"):
            await self._book.change(process=(told, "closed"))
        await self._book.show()
        state = await self._book.brief()
        return Closed(closed=shell_id is not None, shell_id=told, shell_state=state)

    async def learned(self, facts: PersistentFacts, variables: Mapping[str, str], /) -> None:
        """A command in it has ended, and left this."""
        ledger, durable = await self._book.events.own(), await self._book.values()
        left = fitting({name: value for name, value in variables.items() if is_durable(name)})
        later = self._meanwhile
        new = {k: v for k, v in left.items() if durable.get(k) != v and k not in later}
        gone = tuple(name for name in durable if name not in left and name not in later)
        place = None if self._moved_meanwhile else self._book.placed(facts.cwd)
        moved = None if place is None or place == ledger.cwd else place
        if new or gone or moved is not None:
            await self._book.change(cwd=moved, variables=new, forgotten=gone)
        self._moved = self._moved if self._moved_meanwhile else None
        self._forgotten = {name: None for name in self._forgotten if name in later}

    async def ran(self, done: CommandDone, /) -> ShellState:
        """A command has run."""
        text = remembered(done, self._book.ground.clock.now().isoformat())
        await self._book.keep(Kept(done.call_id, text, done.persistent))
        await self._book.show()
        return await self._book.brief()

    def whole(self, call_id: str, text: str, /) -> str | None:
        """Keep what an answer shows a part of; where it is, if there is room. Blocking."""
        return self._whole(f"shell-{call_id}", self._book.ground.clean(text))

    def command_id(self, call_id: str, /) -> str:
        """By which a command of a call is known later."""
        return command_id(call_id)


class ManagedCommanding:
    """Commands of `bash` begin where the session's shell stands, and are remembered."""

    def __init__(self, form: Commanding, keeper: ShellKeeper) -> None:
        self._form = form
        self._keeper = keeper

    def form(self, command: str, /) -> CommandText:
        """As the profile runs it."""
        return self._form.form(command)

    async def ground(self) -> CommandGround:
        """Where the shell stands, and its variables."""
        found = await self._keeper.ground()
        return CommandGround(cwd=found.cwd, environment=found.environment)

    async def ran(self, done: CommandDone, /) -> None:
        """One has run."""
        await self._keeper.ran(done)
