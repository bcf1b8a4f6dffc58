"""An agent for editors: the Agent Client Protocol, version 1, over standard streams."""
