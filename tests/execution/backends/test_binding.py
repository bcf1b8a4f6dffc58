"""A flow session's sandbox: a target first, then a handle that sessions share."""

from pathlib import Path

import pytest
from execution.backends.fake_backend import ASK, FakeBackend

from holdfast.contract.backend import (
    BackendNotFound,
    BackendSandboxClosed,
    BackendSandboxSpec,
    SandboxMissing,
)
from holdfast.contract.failure import FailureKind
from holdfast.execution.backends.binding import SandboxBinding
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.registry import Registry


class Scene:
    """A registry with one backend, and sessions on it."""

    def __init__(self) -> None:
        self.backend = FakeBackend()
        self.registry = Registry({"local": lambda: self.backend})

    def session(self) -> SandboxBinding:
        return SandboxBinding(self.registry)

    @property
    def closed(self) -> list[int]:
        return [one.closed for one in self.backend.opened]


@pytest.mark.req("RATH-SBX-01")
def test_a_target_is_recorded_and_nothing_is_opened() -> None:
    scene = Scene()
    session = scene.session()
    assert (session.target, session.sandbox) == (None, None)
    assert session.to("local") is session
    assert session.target == ("local", BackendSandboxSpec())
    spec = BackendSandboxSpec(image="x", env={"A": "b"})
    assert session.to("else", spec).target == ("else", spec)
    assert session.to("local", "/w").target == ("local", BackendSandboxSpec(working_dir="/w"))
    assert session.to().target == ("local", BackendSandboxSpec())
    assert (session.sandbox, scene.backend.opened) == (None, [])


@pytest.mark.req("RATH-SBX-01")
def test_a_new_target_drops_the_handle() -> None:
    scene = Scene()
    session = scene.session().to("local")
    session.require_sandbox()
    session.to("local", "/elsewhere")
    assert session.sandbox is None
    assert scene.closed == [1]
    session.require_sandbox()
    assert scene.backend.specs[-1].working_dir == "/elsewhere"


@pytest.mark.req("RATH-SBX-02")
def test_a_spec_reaches_the_backend_whole() -> None:
    scene = Scene()
    spec = BackendSandboxSpec(
        image="i", entrypoint=("a", "b"), env={"A": "b"}, timeout=3, working_dir="/w"
    )
    scene.session().to("local", spec).require_sandbox()
    assert scene.backend.specs == [spec]


@pytest.mark.req("RATH-SBX-03")
def test_the_handle_opens_when_it_is_first_required_and_stays() -> None:
    scene = Scene()
    session = scene.session().to("local")
    handle = session.require_sandbox()
    assert session.require_sandbox() is handle is session.sandbox
    assert (handle.references, len(scene.backend.opened)) == (1, 1)
    assert handle.dispatch(ASK) is True
    session.close()
    session.close()
    assert (session.sandbox, scene.closed) == (None, [1])


@pytest.mark.req("RATH-SBX-03")
def test_entering_opens_and_leaving_the_outermost_drops_the_handle_and_keeps_the_target() -> None:
    scene = Scene()
    session = scene.session().to("local")
    with session as entered:
        assert entered is session
        handle = session.sandbox
        assert handle is not None
        assert handle.references == 2
        with session:
            assert session.sandbox is handle
            assert handle.references == 3
        assert (handle.references, handle.closed) == (2, False)
    assert (session.sandbox, handle.closed, scene.closed) == (None, True, [1])
    assert session.target is not None
    with session:
        assert session.sandbox is not handle
    assert scene.closed == [1, 1]


@pytest.mark.req("RATH-SBX-04")
def test_a_handle_that_was_closed_elsewhere_is_not_given_out() -> None:
    scene = Scene()
    session = scene.session().to("local")
    session.require_sandbox().release()
    with pytest.raises(RuntimeError) as raised:
        session.require_sandbox()
    assert str(raised.value) == "session sandbox is closed"
    assert session.to("local").require_sandbox().closed is False


@pytest.mark.req("RATH-DSP-02", "RATH-DSP-03")
def test_a_session_with_neither_target_nor_handle_says_what_to_do() -> None:
    session = SandboxBinding()
    with pytest.raises(RuntimeError) as raised:
        session.require_sandbox()
    assert str(raised.value) == (
        'session has no sandbox backend; call session.to("local") or session.bind_sandbox(...)'
    )
    assert isinstance(raised.value, SandboxMissing)
    assert raised.value.kind is FailureKind.UNAVAILABLE
    with pytest.raises(RuntimeError, match="no sandbox backend"), session:
        pass


def test_a_target_nobody_registered_is_told_when_it_is_needed() -> None:
    session = Scene().session().to("a")
    with pytest.raises(BackendNotFound, match="there are: local"):
        session.require_sandbox()


@pytest.mark.req("RATH-SBX-05")
def test_binding_adds_one() -> None:
    scene = Scene()
    handle = BackendSandbox(scene.backend)
    first, second = scene.session(), scene.session()
    assert first.bind_sandbox(handle) is first
    second.bind_sandbox(handle)
    assert handle.references == 2
    first.bind_sandbox(handle)
    assert handle.references == 2
    assert first.require_sandbox() is handle
    other = BackendSandbox(scene.backend)
    first.bind_sandbox(other)
    assert (handle.references, other.references) == (1, 1)
    second.close()
    assert handle.closed
    with pytest.raises(BackendSandboxClosed):
        second.bind_sandbox(handle)


@pytest.mark.req("RATH-SBX-07")
def test_a_shared_handle_closes_with_the_last_session() -> None:
    scene = Scene()
    user = scene.session().to("local")
    handle = user.require_sandbox()
    out = scene.session().share(user)
    assert out.sandbox is user.sandbox is handle
    assert handle.references == 2
    out.close()
    assert (handle.closed, scene.closed) == (False, [0])
    user.close()
    assert (handle.closed, scene.closed) == (True, [1])


def test_a_target_alone_is_passed_on_and_the_handle_opens_there() -> None:
    scene = Scene()
    user = scene.session().to("local", "/w")
    out = scene.session().share(user)
    assert (out.target, out.sandbox) == (user.target, None)
    out.require_sandbox()
    assert user.sandbox is None
    assert len(scene.backend.opened) == 1
    out.share(scene.session())
    assert (out.target, out.sandbox, scene.closed) == (None, None, [1])


def test_a_closed_handle_is_not_shared_but_its_target_is() -> None:
    scene = Scene()
    user = scene.session().to("local")
    user.require_sandbox().release()
    out = scene.session().share(user)
    assert (out.sandbox, out.target) == (None, user.target)


def test_a_session_without_a_registry_has_the_backends_of_the_process(tmp_path: Path) -> None:
    with SandboxBinding().to("local", str(tmp_path / "new")) as session:
        assert (tmp_path / "new").is_dir()
        assert session.require_sandbox().backend.name == "local"
