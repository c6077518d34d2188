"""Regular expressions: read in two syntaxes, written for the engine and for the judge.

Schemas hold patterns of ECMA-262 (`ecma`), `--regex` takes those of Rust (`rust`). Both become
the same tree (`tree`), which is written in the syntax of the engine (`engine`) and, for the judge,
in strict ECMA-262 (`writing`). `matcher` decides for the judge whether a text matches.
"""
