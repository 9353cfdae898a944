"""What has become of the script that this process runs."""
from __future__ import annotations


class Script:
    """Of a session; for the exit status and for what is said at the end."""

    def __init__(self) -> None:
        self.arguments = -1      # words after its name; -1: not known
        self.has_failed = False  # it, or one of its tests, has raised
        self.is_unmet = False    # something that an option asks for never came
        self.fails_elsewhere = False  # with other sizes, which were tried
        self.is_mute = False     # standard output was lost, as has been said

    def begin(self, arguments: int) -> None:
        """It begins, with so many words after its name."""
        self.arguments = arguments

    def fail(self) -> None:
        """It has raised something."""
        self.has_failed = True

    def fail_elsewhere(self) -> None:
        """With other sizes something was found."""
        self.fails_elsewhere = True

    def miss(self) -> None:
        """What an option asks for has not come."""
        self.is_unmet = True

    def lose_output(self) -> None:
        """Standard output cannot be written, which an exit status tells."""
        self.is_mute = self.is_unmet = True
