"""Models behind the port `ChatModel`: one form of wire a module, and those that need no network.

Nothing here reads the environment or a configuration; `app.models` puts a model together.
"""
