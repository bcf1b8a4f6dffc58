"""Backends by name."""

import pytest
from execution.backends.fake_backend import FakeBackend

from holdfast.contract.backend import BackendNotFound
from holdfast.contract.failure import FailureKind
from holdfast.execution.backends.registry import Registry
from holdfast.execution.backends.shipped import BACKENDS
from holdfast.flow import (
    backend_is_available,
    backend_names,
    default_backend,
    get_backend,
    preferred_backend,
    register_backend,
    set_default_backend,
)


def _registry() -> Registry:
    return Registry({"one": FakeBackend, "two": FakeBackend})


@pytest.mark.req("RATH-BKD-02")
def test_a_name_stands_for_one_backend_made_when_it_is_first_asked_for() -> None:
    made: list[FakeBackend] = []

    def make() -> FakeBackend:
        made.append(FakeBackend())
        return made[-1]

    registry = Registry()
    registry.register("own", make)
    assert made == []
    assert registry.get("own") is registry.get("own") is made[0]
    assert len(made) == 1


@pytest.mark.req("RATH-BKD-02")
def test_an_unknown_name_is_told_which_there_are() -> None:
    with pytest.raises(BackendNotFound) as raised:
        _registry().get("three")
    assert str(raised.value) == "there is no backend 'three'; there are: one, two"
    assert isinstance(raised.value, LookupError)
    assert raised.value.kind is FailureKind.UNAVAILABLE
    with pytest.raises(BackendNotFound, match="there are: none"):
        Registry().get("x")


@pytest.mark.req("RATH-BKD-02")
def test_a_name_cannot_be_taken_twice() -> None:
    registry = _registry()
    before = registry.get("one")
    with pytest.raises(ValueError, match="'one' already"):
        registry.register("one", FakeBackend)
    assert registry.get("one") is before


def test_the_first_available_one_is_preferred() -> None:
    registry = _registry()
    first = registry.get("one")
    assert isinstance(first, FakeBackend)
    assert registry.preferred(["one", "two"]) is first
    first.unavailable = "out of order"
    assert registry.preferred(["three", "one", "two"]) is registry.get("two")
    assert (registry.is_available("one"), registry.is_available("two")) == (False, True)
    assert not registry.is_available("three")
    with pytest.raises(BackendNotFound, match=r"'three'.*; one: out of order"):
        registry.preferred(["three", "one"])
    with pytest.raises(BackendNotFound, match="no backend was named"):
        registry.preferred([])


def test_the_default_is_local_until_somebody_says_otherwise() -> None:
    registry = Registry({"local": FakeBackend, "two": FakeBackend})
    assert registry.default() is registry.get("local")
    registry.set_default("two")
    assert registry.default() is registry.get("two")
    with pytest.raises(BackendNotFound):
        registry.set_default("three")
    assert registry.default() is registry.get("two")


@pytest.mark.req("RATH-BKD-01")
def test_the_whole_process_has_a_local_backend_and_opensandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert {"bubblewrap", "local", "opensandbox"} <= set(backend_names())
    assert get_backend("local") is BACKENDS.get("local") is default_backend()
    assert get_backend("local").capabilities.isolation == "process"
    assert get_backend("bubblewrap").capabilities.isolation == "container"
    assert backend_is_available("local")
    monkeypatch.delenv("OPEN_SANDBOX_DOMAIN", raising=False)
    assert not backend_is_available("opensandbox")
    assert preferred_backend(["opensandbox", "local"]) is get_backend("local")
    monkeypatch.setenv("OPEN_SANDBOX_DOMAIN", "localhost:1")
    assert backend_is_available("opensandbox")
    assert register_backend == BACKENDS.register
    assert set_default_backend == BACKENDS.set_default
