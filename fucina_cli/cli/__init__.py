"""The command with its flags, its modes, and the process that they run in."""
