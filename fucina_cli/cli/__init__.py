"""The command with its flags, the modes, and the process that they run in."""
