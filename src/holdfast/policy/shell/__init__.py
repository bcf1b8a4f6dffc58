"""What a command text would run, told from the text alone.

Nothing here decides, reads a file or starts a process. The public face is `analysis`.
"""
