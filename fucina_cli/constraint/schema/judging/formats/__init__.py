"""The formats of drafts 4 to 2020-12, read character by character as their RFCs define them.

What allows strings while decoding is patterns elsewhere; the two share nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fucina_cli.constraint.schema.judging.formats import hosts, identifiers, patterns, times
from fucina_cli.constraint.schema.judging.texts import shown

#: Whether a string has the format. None of them raises.
CHECKS: dict[str, Callable[[str], bool]] = {
    "date": times.is_date,
    "time": times.is_time,
    "date-time": times.is_date_time,
    "duration": times.is_duration,
    "email": hosts.is_email,
    "idn-email": hosts.is_idn_email,
    "hostname": hosts.is_hostname,
    "idn-hostname": hosts.is_idn_hostname,
    "ipv4": hosts.is_ipv4,
    "ipv6": hosts.is_ipv6,
    "uri": identifiers.is_uri,
    "uri-reference": identifiers.is_uri_reference,
    "iri": identifiers.is_iri,
    "iri-reference": identifiers.is_iri_reference,
    "uri-template": identifiers.is_uri_template,
    "uuid": identifiers.is_uuid,
    "json-pointer": identifiers.is_json_pointer,
    "relative-json-pointer": identifiers.is_relative_json_pointer,
    "regex": patterns.is_regex,
}


def has_format(validator: Any, name: Any, instance: Any, _schema: dict[str, Any]) -> Iterator[str]:
    """`format`, in every draft the same; names that no draft defines say nothing."""
    check = CHECKS.get(name)
    if check is not None and validator.is_type(instance, "string") and not check(instance):
        yield f"{shown(instance)} has not the format {name}"


KEYWORDS = {"format": has_format}
