"""Files and hosts of a tool, through the whole way of a call."""

import socket
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import anyio
import pytest

from holdfast import Holdfast, Runtime, tool
from holdfast.app.settings import SandboxSettings, Settings, Surroundings
from holdfast.app.undo import undo_of
from holdfast.contract.errors import Unavailable
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json
from holdfast.contract.shell import CommandReport
from holdfast.contract.tool import Limits

FILES = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}
REPORTS: dict[str, CommandReport] = {}


@tool(requires=FILES)
def change(rt: Runtime, path: str, old: str, new: str) -> str:
    """Replace text in a file."""
    rt.fs.edit(path, lambda text: text.replace(old, new))
    return rt.fs.read_text(path).text


@tool(requires=FILES)
async def sh(rt: Runtime, command: str) -> str:
    """Run a command."""
    report = REPORTS["last"] = await rt.shell.run(command)
    return report.stdout.text()


class Place:
    def __init__(self, tmp_path: Path) -> None:
        self.workspace, self.home = tmp_path / "workspace", tmp_path / "own"
        for folder in (self.workspace, self.home):
            folder.mkdir()

    def opened(self, *tools: object) -> Holdfast:
        return Holdfast(
            tools=tools,
            workspace=self.workspace,
            settings=Settings(sandbox=SandboxSettings()),
            surroundings=Surroundings(
                data_home=self.home, environment={"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}
            ),
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_file_is_changed_and_the_change_taken_back(place: Place) -> None:
    notes = place.workspace / "notes.txt"
    notes.write_bytes(b"one\r\ntwo\r\n")
    async with place.opened(change) as hf:
        wanted = {"path": "notes.txt", "old": "two", "new": "three"}
        envelope = await hf.settle("change", wanted)
        assert decode_json(envelope.result_json) == {"text": "one\r\nthree\r\n"}
        session = hf.session_id
    assert notes.read_bytes() == b"one\r\nthree\r\n"
    # It outlives the session that made it.
    undo_of(place.home, session).restore(1)
    assert notes.read_bytes() == b"one\r\ntwo\r\n"


@pytest.mark.parametrize("path", ["../own/x", ".git/hooks/pre-commit", "out/x"])
async def test_a_path_out_of_reach_is_rejected(place: Place, path: str) -> None:
    (place.workspace / "out").symlink_to(place.home)
    async with place.opened(change) as hf:
        failure = (await hf.settle("change", {"path": path, "old": "a", "new": "b"})).failure
    assert failure is not None
    assert failure.kind in (FailureKind.REJECTED, FailureKind.NOT_FOUND)
    if path != ".git/hooks/pre-commit":
        assert failure.kind == FailureKind.REJECTED
        assert failure.extras["target"] == path


async def test_a_protected_place_that_appears_is_put_aside_and_told(place: Place) -> None:
    hook = place.workspace / ".git" / "hooks"
    async with place.opened(sh) as hf:
        made = (
            "mkdir -p .git/hooks && echo 'rm -rf ~' >.git/hooks/pre-commit && ln -s /etc .profile"
        )
        assert (await hf.settle("sh", {"command": made})).ok
        first = {one.target for one in REPORTS["last"].refusals}
        assert first == {str(hook), str(place.workspace / ".profile")}
        assert any("renamed" in warning for warning in REPORTS["last"].warnings)
        assert not hook.exists()
        assert not (place.workspace / ".profile").is_symlink()
        assert len(list(place.workspace.glob(".git/hooks.refused-*/pre-commit"))) == 1
        # Again: the first one is not overwritten.
        assert (await hf.settle("sh", {"command": made})).ok
        assert len(list(place.workspace.glob(".git/hooks.refused-*/pre-commit"))) == 2


async def test_what_a_person_made_meanwhile_stays_and_is_protected(place: Place) -> None:
    hook = place.workspace / ".git" / "hooks"
    async with place.opened(sh) as hf:
        assert (await hf.settle("sh", {"command": "true"})).ok
        hook.mkdir(parents=True)
        assert (await hf.settle("sh", {"command": "echo x >.git/hooks/evil; ls .git"})).ok
        if REPORTS["last"].confinement == "landlock":
            pytest.skip("without a mount nothing keeps it")
        assert "Read-only" in REPORTS["last"].stderr.text()
        assert list(hook.iterdir()) == []


REDIRECTED = {
    "a file that names another folder": "mkdir -p evil/g && echo 'gitdir: evil/g' >.git",
    "a link": "mkdir -p evil/g && ln -s evil/g .git",
    "another common folder": "mkdir -p .git && echo ../evil >.git/commondir",
    "a folder without rights": "mkdir -p .git/hooks && touch .git/hooks/evil && chmod 555 .git",
}


@pytest.mark.parametrize("way", REDIRECTED)
async def test_no_way_leads_around_a_protected_place(place: Place, way: str) -> None:
    async with place.opened(sh) as hf:
        assert (await hf.settle("sh", {"command": REDIRECTED[way]})).ok
        assert REPORTS["last"].refusals
    git = place.workspace / ".git"
    assert not git.is_symlink()
    assert not git.is_file()
    assert [name for name in ("commondir", "hooks", "config") if (git / name).exists()] == []


async def test_a_linked_working_tree_keeps_its_git_file(place: Place) -> None:
    git = place.workspace / ".git"
    git.write_text("gitdir: /elsewhere\n", "utf-8")
    async with place.opened(sh) as hf:
        await hf.settle("sh", {"command": "echo 'gitdir: evil' >.git; rm -f .git; ls -a"})
        if REPORTS["last"].confinement == "landlock":
            pytest.skip("without a mount nothing keeps it")
    assert git.read_text("utf-8") == "gitdir: /elsewhere\n"


@tool(requires=FILES, limits=Limits(wall_seconds=0.5))
async def slow(rt: Runtime, command: str) -> None:
    """Run a command that the tool does not wait for."""
    await rt.shell.run(command)


@tool(requires=FILES)
async def background(rt: Runtime, command: str) -> str:
    """Start a job."""
    return (await rt.shell.jobs.start(command)).id


async def test_what_appears_when_nobody_waits_any_more_is_found_later(place: Place) -> None:
    hooks = place.workspace / ".git" / "hooks"
    make = "mkdir -p .git/hooks; touch .git/hooks/evil"
    async with place.opened(sh, slow, background) as hf:
        assert not (await hf.settle("slow", {"command": f"{make}; sleep 60"})).ok
        assert hooks.exists()
        assert (await hf.settle("sh", {"command": "true"})).ok
        assert str(hooks) in {one.target for one in REPORTS["last"].refusals}
        assert not hooks.exists()
        assert (await hf.settle("background", {"command": f"{make}; touch done; sleep 60"})).ok
        with anyio.fail_after(10):
            while not (place.workspace / "done").exists():  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.01)
    assert not hooks.exists()


async def test_a_session_that_is_closed_starts_nothing(place: Place) -> None:
    runtimes: list[Runtime] = []

    @tool(requires=FILES)
    async def keep(rt: Runtime) -> None:
        """Keep the runtime for later."""
        runtimes.append(rt)

    async with place.opened(keep) as hf:
        assert (await hf.settle("keep")).ok
    with pytest.raises(Unavailable, match="closed"):
        await runtimes[0].shell.run("true")


async def test_deep_folders_are_removed_with_the_session(place: Place) -> None:
    code = 'import os\\nfor _ in range(3000): os.mkdir("d"); os.chdir("d")'
    deep = f"cd $TMPDIR; mkdir shut; touch shut/x; chmod 0 shut; python3 -c $'{code}'"
    async with place.opened(sh) as hf:
        await hf.settle("sh", {"command": deep})
    assert [entry.name for entry in (place.home / "sessions").iterdir()] == []


class Origin(BaseHTTPRequestHandler):
    """Answers with its own path."""

    def do_GET(self) -> None:
        body = f"you asked for {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def origin() -> Generator[str]:
    server = HTTPServer(("127.0.0.1", 0), Origin)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    serving.join()
    server.server_close()


def closed_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


async def test_a_tool_fetches_what_it_was_granted_and_nothing_else(
    place: Place, origin: str
) -> None:
    @tool(requires={"net": {"hosts": [origin]}})
    async def fetch(rt: Runtime, url: str) -> str:
        """Fetch."""
        return (await rt.net.fetch(url)).body.decode()

    async with place.opened(fetch) as hf:
        envelope = await hf.settle("fetch", {"url": f"http://{origin}/x"})
        assert decode_json(envelope.result_json) == {"text": "you asked for /x"}
        failure = (await hf.settle("fetch", {"url": "http://evil.example/"})).failure
    assert failure is not None
    assert failure.kind == FailureKind.REJECTED
    assert "evil.example" in str(failure.extras["target"])
    assert failure.extras["requirement"] == "requires.net.hosts = ['evil.example']"


@pytest.mark.system("curl")
async def test_a_command_reaches_granted_hosts_through_the_proxy_alone(
    place: Place, origin: str
) -> None:
    @tool(requires={**FILES, "net": {"hosts": [origin]}})
    async def web(rt: Runtime, command: str) -> str:
        """Run a command that needs a host."""
        report = REPORTS["last"] = await rt.shell.run(command)
        return report.stdout.text()

    async with place.opened(web) as hf:
        through = f"curl -sS http://{origin}/y"
        envelope = await hf.settle("web", {"command": through})
        if envelope.failure is not None:
            assert envelope.failure.kind == FailureKind.UNAVAILABLE
            pytest.skip("no network of its own can be made here")
        assert decode_json(envelope.result_json) == {"text": "you asked for /y"}
        around = f"curl -sS --noproxy '*' --max-time 2 http://{origin}/y"
        await hf.settle("web", {"command": around})
        assert REPORTS["last"].exit_code == 7
        await hf.settle("web", {"command": "curl -sS --max-time 5 https://evil.example/"})
        (refused,) = REPORTS["last"].refusals
        assert refused.target in ("evil.example:443", "evil.example")
        assert refused.requirement == "requires.net.hosts = ['evil.example']"
