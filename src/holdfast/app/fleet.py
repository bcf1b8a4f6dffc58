"""What the `[cluster]` table makes of this process: where NATS is, and who is told what became due.

How an engine runs sessions is not known here.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from anyio import move_on_after

from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.app.store import clock_for
from holdfast.contract.bus import BusPlace
from holdfast.contract.journal import JournalUnavailable, Session
from holdfast.contract.ports import Clock
from holdfast.contract.session_state import due_micros
from holdfast.engine.cluster.announcing import HORIZON_MICROS, is_leased
from holdfast.engine.cluster.bus import bus_place
from holdfast.engine.cluster.door import LinkError, NatsServers
from holdfast.engine.cluster.hints import later_told, now_told
from holdfast.engine.cluster.link import Link, linked
from holdfast.engine.cluster.subjects import UnusableName

ANNOUNCE_SECONDS = 3.0
"""How long whoever wrote something down tries to tell workers; they find it by themselves, too."""

Announce = Callable[[Session], Awaitable[bool]]

_NO_SERVERS = (
    "no cluster is configured: cluster.servers is missing; write for example"
    ' servers = ["nats://10.0.0.1:4222"] below [cluster], or try one with: holdfast cluster up'
)
_NO_POSTGRES = (
    "store.kind is {}: many machines share a PostgreSQL alone; set"
    " store.kind = 'postgres' and HOLDFAST_STORE__URL"
)


def is_clustered(settings: Settings) -> bool:
    """Whether sessions are run by a fleet."""
    return settings.engine.kind == "cluster"


def check_fleet(settings: Settings) -> None:
    """ConfigurationError where no fleet can be joined as it is configured."""
    if not settings.cluster.servers:
        raise ConfigurationError(_NO_SERVERS)
    if settings.store.kind != "postgres":
        raise ConfigurationError(_NO_POSTGRES.format(settings.store.kind))


def servers_of(settings: Settings) -> NatsServers:
    """Where NATS is, and as whom one comes; ConfigurationError where none is named."""
    cluster = settings.cluster
    if not cluster.servers:
        raise ConfigurationError(_NO_SERVERS)
    return NatsServers(
        servers=cluster.servers,
        namespace=cluster.namespace,
        ca_file=cluster.ca_file,
        cert_file=cluster.cert_file,
        key_file=cluster.key_file,
        credentials_file=cluster.credentials_file,
        user=cluster.user,
        password=cluster.password,
        replicas=cluster.replicas,
    )


@asynccontextmanager
async def opened_link(settings: Settings) -> AsyncGenerator[Link]:
    """A connection to NATS; ConfigurationError, JournalUnavailable where none can be had."""
    async with AsyncExitStack() as stack:
        try:
            link = await stack.enter_async_context(linked(servers_of(settings)))
        except LinkError as problem:
            raise JournalUnavailable(str(problem)) from None
        yield link


def bus_of(settings: Settings) -> BusPlace | None:
    """How processes of other machines are reached; None: they are not."""
    if not is_clustered(settings) or not settings.cluster.servers:
        return None
    return bus_place(servers_of(settings))


def announcing(settings: Settings) -> Announce | None:
    """What tells workers that a session became due; None: there is no fleet."""
    if not is_clustered(settings) or not settings.cluster.servers:
        return None
    clock = clock_for(settings)
    return partial(announce, servers_of(settings), settings.cluster.own, clock=clock)


async def announce(servers: NatsServers, tenant: str, session: Session, *, clock: Clock) -> bool:
    """Tell that a session is due, as it stands; whether that was said.

    What somebody runs is theirs to look at, and what is not said here is found by a worker that
    looks: so nothing is raised.
    """
    now = clock.unix_ns() // 1000
    due = due_micros(session.state)
    if due is None or due > now + HORIZON_MICROS or is_leased(session, now):
        return False
    with move_on_after(ANNOUNCE_SECONDS):
        try:
            async with linked(servers) as link:
                told = (
                    now_told(link.names, tenant, session, now)
                    if due <= now
                    else later_told(link.names, tenant, session, due)
                )
                await link.tell(told.subject, told.body, told.headers, seconds=ANNOUNCE_SECONDS)
        except (LinkError, UnusableName):
            return False
        return True
    return False
