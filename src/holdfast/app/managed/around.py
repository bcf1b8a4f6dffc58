"""Who is asked around the runs of a managed session, and who says what is in its artifacts."""

import msgspec

from holdfast.app.managed import permissions
from holdfast.app.managed.basis import Basis
from holdfast.contract.json_value import JsonObject
from holdfast.runtime.managed.setup_book import SetupBook
from holdfast.runtime.managed.shell_book import SHOWN


class _Watch:
    """Says whether the setup changed since it was looked at before; the first look is no change."""

    def __init__(self, setup: SetupBook) -> None:
        self._setup = setup

    async def describe_now(self) -> bool:
        now = await self._setup.describe_now()
        return now.has_changed


def bring(basis: Basis) -> None:
    """Have the parts of a session know of each other around its runs."""
    brought, setup, desk = basis.brought, basis.setup, permissions.desk_of(basis)
    brought.setup = _Watch(setup)
    brought.memory = basis.memory
    brought.recall = basis.recall

    async def agent_setup() -> JsonObject:
        return msgspec.to_builtins(setup.now())

    async def environment() -> JsonObject:
        return msgspec.to_builtins(await setup.environment())

    async def vaults() -> JsonObject:
        return msgspec.to_builtins(setup.vaults())

    async def posture() -> JsonObject:
        return msgspec.to_builtins(await desk.describe())

    brought.pages.update(dict.fromkeys(SHOWN, basis.shells.book.files))
    brought.shows.update(
        agent_setup=agent_setup,
        environment=environment,
        vaults=vaults,
        permission_posture=posture,
    )
