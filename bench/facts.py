"""What was measured and on what: versions and the machine, without names or dates."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

import environment


def main() -> None:
    ours = [needed.split("==")[0] for needed in environment.own_dependencies()]
    names = ["holdfast", *ours, *environment.peer_names(), "pydantic-core"]
    print(json.dumps({"machine": machine(), "versions": {name: version(name) for name in names}}))


def machine() -> dict[str, str]:
    return {
        "CPU": cpu(),
        "cores": str(os.cpu_count()),
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "Python": platform.python_version(),
    }


def cpu() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
