"""What every `Bus` must do, for tests."""

from anyio import Event, fail_after

from holdfast.contract.bus import Bus

_PATIENCE = 10.0
_MANY = 500
_MOST_BYTES = 64 * 1024


async def check_bus(one: Bus, other: Bus, subjects: str) -> None:
    """Raises AssertionError where two connections to a bus do not do what they must.

    ``subjects``: what the names of the subjects begin with that it uses.
    """
    with fail_after(_PATIENCE):
        await _check_hearing(one, other, f"{subjects}.heard")
        await _check_order(one, other, f"{subjects}.order")
        await _check_words(one, other, f"{subjects}.words")
        await _check_leaving(one, other, f"{subjects}.leaving")
        await _check_unheard(one, other, f"{subjects}.unheard")
        await _check_bounds(one, other, f"{subjects}.bounds")


class _Ear:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, bytes]] = []
        self._new = Event()

    def __call__(self, subject: str, data: bytes, /) -> None:
        self.heard.append((subject, data))
        self._new.set()

    async def until(self, count: int) -> list[bytes]:
        while len(self.heard) < count:
            self._new = Event()
            await self._new.wait()
        return [data for _, data in self.heard]


async def _check_hearing(one: Bus, other: Bus, subject: str) -> None:
    """Everybody who listens hears it, whoever says it, also on the same connection."""
    ears = [_Ear(), _Ear(), _Ear()]
    listening = [
        await bus.subscribe(subject, ear)
        for bus, ear in zip((one, other, other), ears, strict=True)
    ]
    await one.publish(subject, b"\x00 any \xff bytes")
    for ear in ears:
        assert await ear.until(1) == [b"\x00 any \xff bytes"], "somebody heard something else"
        assert ear.heard[0][0] == subject, "it was heard under another subject"
    for each in listening:
        await each.close()


async def _check_order(one: Bus, other: Bus, subject: str) -> None:
    """What is said first is heard first, all of it once."""
    ear = _Ear()
    listening = await other.subscribe(subject, ear)
    said = [str(number).encode() for number in range(_MANY)]
    for data in said:
        await one.publish(subject, data)
    assert await ear.until(_MANY) == said, "it was heard in another order"
    await listening.close()


async def _check_words(one: Bus, other: Bus, subject: str) -> None:
    """A star stands for one word: for none and for two it does not."""
    ear = _Ear()
    listening = await other.subscribe(f"{subject}.*.end", ear)
    for words in ("end", "one.two.end", "one.other", "one.end", "two.end"):
        await one.publish(f"{subject}.{words}", words.encode())
    assert await ear.until(2) == [b"one.end", b"two.end"], "a star stands for one word"
    await listening.close()


async def _check_leaving(one: Bus, other: Bus, subject: str) -> None:
    """Who does not listen any more hears nothing."""
    gone, stays = _Ear(), _Ear()
    leaving = await other.subscribe(subject, gone)
    staying = await other.subscribe(subject, stays)
    await leaving.close()
    await leaving.close()
    await one.publish(subject, b"after")
    await stays.until(1)
    assert gone.heard == [], "somebody heard it who had left"
    await staying.close()


async def _check_unheard(one: Bus, other: Bus, subject: str) -> None:
    """Nobody listens: an empty message says so, and only then."""
    told, ear = _Ear(), _Ear()
    watching = await one.subscribe(f"{subject}.told", told)
    listening = await other.subscribe(f"{subject}.there", ear)
    await one.publish(f"{subject}.there", b"heard", unheard=f"{subject}.told")
    await ear.until(1)
    await one.publish(f"{subject}.nowhere", b"lost", unheard=f"{subject}.told")
    assert await told.until(1) == [b""], "that nobody listens is told by an empty message"
    await listening.close()
    await watching.close()


async def _check_bounds(one: Bus, other: Bus, subject: str) -> None:
    """Nothing at all is said as it is, and so is as much as can be."""
    ear = _Ear()
    listening = await other.subscribe(subject, ear)
    for data in (b"", bytes(_MOST_BYTES)):
        await one.publish(subject, data)
    assert await ear.until(2) == [b"", bytes(_MOST_BYTES)], "something else arrived"
    await listening.close()
