"""A flow tool that works in a sandbox: its own directory, no network, confined by the kernel.

Run it: python examples/flow_sandbox.py
From the command line: holdfast tools --from examples/flow_sandbox.py
"""

from collections.abc import Mapping

from holdfast.blocking import Holdfast
from holdfast.flow import (
    BackendToolCommandRun,
    CommandResult,
    FlowSession,
    FlowToolCall,
    SandboxBinding,
    serialize,
    tool_from_flow,
    tool_table,
)


class CountLines(FlowToolCall):
    """A tool of one's own: arguments in, one payload out, its result made plain."""

    @property
    def name(self) -> str:
        return "count_lines"

    @property
    def description(self) -> str:
        return "Count the lines of a file, e.g. path `notes.md`."

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "e.g. `notes.md`"}},
            "required": ["path"],
            "additionalProperties": False,
        }

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        payload = BackendToolCommandRun(["wc", "-l", "--", str(arguments["path"])], timeout=10)
        ran = session.require_sandbox().dispatch(payload)
        if isinstance(ran, CommandResult) and ran.exit_code == 0:
            return {"lines": int(ran.stdout.split()[0])}
        return ran  # a failure is a value, too


# Nothing is opened yet: the sandbox is there once a tool needs it.
SESSION = SandboxBinding().to("local")
count_lines = tool_from_flow(CountLines(), SESSION)


def main() -> None:
    built_in = [tool_from_flow(tool, SESSION) for tool in tool_table().values()]
    with SESSION:
        with Holdfast(tools=[count_lines, *built_in]) as hf:
            hf.settle("write_workspace_file", {"path": "notes.md", "content": "one\ntwo\n"})
            print(hf.settle("count_lines", {"path": "notes.md"}).result)

            outside = hf.settle("read_workspace_file", {"path": "../secret"}).failure
            assert outside is not None
            print(outside.kind, outside.field)

            slow = hf.settle("run_code", {"code": "while True: pass", "timeout": 0.5}).failure
            assert slow is not None
            print(slow.kind)

            # The kernel says no, whatever the command tries.
            tried = hf.settle("run_shell_command", {"cmd": "echo x > /etc/own; echo $?"}).result
            assert isinstance(tried, dict)
            print("written outside:", tried["stdout"] == "0\n")

        # Several operations at once, by hand.
        sandbox = SESSION.require_sandbox()
        with sandbox.stream() as first, sandbox.stream() as second:
            done = first.record_event()
            second.wait_event(done)
            future = second.submit(BackendToolCommandRun("cat notes.md | tail -1"))
        print(serialize(future.result())[:35])


if __name__ == "__main__":
    main()
