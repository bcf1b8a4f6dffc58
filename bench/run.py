"""Measure holdfast and its peers in one run and write bench/RESULTS.md.

python bench/run.py            the whole run, five to fifteen minutes
python bench/run.py --quick    a short one, printed and not written: too few rounds to publish
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import environment
import report

RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few rounds; prints, writes nothing")
    quick = parser.parse_args().quick
    environment.ensure()
    told = {
        "facts": _told("facts.py"),
        "calls": _told("call_overhead.py", *["--quick"] * quick),
        "decisions": _told("decisions.py", *["--quick"] * quick),
        "starts": _told("startup.py", *["--quick"] * quick),
        "processes": _told("processes.py", *["--quick"] * quick),
        "journal": _told("journal.py", *["--quick"] * quick),
        "search": _told("tools_search.py", *["--quick"] * quick),
        "files": _told("tools_files.py", *["--quick"] * quick),
        "mcp": _told("mcp_servers.py", *["--quick"] * quick),
        "agents": _told("agent_loop.py", *["--quick"] * quick),
        "managed": {
            "search": _told("managed_search.py", *["--quick"] * quick),
            "sessions": _told("managed_sessions.py", *["--quick"] * quick),
        },
        "serving": _told("serving.py", *["--quick"] * quick),
        "cluster": {
            "dispatch": _told("cluster.py", *["--quick"] * quick),
            "figures": _told("cluster_figures.py", *["--quick"] * quick),
        },
        "malformed": _told("malformed.py"),
    }
    text = report.written(told)
    print(text)
    if not quick:
        RESULTS.write_text(text, encoding="utf-8")


def _told(script: str, *options: str) -> dict:
    command = [str(environment.PYTHON), str(Path(__file__).parent / script), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/{script} failed")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
