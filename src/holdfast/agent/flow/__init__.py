"""Flow sessions through models: the loop, compressing, agents and workflows."""
