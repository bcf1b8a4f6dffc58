"""Running agents over sessions. It sees contract and runtime, never a stage."""
