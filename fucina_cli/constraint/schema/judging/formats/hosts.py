"""Addresses of machines and of people: IP, host names, mail boxes."""

from __future__ import annotations

import re
from collections.abc import Callable

from fucina_cli.constraint.schema.judging.formats.times import digits

_HEX = frozenset("0123456789ABCDEFabcdef")
_LETTERS_DIGITS = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_ATOM = _LETTERS_DIGITS | frozenset("!#$%&'*+-/=?^_`{|}~")
_LONGEST_LABEL, _LONGEST_NAME = 63, 253  # octets; RFC 1035, section 2.3.4


def is_ipv4(text: str) -> bool:
    """`dotted-quad` of RFC 2673, section 3.2: no leading zeros."""
    return _is_quad(text) and all(
        part == "0" or not part.startswith("0") for part in text.split(".")
    )


def is_ipv6(text: str) -> bool:
    """An address in a form of RFC 4291, section 2.2, without a zone."""
    return is_ipv6_of(text, beside_gap=7, ipv4=is_ipv4)


def is_ipv6_of(text: str, *, beside_gap: int, ipv4: Callable[[str], bool]) -> bool:
    """An IPv6 address with at most `beside_gap` groups beside `::`; `ipv4` judges its end."""
    halves = text.split("::")
    if len(halves) > 2:
        return False
    groups = [half.split(":") if half else [] for half in halves]
    count = sum(map(len, groups))
    last = groups[-1][-1] if groups[-1] else ""
    if "." in last:
        if not ipv4(last):
            return False
        groups[-1].pop()
        count += 1
    if not all(
        1 <= len(group) <= 4 and _HEX.issuperset(group) for half in groups for group in half
    ):
        return False
    return count <= beside_gap if len(halves) == 2 else count == 8


def is_hostname(text: str) -> bool:
    """RFC 1123, section 2.1; labels that begin with xn-- are A-labels of RFC 5890."""
    return len(text) <= _LONGEST_NAME and all(_is_ascii_label(part) for part in text.split("."))


def is_idn_hostname(text: str) -> bool:
    """Labels of RFC 1123 or U-labels of RFC 5890, between any of the four dots of RFC 3490."""
    labels = re.split("[.\u3002\uff0e\uff61]", text)
    lengths = [_label_length(label) for label in labels]
    return all(lengths) and sum(lengths) + len(labels) - 1 <= _LONGEST_NAME


def is_email(text: str) -> bool:
    """`Mailbox` of RFC 5321, section 4.1.2.

    The lengths of section 4.5.3.1 are not part of it: they say what every host must take.
    """
    return text.isascii() and _is_mailbox(text, _is_ldh)


def is_idn_email(text: str) -> bool:
    """`Mailbox` as RFC 6531, section 3.3, extends it: UTF-8 in the local part, U-labels."""
    return not _has_surrogates(text) and _is_mailbox(
        text, lambda label: _is_ldh(label) if label.isascii() else _label_length(label) > 0
    )


# ----------------------------------------------------------------------------------------------


def _is_quad(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == 4 and all(
        digits(part) and len(part) <= 3 and int(part) <= 255 for part in parts
    )


def _is_ldh(label: str) -> bool:
    """Letters, digits and inner hyphens."""
    return (
        bool(label)
        and _LETTERS_DIGITS.issuperset(label.replace("-", ""))
        and "-" not in (label[0], label[-1])
    )


def _is_ascii_label(label: str) -> bool:
    if not _is_ldh(label) or len(label) > _LONGEST_LABEL:
        return False
    return not label.lower().startswith("xn--") or _is_a_label(label.lower())


def _is_a_label(label: str) -> bool:
    """Whether it stands for a U-label, and is how that is encoded (RFC 5891, section 5.4)."""
    try:
        name = label[4:].encode().decode("punycode")
    except ValueError:
        return False
    return not name.isascii() and _encoded(name) == label


def _label_length(label: str) -> int:
    """Its octets once encoded; 0 where it may not be in a host name."""
    if label.isascii():
        return len(label) if _is_ascii_label(label) else 0
    encoded = _encoded(label)
    return len(encoded) if len(encoded) <= _LONGEST_LABEL else 0


def _encoded(label: str) -> str:
    """A U-label as an A-label, "" where RFC 5891 to 5893 forbid it."""
    import idna

    try:
        return idna.alabel(label).decode()
    except ValueError:  # idna.IDNAError among them
        return ""


def _is_mailbox(text: str, is_label: Callable[[str], bool]) -> bool:
    end = _quoted_end(text) if text.startswith('"') else text.find("@")
    local, domain = text[:end], text[end + 1 :]
    if end < 0 or text[end : end + 1] != "@":
        return False
    if not local.startswith('"') and not all(map(_is_atom, local.split("."))):
        return False
    if domain.startswith("["):
        return domain.endswith("]") and _is_literal(domain[1:-1])
    return all(map(is_label, domain.split(".")))


def _quoted_end(text: str) -> int:
    """Where the quoted string that begins `text` has ended; -1 where it is none."""
    at = 1
    while at < len(text) and text[at] != '"':
        escaped = text[at] == "\\"
        character = text[at + escaped : at + escaped + 1]
        if not (" " <= character <= "~" or (not escaped and character >= "\x80")):
            return -1
        at += 1 + escaped
    return at + 1 if at < len(text) else -1


def _is_atom(text: str) -> bool:
    return bool(text) and all(c in _ATOM or c >= "\x80" for c in text)


def _is_literal(text: str) -> bool:
    """`address-literal` between its brackets; a number of `Snum` may have leading zeros."""
    if text[:5].lower() == "ipv6:":
        return is_ipv6_of(text[5:], beside_gap=6, ipv4=_is_quad)
    return _is_quad(text)


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
