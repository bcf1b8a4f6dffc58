"""The tools of a session for clients of the Model Context Protocol."""
