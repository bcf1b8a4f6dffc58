"""The HTTP API: sessions, calls, approvals and tools of a home, for programs and the console."""
