"""What the kernel is asked for by number: system calls, Landlock, seccomp, namespaces, privileges.

Standard library alone: the warden loads these rooms, and it has to start at once.
"""
