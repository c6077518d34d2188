"""Kinds of constraints, compiled grammars, their state in a stream, independent validation."""
