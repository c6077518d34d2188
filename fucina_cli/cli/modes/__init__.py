"""The modes, one file each; whatever file is here is a mode."""
