"""Where people and programs meet holdfast. Siblings do not know each other."""
