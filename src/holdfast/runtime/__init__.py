"""The way of a call, put together: settle, the catalog of tools, profiles."""
