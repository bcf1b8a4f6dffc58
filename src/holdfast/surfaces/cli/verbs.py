"""The table of verbs: what each is for and which module answers it. Nothing is imported."""

from typing import NamedTuple


class Verb(NamedTuple):
    """One word after `holdfast`."""

    name: str
    group: str
    summary: str
    loads_tools: bool = False
    """Whether a stranger's code runs: what it prints is no part of the answer."""
    json_is_input: bool = False
    """Whether `--json` brings arguments; elsewhere it asks for JSON."""
    tells_its_end: bool = False
    """Whether the last line of JSON says how it ended, also where nothing could begin."""

    @property
    def module(self) -> str:
        """The module that has `add_arguments` and `run`."""
        return f"holdfast.surfaces.cli.{self.name}"


AGENTS = "Run agents"
TOOLS = "See and call tools"
POLICY = "Decide what may run"
CHECK = "Check"
LEARN = "Learn"

VERBS = (
    Verb(
        "run",
        AGENTS,
        "give an agent a task and watch it work",
        loads_tools=True,
        tells_its_end=True,
    ),
    Verb("resume", AGENTS, "go on with an agent's session", loads_tools=True, tells_its_end=True),
    Verb(
        "serve",
        AGENTS,
        "show the console in a browser, and answer the HTTP API",
        loads_tools=True,
    ),
    Verb("acp", AGENTS, "be an agent for editors that speak ACP", loads_tools=True),
    Verb("worker", AGENTS, "run the sessions of agents that are due", loads_tools=True),
    Verb("cluster", AGENTS, "start a cluster to try, see how one is and what was given up"),
    Verb("tools", TOOLS, "list the tools, or show one in full", loads_tools=True),
    Verb(
        "call",
        TOOLS,
        "settle one call and print its envelope",
        loads_tools=True,
        json_is_input=True,
    ),
    Verb("mcp", TOOLS, "serve the tools to clients of MCP", loads_tools=True),
    Verb("replay", TOOLS, "tell a recorded session again, running nothing", loads_tools=True),
    Verb("undo", TOOLS, "put back what a session's calls changed"),
    Verb("sessions", TOOLS, "list, read, search, export and delete sessions"),
    Verb("prune", TOOLS, "remove old sessions and what crashes left"),
    Verb(
        "policy",
        POLICY,
        "explain decisions, list and check rules, take answers back",
        loads_tools=True,
    ),
    Verb("trust", POLICY, "let a project's own files count"),
    Verb("audit", CHECK, "show which programs ran and who allowed what; verify the journal"),
    Verb("plugin", CHECK, "begin, check and list plugins", loads_tools=True),
    Verb("manifest", CHECK, "begin, check and export a tools.json"),
    Verb("doctor", CHECK, "check this machine and the configuration", loads_tools=True),
    Verb("conformance", CHECK, "run a file of conformance cases"),
    Verb("tour", LEARN, "a guided tour: good calls, repaired calls, hopeless calls"),
    Verb("completion", LEARN, "print a completion script for your shell"),
)

_ALSO = {"session": "sessions"}
"""Further words for a verb; completion offers the verb alone."""

BY_NAME = {verb.name: verb for verb in VERBS} | {
    word: verb for verb in VERBS for word, name in _ALSO.items() if name == verb.name
}
