"""Addresses in every spelling programs accept, and which of them lie inside.

Text and arithmetic: nothing is looked up. Where two programs would read a number differently it is
read as the C library does, and what is handed on is the plain form, which everybody reads alike.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import TypeAlias

from holdfast.contract.late_pattern import late_pattern

Address: TypeAlias = IPv4Address | IPv6Address

_NUMBER = late_pattern(r"0[xX][0-9a-fA-F]*|[0-9]+")
_PARTS = 4

_INSIDE_4 = tuple(
    (int(IPv4Address(start)), -1 << (32 - length))
    for start, length in (
        ("0.0.0.0", 8),  # this machine
        ("10.0.0.0", 8),
        ("100.64.0.0", 10),  # behind a provider's translator; some clouds' metadata
        ("127.0.0.0", 8),
        ("168.63.129.16", 32),  # a cloud's host agent, though the number looks public
        ("169.254.0.0", 16),  # link-local, and with it the metadata services
        ("172.16.0.0", 12),
        ("192.0.0.0", 24),
        ("192.0.2.0", 24),
        ("192.88.99.0", 24),
        ("192.168.0.0", 16),
        ("198.18.0.0", 15),
        ("198.51.100.0", 24),
        ("203.0.113.0", 24),
        ("224.0.0.0", 3),  # multicast, reserved, broadcast
    )
)
_OUTSIDE_6 = IPv6Network("2000::/3")
_INSIDE_6 = (
    IPv6Network("2001::/23"),  # protocol assignments; Teredo, which hides an IPv4 address
    IPv6Network("2001:db8::/32"),
    IPv6Network("3fff::/20"),
)
_TRANSLATED = IPv6Network("64:ff9b::/96")


def looks_numeric(name: str) -> bool:
    """Whether programs read the name as an IPv4 address: its last part is a number."""
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def ipv4_of(name: str) -> IPv4Address | None:
    """The address that one to four decimal, octal or hexadecimal numbers stand for."""
    parts = name.split(".")
    if len(parts) > _PARTS or not all(map(_NUMBER.fullmatch, parts)):
        return None
    numbers = [_number(part) for part in parts]
    if None in numbers:
        return None
    *single, last = (number or 0 for number in numbers)
    if any(number > 0xFF for number in single) or last >= 1 << 8 * (_PARTS - len(single)):
        return None
    for place, number in enumerate(single):
        last += number << 8 * (3 - place)
    return IPv4Address(last)


def _number(part: str) -> int | None:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    if part[0] == "0" and len(part) > 1:
        return None if "8" in part or "9" in part else int(part, 8)
    # Python refuses to read numbers of thousands of digits; no address has that many.
    return int(part) if len(part) < 12 else None


def ipv6_of(text: str) -> Address | None:
    """The address between the brackets of a URL; a zone is dropped, a mapped IPv4 unpacked."""
    try:
        address = IPv6Address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address


def address_of(text: str) -> Address | None:
    """An address as a resolver gives it, or None for anything else."""
    if ":" in text:
        return ipv6_of(text)
    return ipv4_of(text) if looks_numeric(text) else None


def is_private(address: Address) -> bool:
    """Whether it is anything but one machine out in the open internet.

    An IPv6 address that stands for an IPv4 address is judged by that one.
    """
    if isinstance(address, IPv4Address):
        number = int(address)
        return any(number & mask == start for start, mask in _INSIDE_4)
    carried = address.ipv4_mapped or address.sixtofour
    if address in _TRANSLATED:
        carried = IPv4Address(int(address) & 0xFFFF_FFFF)
    if carried is not None:
        return is_private(carried)
    return address not in _OUTSIDE_6 or any(address in network for network in _INSIDE_6)
