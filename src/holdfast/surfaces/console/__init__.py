"""The console: pages that a browser shows, which are clients of the HTTP API and nothing more."""
