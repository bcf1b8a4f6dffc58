"""The door of every server over HTTP: who may come in, how connections are kept, how it ends."""
