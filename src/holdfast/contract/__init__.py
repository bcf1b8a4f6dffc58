"""The vocabulary every room shares: values and Protocols, no I/O and nothing of ours imported."""
