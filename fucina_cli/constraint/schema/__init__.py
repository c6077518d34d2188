"""JSON schemas: read exactly, checked, rewritten for the grammar engine; answers judged."""
