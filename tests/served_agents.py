"""`holdfast serve` as a real process, with agents whose models play what a test has written.

Each agent has a script of its own, so that several of them can be at work in one home.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from command import HOLDFAST

PATIENCE = 12.0
Turns = Sequence[Mapping[str, Any]]


class Served(NamedTuple):
    """A server that listens, and where its files are."""

    address: str
    token: str
    home: Path
    workspace: Path
    tools: Path

    def get(self, path: str) -> Any:
        """What the API answers."""
        return self._asked("GET", path, None)

    def post(self, path: str, body: object = None) -> Any:
        """What the API answers."""
        return self._asked("POST", path, body or {})

    def begin(self, agent: str, message: str = "Begin.") -> str:
        """A session of that agent, and its first message."""
        return str(self.post("/sessions", {"agent": agent, "message": message})["id"])

    def until(self, path: str, wanted: Callable[[Any], bool]) -> Any:
        """The answer, once it is as wanted."""
        end = time.monotonic() + PATIENCE
        while True:
            told = self.get(path)
            if wanted(told):
                return told
            assert time.monotonic() < end, f"{path} is never as wanted: {json.dumps(told)[:2000]}"
            time.sleep(0.05)

    def rests(self, session: str) -> Any:
        """The row of a session once nothing of it runs."""
        return self.until(f"/sessions/{session}", lambda row: row["status"] == "idle")

    def _asked(self, method: str, path: str, body: object) -> Any:
        answer = httpx.request(
            method,
            f"{self.address}/api/v1{path}",
            json=body,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=PATIENCE,
            trust_env=False,
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None


@contextmanager
def served(
    folder: Path,
    agents: Mapping[str, Turns],
    *,
    policy: str = "",
    tools: str = "",
    of_agents: str = "",
) -> Generator[Served]:
    """A server in a home of its own below the folder, until this is left.

    ``of_agents``: what else is configured of each of the agents.
    """
    home, workspace = folder / "home", folder / "work"
    home.mkdir(mode=0o700, exist_ok=True)
    workspace.mkdir(exist_ok=True)
    (home / "config.toml").write_text(_configuration(folder, agents, of_agents), "utf-8")
    (home / "policy.toml").write_text(policy, "utf-8")
    tool_file = folder / "handed.py"
    tool_file.write_text(tools or "TOOLS = []\n", "utf-8")
    argv = [str(HOLDFAST), "serve", "--port", "0", "--json", "--workspace", str(workspace)]
    argv += ["--set", "engine.look_seconds=0.05", *(["--from", str(tool_file)] if tools else [])]
    errors = (folder / "serve.err").open("wb")
    with (
        errors,
        subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=workspace,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, (folder / "serve.err").read_text("utf-8")
            told = json.loads(line)
            yield Served(told["address"], told["token"], home, workspace, tool_file)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _configuration(folder: Path, agents: Mapping[str, Turns], more: str) -> str:
    said: list[str] = []
    for name, turns in agents.items():
        script = folder / f"{name}.json"
        script.write_text(json.dumps({"turn": list(turns)}), "utf-8")
        said.append(f'[model.{name}]\nkind = "scripted"\nfile = "{script}"\n')
        said.append(
            f'[agent.{name}]\nmodel = "{name}"\nmode = "primary"\nprofile = "code"\n{more}\n'
        )
    return "\n".join(said)
