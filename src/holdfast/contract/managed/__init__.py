"""Ports and values of the managed tools: a module for each group of them."""
