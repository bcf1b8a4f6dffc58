"""A run on the whole screen of a terminal: a timeline, what is to be done, questions, a line to
speak on.

`keys` reads what is typed, `timeline` is told what happens, `layout` makes rows of both, `drawing`
writes what changed, `view` puts them together. Only `terminal` and `stray` touch a descriptor.
"""
