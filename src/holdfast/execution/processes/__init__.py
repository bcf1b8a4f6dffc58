"""The runtime's side of processes: where they run, what they print, how they end.

It speaks to the event loop itself (design/0008).
"""
