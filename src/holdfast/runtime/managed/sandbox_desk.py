"""What a managed session's hand is made of, and which commands it runs unasked."""

from holdfast.contract.errors import PolicyDenied
from holdfast.contract.managed.sandbox import SandboxDescribed
from holdfast.contract.mounts import Mount
from holdfast.policy.command_policies import Grounds, refusal_of
from holdfast.policy.managed_bash import ManagedCommand, managed_command
from holdfast.runtime.managed.shell_book import ShellBook
from holdfast.runtime.managed.shell_reader import ShellReader

_CONSTRAINTS = (
    "A relative path begins in the workspace, wherever the shell stands.",
    "Where a path leads counts: a link that leads out of the mounts is refused.",
    "Read-only mounts are not written; unmounted paths are refused.",
    "Writable commands run confined to the workspace and are confirmed by a person, each time.",
    "Variables are shown by their names alone.",
)


class ManagedSandbox:
    """Of one session."""

    def __init__(self, book: ShellBook, reader: ShellReader) -> None:
        self._book = book
        self._reader = reader

    @property
    def resources(self) -> tuple[Mount, ...]:
        """What is mounted."""
        return self._book.ground.mounts

    async def described(self, resources: tuple[Mount, ...], /) -> SandboxDescribed:
        """The hand over these, but for its actions."""
        state = await self._book.state()
        writable = sum(one.access == "read_write" for one in resources)
        return SandboxDescribed(
            kind="local",
            summary=f"A hand over {len(resources)} mounted resources, {writable} of them writable.",
            provisioned_resource_count=len(resources),
            resources=resources,
            constraints=_CONSTRAINTS,
            command_policy=self._reader.policy(state.env.keys),
        )

    async def words(self, command: str, directory: str | None, /) -> tuple[str, ...]:
        """A command that only reads as its words, if the managed hand runs it there."""
        grounds = Grounds(roots=self._book.roots(), facts=self._book.places.facts)
        place = directory or (await self._book.state()).cwd
        reason = refusal_of("managed", command, grounds, place)
        judged = managed_command(command)
        if reason is not None or not isinstance(judged, ManagedCommand):
            raise PolicyDenied(reason or "This command is none that only reads.", field="command")
        return judged.words
