"""The modes, one file each; a file that declares a `Mode` adds one."""
