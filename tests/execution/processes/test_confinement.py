"""From a policy to what the kernel is told."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.execution.kernel.landlock import READ, WRITE, Right
from holdfast.execution.kernel.namespaces import Shown
from holdfast.execution.processes.confinement import Scratch, admitted, shown

SCRATCH = Scratch("/scratch/root", "/scratch/temporary", "/home/ada")
PATHS = st.lists(
    st.sampled_from(["/p", "/p/a", "/p/a/b", "/q", "/home/ada", "/home/ada/x", "/tmp", "/tmp/x"]),
    max_size=4,
    unique=True,
).map(tuple)


def at(view: list[Shown], path: str) -> Shown | None:
    return next((one for one in view if one.path == path), None)


@given(PATHS, PATHS)
def test_what_may_be_written_is_shown_so_and_parents_come_first(
    readable: tuple[str, ...], writable: tuple[str, ...]
) -> None:
    view = shown(SandboxPolicy(readable=readable, writable=writable), SCRATCH)
    places = [one.path.split("/") for one in view]
    assert places == sorted(places)
    assert len({one.path for one in view}) == len(view)
    for path in writable:
        assert at(view, path) == Shown("write", path, path)
    for path in readable:
        inside = any(f"{path}/".startswith(f"{root}/") for root in writable)
        found = at(view, path)
        assert inside or found == Shown("read", path, path) or path == "/tmp"
    temporary = at(view, "/tmp")
    assert temporary is not None
    assert temporary.kind == "write"


def test_a_home_that_is_not_shown_is_private_and_empty() -> None:
    assert at(shown(SandboxPolicy(), SCRATCH), "/home/ada") == Shown("private", "/home/ada", "")
    own = SandboxPolicy(readable=("/home/ada/x",))
    assert at(shown(own, SCRATCH), "/home/ada") is None


def test_what_is_protected_cannot_be_moved_with_its_folder() -> None:
    policy = SandboxPolicy(writable=("/p", "/p/a/b"), protected=("/p/.git/hooks", "/p/a/b/.x"))
    view = shown(policy, SCRATCH)
    assert at(view, "/p/.git") == Shown("write", "/p/.git", "/p/.git")
    assert at(view, "/p/.git/hooks") == Shown("read", "/p/.git/hooks", "/p/.git/hooks")
    assert at(view, "/p/a") is None


@given(PATHS, PATHS, st.booleans())
def test_landlock_admits_what_is_named_and_the_base_system_for_reading(
    readable: tuple[str, ...], writable: tuple[str, ...], own_files: bool
) -> None:
    policy = SandboxPolicy(readable=readable, writable=writable, limits=SandboxLimits())
    rights: dict[str, Right] = {}
    for path, given_rights in admitted(policy, SCRATCH, own_files=own_files):
        rights[path] = rights.get(path, Right(0)) | given_rights
    # Where all of /tmp is named, the sandbox's own temporary directory is shown beside it.
    own_tmp = own_files and "/tmp" not in writable
    extra = {"/dev/shm", "/tmp" if own_tmp else SCRATCH.temporary}
    # A home that is shown, or of which something is, is the real one.
    private = at(shown(policy, SCRATCH), SCRATCH.home) == Shown("private", SCRATCH.home, "")
    extra |= {SCRATCH.home} if own_files and private else set[str]()
    for path, found in rights.items():
        may_write = bool(found & (WRITE & ~Right.WRITE_FILE))
        assert may_write == (path in writable or path in extra)
        assert found & READ or path in writable
