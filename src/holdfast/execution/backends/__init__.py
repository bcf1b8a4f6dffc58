"""The sandbox plane of flow sessions: backends, handles, streams, and a session's binding."""
