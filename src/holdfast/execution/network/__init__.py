"""The way to hosts: a proxy for confined processes, and fetching for tools (design/0009).

A host is judged first, then resolved, then every address is judged, and only such an address is
dialled. Which hosts are admitted is not known here: a gate says it.
"""
