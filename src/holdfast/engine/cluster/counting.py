"""How a cluster's streams stand: who keeps them, what waits, what is in hand, who listens.

It only looks. What is done about it is not known here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.link import Link

_ASK_SECONDS = 5.0
_NONE = frozenset({10059})
"""What the server says of a stream that is not there."""


class _Problem(msgspec.Struct, frozen=True):
    err_code: int = 0
    description: str = ""


class _State(msgspec.Struct, frozen=True):
    messages: int = 0
    bytes: int = 0
    subjects: dict[str, int] | None = None


class _Peer(msgspec.Struct, frozen=True):
    name: str = ""
    current: bool = False
    offline: bool = False


class _Group(msgspec.Struct, frozen=True):
    leader: str = ""
    replicas: tuple[_Peer, ...] = ()


class _Config(msgspec.Struct, frozen=True):
    filter_subject: str = ""


class _StreamAnswer(msgspec.Struct, frozen=True):
    error: _Problem | None = None
    state: _State = _State()
    cluster: _Group | None = None


class _Consumer(msgspec.Struct, frozen=True):
    config: _Config = _Config()
    num_pending: int = 0
    num_ack_pending: int = 0
    num_waiting: int = 0


class _ConsumersAnswer(msgspec.Struct, frozen=True):
    error: _Problem | None = None
    total: int = 0
    consumers: tuple[_Consumer, ...] = ()


class Keeper(msgspec.Struct, frozen=True, kw_only=True):
    """A server that keeps a stream."""

    name: str
    leads: bool
    is_current: bool


class StreamStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How one stands."""

    name: str
    messages: int
    bytes: int
    keepers: tuple[Keeper, ...]
    """The one that leads comes first."""


class LaneStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How the hints of one tenant, urgency and label stand."""

    tenant: str
    urgency: str
    label: str
    waits: int
    """Hints that nobody was handed yet."""
    in_hand: int
    listens: int
    """Workers with nothing to do, whose requests wait for the next hint."""


_A = TypeVar("_A", _StreamAnswer, _ConsumersAnswer)


async def stream_standing(link: Link, name: str) -> StreamStanding | None:
    """How a stream stands; None: it was not made yet. LinkError."""
    found = await _asked(link, f"STREAM.INFO.{name}", {}, _StreamAnswer)
    if found is None:
        return None
    group = found.cluster
    keepers: tuple[Keeper, ...] = ()
    if group is not None:
        led = (Keeper(name=group.leader, leads=True, is_current=True),) if group.leader else ()
        others = (
            Keeper(name=one.name, leads=False, is_current=one.current and not one.offline)
            for one in group.replicas
        )
        keepers = (*led, *others)
    state = found.state
    return StreamStanding(name=name, messages=state.messages, bytes=state.bytes, keepers=keepers)


async def lane_standings(link: Link) -> tuple[LaneStanding, ...]:
    """Every lane that workers asked for. LinkError."""
    lanes: list[LaneStanding] = []
    asked = 0
    while True:
        subject = f"CONSUMER.LIST.{link.names.wakes}"
        found = await _asked(link, subject, {"offset": asked}, _ConsumersAnswer)
        if found is None:
            return ()
        asked += len(found.consumers)
        lanes += filter(None, (_lane(link, one) for one in found.consumers))
        if not found.consumers or asked >= found.total:
            return tuple(sorted(lanes, key=lambda one: (one.tenant, one.label, one.urgency)))


async def unheard_lanes(link: Link, heard: Iterable[LaneStanding]) -> tuple[LaneStanding, ...]:
    """Lanes with hints that no worker ever asked for, as none has had their label. LinkError."""
    asked = {"subjects_filter": link.names.of_wakes[0]}
    found = await _asked(link, f"STREAM.INFO.{link.names.wakes}", asked, _StreamAnswer)
    known = {(one.tenant, one.urgency, one.label) for one in heard}
    waiting: Counter[tuple[str, str, str]] = Counter()
    for subject, count in ((found and found.state.subjects) or {}).items():
        to = link.names.read_wake(subject)
        if to is not None and (to.tenant, to.kind, to.label) not in known:
            waiting[to.tenant, to.kind, to.label] += count
    return tuple(
        LaneStanding(tenant=tenant, urgency=kind, label=label, waits=count, in_hand=0, listens=0)
        for (tenant, kind, label), count in sorted(waiting.items())
    )


def _lane(link: Link, one: _Consumer) -> LaneStanding | None:
    """None: it is none of ours."""
    to = link.names.read_wake(one.config.filter_subject)
    if to is None:
        return None
    return LaneStanding(
        tenant=to.tenant,
        urgency=to.kind,
        label=to.label,
        waits=one.num_pending,
        in_hand=one.num_ack_pending,
        listens=one.num_waiting,
    )


async def _asked(
    link: Link, subject: str, asked: Mapping[str, object], kind: type[_A]
) -> _A | None:
    body = msgspec.json.encode(asked)
    heard = await link.client.request(f"$JS.API.{subject}", body, {}, _ASK_SECONDS)
    try:
        answer = msgspec.json.decode(heard.body, type=kind)
    except msgspec.DecodeError:
        raise LinkError(f"what answers at {subject} is no JetStream") from None
    if answer.error is None:
        return answer
    if answer.error.err_code in _NONE:
        return None
    raise LinkError(f"NATS does not say how its streams stand ({answer.error.description})")
