"""The kinds of constraints, one file each; a file that declares a `Kind` adds one."""
