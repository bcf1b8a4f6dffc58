"""What every test gets: the event loop anyio should use, and loud skips for missing packages.

And which of them have the processes they start measured where coverage runs: the marked ones.
"""

import os
import shutil
import signal
from collections.abc import Generator
from pathlib import Path

import coverage
import hypothesis
import pytest
from tracing import be_patient, lock_nothing

MEASURES = "COVERAGE_PROCESS_START"
"""Where coverage finds its settings; an interpreter that starts without it is not measured."""
settings: str | None = None

if "PYTEST_XDIST_WORKER" in os.environ:
    # One of several processes that share a measured run: before anything of ours is imported.
    coverage.process_startup()
    be_patient()
    lock_nothing(coverage.Coverage.current())
    # Being measured costs most processes more than what they do: only marked tests ask for it.
    settings = os.environ.pop(MEASURES, None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a script: programs of the tests would ignore interrupts, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine must not decide a test.
hypothesis.settings.register_profile("steady", deadline=None)
hypothesis.settings.load_profile("steady")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def state_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """What tests run is not written into the audit log and the journal of whoever runs them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patched.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-soak", action="store_true", help="run the long seeded soak tests")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Some code of ours runs only in processes that tests start."""
    if settings is None or item.get_closest_marker("measured") is None:
        return (yield)
    # Wherever such a process works, what it measured is brought together here.
    measuring = {MEASURES: settings, "COVERAGE_FILE": str(Path(settings).with_name(".coverage"))}
    os.environ.update(measuring)
    try:
        return (yield)
    finally:
        for name in measuring:
            del os.environ[name]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that needs a system package says which command installs it; CI has no such excuse."""
    for mark in item.iter_markers("system"):
        (package,) = mark.args
        if shutil.which(str(mark.kwargs.get("program", package))) is None:
            message = f"needs the package {package}; install it with: apt-get install {package}"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
