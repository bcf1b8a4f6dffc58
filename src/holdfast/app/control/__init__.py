"""Several windows on one machine: watching and steering a session that another process runs."""
