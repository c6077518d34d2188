"""The kinds of constraints, one file each; whatever file is here is a kind."""
