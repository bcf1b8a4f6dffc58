"""The tool runtime for AI agents."""
