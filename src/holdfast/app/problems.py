"""What an operator has to put right before anything can run. Light: nothing is imported.

Each message says where, what is wrong and what to do; the command line shows it as it is.
"""


class ConfigurationError(ValueError):
    """The configuration cannot be used."""


class ToolFileError(ValueError):
    """A tool file cannot be used."""


class MissingProgramError(ConfigurationError):
    """A program that is configured as a tool cannot be run."""

    def __init__(self, said: str, step: str) -> None:
        super().__init__(said)
        self.step = step
        """What to do about it."""
