"""Schemas that the benchmarks decode under, in a short notation."""

from __future__ import annotations


def fields(**properties: object) -> dict[str, object]:
    """An object of just these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def string(most: int, least: int = 0) -> dict[str, object]:
    """A string of so many characters."""
    return {"type": "string", **({"minLength": least} if least else {}), "maxLength": most}


def number(least: int, most: int | None = None) -> dict[str, object]:
    """An integer within bounds."""
    return {"type": "integer", "minimum": least, **({} if most is None else {"maximum": most})}


def one_of(*values: str) -> dict[str, object]:
    """One of these strings."""
    return {"enum": list(values)}


def items(least: int, most: int, item: object) -> dict[str, object]:
    """A list of so many items."""
    return {"type": "array", "minItems": least, "maxItems": most, "items": item}


YES_NO = {"type": "boolean"}
