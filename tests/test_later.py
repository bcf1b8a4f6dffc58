"""A module that is loaded later: run at its first use, once, and whole before others see it."""

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from holdfast import _later


def test_one_that_fails_is_run_again_at_its_next_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "later_probe.py"
    source.write_text("raise RuntimeError('not yet')", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(_later, "NAMES", frozenset({"later_probe", "later_missing"}))
    _later.install()  # again: nothing happens
    module = import_module("later_probe")
    assert type(module) is _later.Later
    with pytest.raises(RuntimeError, match="not yet"):
        _ = module.value
    source.write_text(
        "import later_probe\nvalue = 3\nown = hasattr(later_probe, 'missing')", "utf-8"
    )
    assert (module.value, module.own) == (3, False)
    assert type(module) is ModuleType
    monkeypatch.delitem(sys.modules, "later_probe")
    with pytest.raises(ModuleNotFoundError):
        import_module("later_missing")


Modules = Callable[..., list[ModuleType]]


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Modules:
    """Makes modules that are run later, by name and source; they may wait at a barrier."""
    gate = ModuleType("later_gate")
    vars(gate).update(barrier=threading.Barrier(2), go=threading.Event())
    monkeypatch.setitem(sys.modules, "later_gate", gate)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def make(**sources: str) -> list[ModuleType]:
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source, "utf-8")
            monkeypatch.delitem(sys.modules, name, raising=False)
        later = [name for name in sources if name.startswith("later_")]
        monkeypatch.setattr(_later, "NAMES", frozenset(later))
        return [import_module(name) for name in later]

    return make


def _in_threads(*works: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def _end(threads: list[threading.Thread]) -> bool:
    """Whether all of them come to their end."""
    for thread in threads:
        thread.join(20)
    return not any(thread.is_alive() for thread in threads)


HALF_RUN = """
import later_gate
FIRST = 1
later_gate.barrier.wait(20)
later_gate.go.wait(20)
LAST = 2
"""


def test_another_thread_never_sees_half_of_it(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    (module,) = modules(later_half=HALF_RUN)
    gate = sys.modules["later_gate"]
    lock_of, came, seen = _later._lock_of, threading.Event(), list[bool]()  # pyright: ignore[reportPrivateUsage] - the moment is inside

    def look() -> None:
        _ = module.FIRST
        seen.append("LAST" in vars(module))
        came.set()

    runs = _in_threads(lambda: module.LAST)
    gate.barrier.wait(20)

    def lock_of_who_comes(name: str) -> object:
        came.set()
        return lock_of(name)

    monkeypatch.setattr(_later, "_lock_of", lock_of_who_comes)
    looks = _in_threads(look)
    assert came.wait(20)
    gate.go.set()
    assert _end([*runs, *looks])
    assert seen == [True]


def test_what_a_failed_run_left_is_not_taken_for_all_of_it(
    modules: Modules, tmp_path: Path
) -> None:
    (module,) = modules(later_torn="FIRST = 1\nraise RuntimeError('torn')")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="torn"):
            _ = module.FIRST
    (tmp_path / "later_torn.py").write_text("FIRST = 2\nLAST = 3", "utf-8")
    assert (module.FIRST, module.LAST) == (2, 3)


CROSSWISE = """
import later_gate
import {other}
FIRST = 1
later_gate.barrier.wait(20)
SEEN = {other}.FIRST
LAST = 2
"""


def test_two_threads_that_need_each_others_module_both_go_on(modules: Modules) -> None:
    one, two = modules(
        later_one=CROSSWISE.format(other="later_two"), later_two=CROSSWISE.format(other="later_one")
    )
    assert _end(_in_threads(lambda: one.LAST, lambda: two.LAST))
    assert [(each.SEEN, each.LAST) for each in (one, two)] == [(1, 2)] * 2
    assert {type(one), type(two)} == {ModuleType}


RUN_LATER = """
import later_gate
FIRST = 1
later_gate.barrier.wait(20)
import plain_other
LAST = 2
"""
RUN_AT_ONCE = """
import later_gate
import later_mixed
later_gate.barrier.wait(20)
SEEN = later_mixed.FIRST
"""


def test_one_that_imports_who_needs_it_goes_on_as_well(modules: Modules) -> None:
    (module,) = modules(later_mixed=RUN_LATER, plain_other=RUN_AT_ONCE)
    assert _end(_in_threads(lambda: module.LAST, lambda: import_module("plain_other")))
    assert (module.LAST, sys.modules.pop("plain_other").SEEN) == (2, 1)


def test_a_module_inside_of_a_package_does_not_run_the_package(
    modules: Modules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "later_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from later_package import inner\nVALUE = 1", "utf-8")
    (folder / "inner.py").write_text("VALUE = 2", "utf-8")
    monkeypatch.setattr(_later, "NAMES", frozenset({"later_package"}))
    package = import_module("later_package")
    inner = import_module("later_package.inner")
    assert package.inner is inner
    assert type(package) is _later.Later
    assert (package.VALUE, inner.VALUE, type(package)) == (1, 2, ModuleType)
    for name in ("later_package", "later_package.inner"):
        monkeypatch.delitem(sys.modules, name)
