"""Plugins: tools that installed packages and local folders bring along, once they are named."""
