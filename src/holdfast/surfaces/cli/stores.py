"""The store that a command line means, and what to say where the configuration names none.

Which sessions are in it, and what is done with them, is not known here.
"""

from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from holdfast.app import session_store
from holdfast.app.configuration import load_configuration
from holdfast.app.settings import Settings
from holdfast.app.store import NOTHING_KEPT, store_url
from holdfast.contract.journal import JournalUnavailable
from holdfast.record.store import Store
from holdfast.surfaces.cli.parsing import UsageError, overrides_in, workspace_in


def settings_in(arguments: Namespace) -> Settings:
    """What a command line with `--workspace` and `--set` stands for; a store is named there."""
    place = workspace_in(arguments)
    return with_a_store(load_configuration(place, overrides=overrides_in(arguments)).settings)


def with_a_store(settings: Settings) -> Settings:
    """The same settings; UsageError where they name no store, which nothing but they can mend."""
    if settings.store.kind == "none":
        raise UsageError(NOTHING_KEPT)
    check_address(settings)
    return settings


def check_address(settings: Settings) -> None:
    """UsageError where a database is named, and not where it is."""
    if settings.store.kind == "postgres":
        try:
            store_url(settings.store)
        except JournalUnavailable as problem:
            raise UsageError(str(problem)) from None


@asynccontextmanager
async def store_in(arguments: Namespace, *, make: bool = False) -> AsyncGenerator[Store]:
    """The store itself; UsageError, JournalError, NothingStored unless it is to be made."""
    async with session_store.opened_store(settings_in(arguments), make=make) as store:
        yield store
