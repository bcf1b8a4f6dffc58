"""From a host as it is asked for to addresses that may be dialled.

The order is the point: the gate judges the name, only then is it resolved, and the gate judges each
address. Nothing is dialled here.
"""

import asyncio
from ipaddress import ip_address
from typing import NamedTuple

from holdfast.contract.gates import HostGate, Refusal, host_requirement
from holdfast.contract.net import Resolver

RESOLVING_SECONDS = 10.0
MOST_ADDRESSES = 8


class Admitted(NamedTuple):
    """A host that may be reached."""

    name: str
    """As it was judged: this is what it is called from now on."""
    addresses: tuple[str, ...]
    """Each was judged; nothing else may be dialled."""


class Unresolved(NamedTuple):
    """A host that may be reached and has no address."""

    reason: str


async def admit(
    gate: HostGate, resolver: Resolver, host: str, port: int
) -> Admitted | Refusal | Unresolved:
    """Judge a host, resolve it, judge what it resolves to."""
    leave = gate(f"{bracketed(host)}:{port}")
    if isinstance(leave, Refusal):
        return leave
    if is_address(leave.name):
        found: tuple[str, ...] = (leave.name,)
    else:
        try:
            async with asyncio.timeout(RESOLVING_SECONDS):
                found = await resolver(leave.name)
        except TimeoutError:
            return Unresolved(f"{leave.name} was not resolved within {RESOLVING_SECONDS:g} s")
        except OSError as problem:
            return Unresolved(f"{leave.name} cannot be resolved ({_said(problem)})")
    if not found:
        return Unresolved(f"{leave.name} has no address")
    reached = tuple(one for one in found if is_address(one) and leave.reaches(one))
    if reached:
        return Admitted(leave.name, reached[:MOST_ADDRESSES])
    return Refusal(
        reason=f"{leave.name} leads to {found[0]}, which is not granted.",
        target=leave.name,
        requirement=host_requirement(found[0], port),
    )


def is_address(text: str) -> bool:
    """Whether it is an address in the plain form that every program reads alike."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def bracketed(host: str) -> str:
    """As a host is written before a port."""
    return f"[{host}]" if ":" in host else host


def _said(problem: OSError) -> str:
    return problem.strerror or type(problem).__name__
