"""Streams: first in, first out, one at a time; several at once; events between them."""

import gc
import threading
import weakref
from collections.abc import Callable

import pytest
from execution.backends.fake_backend import FakeBackend

from holdfast.contract.backend import BackendSandboxClosed, BackendTool, BackendToolFilesExists
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.streams import Stream, StreamEvent


class Stage:
    """A sandbox whose operations are told when to end, by their path."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.threads: set[int] = set()
        self.peak = 0
        self._running = 0
        self._lock = threading.Lock()
        self.gates: dict[str, threading.Event] = {}
        self.handle = BackendSandbox(FakeBackend(self._act))

    def hold(self, path: str) -> threading.Event:
        return self.gates.setdefault(path, threading.Event())

    def _act(self, payload: BackendTool) -> bool:
        assert isinstance(payload, BackendToolFilesExists)
        with self._lock:
            self.begun.append(payload.path)
            self.threads.add(threading.get_ident())
            self._running += 1
            self.peak = max(self.peak, self._running)
        gate = self.gates.get(payload.path)
        if gate is not None:
            assert gate.wait(15)
        if payload.path == "exit":
            raise SystemExit(3)
        with self._lock:
            self._running -= 1
            self.ended.append(payload.path)
        return payload.path != "no"


def _ask(path: object) -> BackendToolFilesExists:
    return BackendToolFilesExists(str(path))


def _until(happened: Callable[[], bool]) -> None:
    waiting = threading.Event()
    while not happened():
        gc.collect()
        waiting.wait(0.005)


@pytest.mark.req("RATH-STM-04")
def test_one_stream_does_one_thing_at_a_time_in_the_order_it_was_given() -> None:
    stage = Stage()
    with stage.handle, stage.handle.stream() as stream:
        futures = [stream.submit(_ask(number)) for number in range(20)]
        assert [future.result() for future in futures] == [True] * 20
    assert stage.begun == stage.ended == [str(number) for number in range(20)]
    assert stage.peak == 1
    assert len(stage.threads) == 1
    assert threading.get_ident() not in stage.threads


@pytest.mark.req("RATH-STM-03", "RATH-STM-05")
def test_several_streams_of_one_sandbox_are_under_way_at_once() -> None:
    stage = Stage()
    first, second = stage.hold("first"), stage.hold("second")
    with stage.handle, stage.handle.stream() as one, stage.handle.stream() as other:
        a, b = one.submit(_ask("first")), other.submit(_ask("second"))
        _until(lambda: len(stage.begun) == 2)
        assert (a.done(), b.done()) == (False, False)
        second.set()
        assert b.result() is True
        assert not a.done()
        first.set()
        assert a.result() is True
    assert stage.peak == 2
    assert len(stage.threads) == 2


@pytest.mark.req("RATH-STM-06")
def test_an_event_of_one_stream_is_waited_for_on_another() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    with stage.handle, stage.handle.stream() as one, stage.handle.stream() as other:
        one.submit(_ask("slow"))
        event = one.record_event()
        waited = other.wait_event(event)
        after = other.submit(_ask("after"))
        _until(lambda: stage.begun == ["slow"])
        assert (event.query(), waited.done(), after.done()) == (False, False, False)
        assert event.wait(0.01) is False
        gate.set()
        assert waited.result() is None
        assert after.result() is True
        assert event.query()
        event.synchronize()
    assert stage.begun == ["slow", "after"]


@pytest.mark.req("RATH-STM-07")
def test_a_result_is_waited_for_and_what_was_raised_is_raised_again() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    stage.handle.acquire()
    with stage.handle.stream() as stream:
        slow = stream.submit(_ask("slow"))
        with pytest.raises(TimeoutError):
            slow.result(0.01)
        gate.set()
        assert slow.result() is True
        assert stream.submit(_ask("no")).result() is False
        stage.handle.release()
        stage.handle.release()
        closed = stream.submit(_ask("late"))
        with pytest.raises(BackendSandboxClosed):
            closed.result()
        assert closed.done()
        with pytest.raises(BackendSandboxClosed):
            stream.submit(_ask("later")).result()


@pytest.mark.req("RATH-STM-07")
def test_a_buffer_makes_submit_wait_for_room() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    submitted = threading.Event()
    with stage.handle, stage.handle.stream(buffer=1) as stream:
        stream.submit(_ask("slow"))
        _until(lambda: stage.begun == ["slow"])
        stream.submit(_ask("fits"))

        def submit() -> None:
            stream.submit(_ask("waits"))
            submitted.set()

        thread = threading.Thread(target=submit)
        thread.start()
        assert not submitted.wait(0.05)
        gate.set()
        assert submitted.wait(15)
        thread.join()
    assert stage.ended == ["slow", "fits", "waits"]


def test_who_waits_for_room_in_a_stream_that_closes_is_told() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    raised: list[str] = []
    with stage.handle:
        stream = stage.handle.stream(buffer=1)
        stream.submit(_ask("slow"))
        _until(lambda: stage.begun == ["slow"])
        stream.submit(_ask("fits"))

        def submit() -> None:
            with pytest.raises(RuntimeError, match="stream is closed") as problem:
                stream.submit(_ask("never"))
            raised.append(str(problem.value))

        waiting = threading.Thread(target=submit)
        waiting.start()
        closing = threading.Thread(target=stream.close)
        closing.start()
        waiting.join(15)
        gate.set()
        closing.join(15)
    assert raised == ["stream is closed"]
    assert stage.ended == ["slow", "fits"]


@pytest.mark.req("RATH-STM-08")
def test_waiting_too_long_fails_that_future_alone() -> None:
    stage = Stage()
    with stage.handle, stage.handle.stream() as stream:
        waited = stream.wait_event(StreamEvent(), 0.05)
        after = stream.submit(_ask("after"))
        with pytest.raises(TimeoutError) as raised:
            waited.result()
        assert str(raised.value) == "wait_event timed out after 0.05s"
        assert after.result() is True


@pytest.mark.req("RATH-STM-09")
def test_streams_wait_for_each_other_and_tell_whether_they_are_idle() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    with stage.handle, stage.handle.stream() as one, stage.handle.stream() as other:
        assert (one.query(), other.query()) == (True, True)
        one.submit(_ask("slow"))
        waited = other.wait_stream(one)
        one.submit(_ask("later"))
        other.submit(_ask("after"))
        assert (one.query(), other.query()) == (False, False)
        assert not waited.done()
        gate.set()
        other.synchronize()
        assert stage.ended.index("slow") < stage.ended.index("after")
        one.synchronize()
        assert "later" in stage.ended
        _until(lambda: one.query() and other.query())
        one.wait_stream(one).result()


def test_synchronize_waits_for_what_is_queued() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    passed = threading.Event()
    with stage.handle, stage.handle.stream() as stream:
        stream.submit(_ask("slow"))

        def wait() -> None:
            stream.synchronize()
            passed.set()

        thread = threading.Thread(target=wait)
        thread.start()
        assert not passed.wait(0.05)
        gate.set()
        assert passed.wait(15)
        thread.join()


@pytest.mark.req("RATH-STM-10")
def test_the_time_between_events_is_in_milliseconds() -> None:
    stage = Stage()
    gate = stage.hold("slow")
    with stage.handle, stage.handle.stream() as stream:
        begin = stream.record_event()
        stream.submit(_ask("slow"))
        own = StreamEvent()
        end = stream.record_event(own)
        assert end is own
        begin.synchronize()
        for first, last in ((begin, end), (end, begin), (own, StreamEvent())):
            with pytest.raises(RuntimeError) as raised:
                first.elapsed_time(last)
            said = "elapsed_time requires both events to have been signaled"
            assert str(raised.value) == said
        threading.Event().wait(0.05)
        gate.set()
        end.synchronize()
        assert 50 <= begin.elapsed_time(end) < 15_000
        assert end.elapsed_time(begin) == -begin.elapsed_time(end)


USES: list[Callable[[Stream], object]] = [
    lambda stream: stream.submit(_ask("x")),
    lambda stream: stream.record_event(),
    lambda stream: stream.wait_event(StreamEvent()),
    lambda stream: stream.wait_stream(stream),
    lambda stream: stream.synchronize(),
    lambda stream: stream.query(),
    lambda stream: stream.__enter__(),
]


@pytest.mark.req("RATH-STM-11")
def test_leaving_waits_for_all_that_is_queued_and_ends_the_stream() -> None:
    stage = Stage()
    gate = stage.hold("0")
    left = threading.Event()
    with stage.handle:
        stream = stage.handle.stream()
        assert stage.handle.references == 2

        def use() -> None:
            with stream:
                for number in range(5):
                    stream.submit(_ask(number))
            left.set()

        thread = threading.Thread(target=use)
        thread.start()
        assert not left.wait(0.05)
        gate.set()
        assert left.wait(15)
        thread.join()
        assert stage.ended == ["0", "1", "2", "3", "4"]
        assert stage.handle.references == 1
        stream.__exit__(None, None, None)
        stream.close()
        assert stage.handle.references == 1
        for use_it in USES:
            with pytest.raises(RuntimeError) as raised:
                use_it(stream)
            assert str(raised.value) == "stream is closed"


@pytest.mark.req("RATH-STM-12")
def test_what_kills_the_worker_fails_all_that_is_queued() -> None:
    stage = Stage()
    gate = stage.hold("exit")
    with stage.handle, stage.handle.stream() as other:
        stream = stage.handle.stream()
        fatal = stream.submit(_ask("exit"))
        queued = [stream.submit(_ask(number)) for number in range(3)]
        event = stream.record_event()
        waited = other.wait_event(event)
        gate.set()
        with pytest.raises(SystemExit):
            fatal.result()
        for future in queued:
            with pytest.raises(RuntimeError, match="worker ended: SystemExit: 3"):
                future.result()
        with pytest.raises(RuntimeError, match="before it reached this event"):
            waited.result()
        assert not event.query()
        with pytest.raises(RuntimeError, match="stream is closed"):
            stream.submit(_ask("x"))
        stream.close()
        assert stage.handle.references == 2
        assert stage.begun == ["exit"]


def test_a_stream_nobody_holds_ends_its_worker() -> None:
    stage = Stage()
    with stage.handle:
        stream = stage.handle.stream()
        stream.submit(_ask("x")).result()
        before = {thread for thread in threading.enumerate() if thread.name == "holdfast-stream"}
        gone = weakref.ref(stream)
        del stream
        _until(lambda: gone() is None)
        for thread in before:
            thread.join(15)
        assert not any(thread.is_alive() for thread in before)


@pytest.mark.req("RATH-STM-13")
def test_streams_belong_to_the_sandbox_and_no_flow_tool_needs_them() -> None:
    stage = Stage()
    with stage.handle:
        assert stage.handle.dispatch(_ask("alone")) is True
        assert not [one for one in threading.enumerate() if one.name == "holdfast-stream"]
        assert threading.get_ident() in stage.threads
