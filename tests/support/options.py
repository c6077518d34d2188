"""Options of the command line, made without parsing one."""

from __future__ import annotations

import dataclasses
from typing import Any

from fucina_cli.cli.options import Options

#: No test here gets as far as opening it.
MODEL = "no-such-model.gguf"


def options(**given: Any) -> Options:
    """Options as if only `given` stood on the command line."""
    fields: dict[str, Any] = {
        field.name: False if field.type == "bool" else None for field in dataclasses.fields(Options)
    }
    return Options(**{**fields, "model": MODEL, "exact": True, "forced_spans": True, **given})
