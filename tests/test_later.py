"""A module that is loaded later: run at its first use, once, and again where that failed."""

import sys
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
