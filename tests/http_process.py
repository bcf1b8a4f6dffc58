"""`holdfast serve` as a process of its own, and clients of it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from command import HOLDFAST

PATIENCE = 15.0


class Serving:
    """One that listens."""

    def __init__(self, process: "subprocess.Popen[str]", told: dict[str, Any], token: str) -> None:
        self.process = process
        self.told = told
        self.client = httpx.Client(
            base_url=f"{told['address']}/api/v1",
            headers={"authorization": f"Bearer {token}"},
            timeout=PATIENCE,
            trust_env=False,
        )

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json()

    def post(self, path: str, status: int = 202, key: str | None = None, **body: Any) -> Any:
        headers = {} if key is None else {"idempotency-key": key}
        answer = self.client.post(path, json=body, headers=headers)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def until(self, path: str, fits: Callable[[Any], object]) -> Any:
        """What is at a path, once it fits."""
        return wait_for(lambda: self.get(path), fits)

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """How it ended, once it has."""
        return self.process.wait(PATIENCE)


def wait_for(look: Callable[[], Any], fits: Callable[[Any], object]) -> Any:
    """What is seen, once it fits."""
    until = time.monotonic() + PATIENCE
    found: Any = None
    while time.monotonic() < until:
        if fits(found := look()):
            return found
        time.sleep(0.02)
    raise AssertionError(f"it never came to that: {found}")


@contextmanager
def serving(
    home: Path,
    work: Path,
    *words: str,
    token: str | None = None,
    variables: dict[str, str] | None = None,
) -> Generator[Serving]:
    """Serve, until this is left: then it is killed, where it has not ended."""
    argv = [str(HOLDFAST), "serve", "--port", "0", "--json", "--workspace", str(work), *words]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home), **(variables or {})},
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, "it never listened"
            told = json.loads(line)
            one = Serving(process, told, token or told["token"])
            try:
                yield one
            finally:
                one.client.close()
        finally:
            process.kill()
