"""The official SDK's own server with one trivial tool: over a pipe, or over HTTP on a port.

python mcp_sdk_server.py [PORT]
"""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("peer")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if len(sys.argv) > 1:
    server.run(
        transport="streamable-http", port=int(sys.argv[1]), json_response=True, stateless_http=True
    )
else:
    server.run()
