"""Judges a JSON answer by its schema, by the package jsonschema, formats included."""

from __future__ import annotations

import itertools
import json
from typing import Any

from fucina_cli.constraint.kind import Verdict
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.check import jsonschema_alone, validator_class
from fucina_cli.limits import TimeLimit
from fucina_cli.text import one_line

_SHOWN_ERRORS = 5


def judge(schema: Any, text: str) -> Verdict:
    """The verdict on `text`. Raises TimeLimit."""
    # Not imported above: that takes what the keywords are judged by, which starts slowly.
    from fucina_cli.constraint.schema.judging.duplicates import repeated_keys

    try:
        value = document.loads(text)
        twice = list(itertools.islice(repeated_keys(text), _SHOWN_ERRORS))
    except (ValueError, RecursionError) as failure:
        return Verdict(False, (f"not JSON: {one_line(str(failure))}",))
    with jsonschema_alone() as jsonschema:
        import referencing

        from fucina_cli.constraint.schema.judging import exact

        kind = exact(validator_class(jsonschema, schema))

        # An explicit registry: jsonschema would otherwise fetch remote references.
        validator = kind(schema, registry=referencing.Registry())
        errors = [
            f"{pointer or 'answer'}: the key {json.dumps(key, ensure_ascii=False)} is there twice"
            for pointer, key in twice
        ]
        try:
            for error in validator.iter_errors(value):
                where = "/".join(str(part) for part in error.absolute_path)
                errors.append(f"{where or 'answer'}: {one_line(error.message)}")
                if len(errors) >= _SHOWN_ERRORS:
                    break
        except TimeLimit:
            raise
        except Exception as failure:  # an unreadable pattern, a reference without a target
            if not errors:
                return Verdict(None, (f"it can't be judged: {one_line(str(failure))}",))
    return Verdict(not errors, tuple(errors))
