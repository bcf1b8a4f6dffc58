"""Parts of the warden that need no process of their own."""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.execution.kernel.privileges import adopt_orphans, gain_nothing
from holdfast.execution.warden import descendants, wire
from holdfast.execution.warden.confine import confine
from holdfast.execution.warden.keeper import keep
from holdfast.execution.warden.spawner import Spawner


def waiting() -> int:
    return os.posix_spawn("/bin/sleep", ["sleep", "60"], {})


def test_children_are_found_also_where_the_kernel_keeps_no_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = waiting()
    assert child in descendants.children()
    listed: Callable[[str], list[str]] = os.listdir

    def without_list(path: str) -> list[str]:
        if path == "/proc/self/task":
            raise FileNotFoundError(path)
        return [*listed(path), "999999999"]

    monkeypatch.setattr(os, "listdir", without_list)
    assert child in descendants.children()
    os.kill(child, 9)
    os.waitpid(child, 0)
    assert child not in descendants.children()


def test_orphans_are_reaped_and_the_leader_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, orphan, running = waiting(), waiting(), waiting()
    for ended in (leader, orphan):
        os.kill(ended, 9)
        while Path(f"/proc/{ended}/stat").read_text("utf-8").split()[2] != "Z":
            pass
    gone = 999_999_999
    monkeypatch.setattr(descendants, "children", lambda: [leader, orphan, running, gone])
    descendants.reap_orphans(leader)
    assert not Path(f"/proc/{orphan}").exists()
    assert os.waitpid(leader, 0)[0] == leader
    os.kill(running, 9)
    os.waitpid(running, 0)


def test_a_spawner_whose_signals_get_out_serves_nobody() -> None:
    ours, theirs = wire.pair()
    spawner = Spawner(theirs, os.getppid(), domain=False)
    thread = threading.Thread(target=spawner.serve)
    thread.start()
    thread.join()
    message, _ = wire.receive(ours)
    assert "signals are not kept inside" in str(message["refused"])
    with pytest.raises(wire.Hungup):
        wire.receive(ours)
    ours.close()


@pytest.mark.parametrize("cut", ["leash", "runtime"])
def test_a_keeper_ends_a_warden_that_does_not_hear(cut: str) -> None:
    leash, collar = wire.pair()
    runtime = waiting()
    handle = os.pidfd_open(runtime)
    keeper = os.fork()
    if not keeper:
        leash.close()
        adopt_orphans()
        keep(_deaf_with_child(), collar, handle)
        os._exit(0 if descendants.children() == [] else 1)
    collar.close()
    if cut == "leash":
        leash.shutdown(socket.SHUT_RDWR)
    else:
        os.kill(runtime, 9)
    assert os.waitpid(keeper, 0)[1] == 0
    os.kill(runtime, 9)
    os.waitpid(runtime, 0)
    leash.close()
    os.close(handle)


def _deaf_with_child() -> int:
    """Something like a warden that is stopped, with something running below it."""
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), os.WNOHANG)
    return os.posix_spawn("/bin/sh", ["sh", "-c", "sleep 60 & kill -STOP $$"], {"PATH": os.defpath})


class Broken(Spawner):
    """It fails over an order that nobody thought of."""

    ends = 0

    def _end(self) -> None:
        self.ends += 1


def test_a_spawner_that_fails_ends_what_it_started_and_says_so() -> None:
    ours, theirs = wire.pair()
    spawner = Broken(theirs, None, domain=False)
    ours.send(b"no message")
    serving = threading.Thread(target=spawner.serve)
    serving.start()
    assert wire.receive(ours)[0] == {"ready": True}
    serving.join()
    assert "error" in wire.receive(ours)[0]
    assert spawner.ends == 1
    with pytest.raises(wire.Hungup):
        wire.receive(ours)
    ours.close()


def test_nothing_is_started_without_a_program() -> None:
    with pytest.raises(ValueError, match="no program"):
        wire.pack_spawn("/", [], {})


def test_without_landlock_the_filter_still_holds() -> None:
    refused: list[str] = []

    def confined() -> None:
        gain_nothing()
        confine({"paths": [], "ports": False, "families": []}, 0)
        try:
            socket.socket()
        except PermissionError as problem:
            refused.append(str(problem))

    thread = threading.Thread(target=confined)
    thread.start()
    thread.join()
    assert refused
