"""Connections between processes over a bus, as if there were a wire between them."""
