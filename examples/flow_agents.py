"""A workflow of two agents on one sandbox: one writes a program, the other runs it.

The models here follow a script, so that it runs anywhere; any `ChatModel` takes their place.

Run it: python examples/flow_agents.py
"""

import json

from holdfast.flow import (
    Agent,
    AskedCall,
    ModelReply,
    ModelRequest,
    Session,
    ToolResultChunk,
    Workflow,
)

PROGRAM = "print(sum(n * n for n in range(1, 11)))"


class Script:
    """A model that has learned its lines."""

    name = "script"
    provider = "example"
    window = 8_000
    max_output_tokens = 1_000

    def __init__(self, *lines: ModelReply) -> None:
        self._lines = list(lines)

    async def complete(self, _request: ModelRequest, _heard: object = None, /) -> ModelReply:
        return self._lines.pop(0)

    async def close(self) -> None:
        return None


def calls(tool: str, **arguments: str) -> ModelReply:
    asked = AskedCall(f"call_{tool}", tool, json.dumps(arguments))
    return ModelReply(calls=(asked,), finish="tool_calls")


class WriteAndRun(Workflow):
    """The session flows through both; so does its sandbox."""

    def __init__(self) -> None:
        self.writer = Agent(
            "You write small programs.",
            Script(
                calls("write_workspace_file", path="squares.py", content=PROGRAM),
                ModelReply(text="It is in squares.py."),
            ),
        )
        self.runner = Agent(
            "You run programs and tell what they print.",
            Script(
                calls("run_shell_command", cmd="python3 squares.py; cat /etc/shadow"),
                ModelReply(text="385, and the rest was none of my business."),
            ),
        )

    def forward(self, session: Session) -> Session:
        return self.runner(self.writer(session))


def main() -> None:
    workflow = WriteAndRun()
    print([name for name, _ in workflow.named_agents()])

    # The sandbox is the program's grant: what runs inside of it is not asked about.
    session = Session.from_user_message("What is the sum of the first ten squares?").to("local")
    out = workflow(session)
    print(out.lineage.kind, "and nothing is waited for yet")

    for row in out.chunk_table:
        if isinstance(row, ToolResultChunk):
            print(row.name, "->", row.content[:48])
    print(out.chunk_table.to_messages()[-1]["content"])
    out.close()


if __name__ == "__main__":
    main()
