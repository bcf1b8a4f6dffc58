"""What time it is: here, and at a server that many machines go by."""

import time
from datetime import UTC, datetime, timedelta

from holdfast.contract.ports import SharedClock
from holdfast.runtime.clock import ServerClock, SystemClock, clock_of

SECOND = 1_000_000


class Watched(ServerClock):
    """Its stopwatch moves only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0
        self.ticks = lambda: self.passed

    def wait(self, seconds: float) -> None:
        self.passed += int(seconds * 1e9)

    @property
    def micros(self) -> int:
        return self.unix_ns() // 1000


def test_until_a_server_says_something_the_clock_of_the_machine_has_to_do() -> None:
    before = time.time_ns()
    assert before <= ServerClock().unix_ns() <= time.time_ns()
    assert not isinstance(SystemClock(), SharedClock)
    assert isinstance(ServerClock(), SharedClock)


def test_what_a_server_says_is_moved_on_by_the_time_since() -> None:
    clock = Watched()
    clock.hear(5 * SECOND)
    clock.wait(2.5)
    assert clock.micros == 7_500_000
    assert clock.now() == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=7.5)


def test_an_answer_that_was_long_under_way_does_not_set_it_back() -> None:
    clock = Watched()
    clock.hear(5 * SECOND)
    clock.wait(3)
    clock.hear(6 * SECOND)  # said two seconds ago
    assert clock.micros == 8 * SECOND
    clock.hear(9 * SECOND)  # the first one had been under way for a second
    assert clock.micros == 9 * SECOND


def test_a_server_whose_clock_was_set_back_is_followed_after_a_minute() -> None:
    clock = Watched()
    clock.hear(500 * SECOND)
    clock.wait(61)
    clock.hear(100 * SECOND)
    assert clock.micros == 100 * SECOND


def test_all_who_use_a_server_have_the_same_clock() -> None:
    assert clock_of("one") is clock_of("one")
    assert clock_of("one") is not clock_of("other")
