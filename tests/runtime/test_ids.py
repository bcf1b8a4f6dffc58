"""Ids sort by creation, differ across forks, and wear the published shape."""

import gc
import os
import re
import threading
import weakref

from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds, renew_all
from holdfast.testing.fakes import FakeClock


def test_an_id_is_a_prefix_a_moment_and_noise() -> None:
    made = TimeIds(SystemClock()).new("cal")
    assert re.fullmatch(r"cal_[0-9a-f]{12}[0-9A-Za-z]{14}", made)


def test_ids_of_one_moment_and_of_a_clock_that_goes_back_still_sort() -> None:
    clock = FakeClock()
    ids = TimeIds(clock)
    given = [ids.new("evt") for _ in range(1000)]
    clock.advance(-3600)
    given += [ids.new("evt") for _ in range(1000)]
    assert given == sorted(given)
    assert len(set(given)) == 2000


def test_later_ids_sort_after_earlier_ones_of_another_source() -> None:
    clock = FakeClock()
    earlier = TimeIds(clock).new("evt")
    clock.advance(0.01)
    assert TimeIds(clock).new("evt") > earlier


def test_threads_never_share_an_id() -> None:
    ids = TimeIds(SystemClock())
    given: list[str] = []

    def take() -> None:
        given.extend([ids.new("evt") for _ in range(2000)])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(given)) == 16_000


def test_a_forked_child_gives_other_ids_than_its_parent() -> None:
    ids = TimeIds(FakeClock())
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, ids.new("evt").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    ours = ids.new("evt")
    assert len(theirs) == len(ours) == 30
    assert theirs[-14:] != ours[-14:]


def test_sources_that_are_gone_are_not_kept_alive() -> None:
    ids = TimeIds(SystemClock())
    mark = weakref.ref(ids)
    del ids
    gc.collect()
    assert mark() is None


def test_renewed_ids_wear_other_noise_and_still_sort() -> None:
    ids = TimeIds(FakeClock())
    before = ids.new("evt")
    renew_all()
    after = ids.new("evt")
    assert before[-14:] != after[-14:]
    assert before < after
