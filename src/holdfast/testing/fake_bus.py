"""A bus within one event loop, for tests: what is said is heard at once, or when it is let go."""

from collections.abc import Callable
from typing import NamedTuple

from anyio.lowlevel import checkpoint

from holdfast.contract.bus import BusUnavailable, Heard

MOST_BYTES = 64 * 1024

Tamper = Callable[[str, bytes], bytes | None]
"""What becomes of a message on its way; None: it is lost."""


class Said(NamedTuple):
    """One message."""

    subject: str
    data: bytes


class FakeBus:
    """All who use it hear each other."""

    def __init__(self) -> None:
        self._listening: list[_FakeListening] = []
        self.said: list[Said] = []
        """Everything, in order."""
        self.down = False
        """Nothing can be said or listened to."""
        self.tamper: Tamper | None = None

    @property
    def subjects(self) -> list[str]:
        """What somebody listens to."""
        return [one.subject for one in self._listening]

    async def publish(self, subject: str, data: bytes, /, *, unheard: str | None = None) -> None:
        """Say something; BusUnavailable."""
        await checkpoint()
        self._check()
        if len(data) > MOST_BYTES:
            raise BusUnavailable(f"a message has at most {MOST_BYTES} bytes")
        self.said.append(Said(subject, data))
        arriving = data if self.tamper is None else self.tamper(subject, data)
        if arriving is not None and not self.say(subject, arriving) and unheard is not None:
            self.say(unheard, b"")

    async def subscribe(self, subject: str, heard: Heard, /) -> "_FakeListening":
        """Hear what is said from here on; BusUnavailable."""
        await checkpoint()
        self._check()
        listening = _FakeListening(subject, heard, self._listening)
        self._listening.append(listening)
        return listening

    def cut(self, subject: str) -> None:
        """Whoever listens there is gone, as if their process had been killed."""
        self._listening[:] = [one for one in self._listening if one.subject != subject]

    def say(self, subject: str, data: bytes) -> bool:
        """The same, without waiting, and whatever becomes of others; whether somebody listens."""
        hearing = [one for one in self._listening if _fits(one.subject, subject)]
        for one in hearing:
            one.heard(subject, data)
        return bool(hearing)

    def _check(self) -> None:
        if self.down:
            raise BusUnavailable("the bus is down")


class _FakeListening:
    def __init__(self, subject: str, heard: Heard, all_who_listen: "list[_FakeListening]") -> None:
        self.subject = subject
        self.heard = heard
        self._all = all_who_listen

    async def close(self) -> None:
        """Listen no longer."""
        await checkpoint()
        if self in self._all:
            self._all.remove(self)


def _fits(pattern: str, subject: str) -> bool:
    wanted, words = pattern.split("."), subject.split(".")
    return len(wanted) == len(words) and all(
        one in ("*", word) for one, word in zip(wanted, words, strict=True)
    )
