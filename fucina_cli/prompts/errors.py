"""What can go wrong with a chat template; apart, so that naming it costs no import of Jinja."""

from __future__ import annotations


class TemplateError(Exception):
    """The chat template can't be rendered, or tried what a template must not."""
