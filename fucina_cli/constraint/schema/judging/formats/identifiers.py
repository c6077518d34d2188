"""Identifiers: URI, IRI and their templates, UUID, JSON pointers."""

from __future__ import annotations

from collections.abc import Callable

from fucina_cli.constraint.schema.judging.formats import hosts
from fucina_cli.constraint.schema.judging.formats.times import digits

_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HEX = frozenset(_DIGITS + "ABCDEFabcdef")
_SCHEME = frozenset(_LETTERS + _DIGITS + "+-.")
_NAME = frozenset(_LETTERS + _DIGITS + "-._~" + "!$&'()*+,;=")  # unreserved and sub-delims
_USER = _NAME | {":"}
_PATH = _NAME | set(":@/")
_QUERY = _PATH | {"?"}
_NOT_LITERAL = frozenset(' "<>\\^`{|}%')
_OPERATORS = frozenset("+#./;?&=,!@|")
_VARIABLE = frozenset(_LETTERS + _DIGITS + "_")


def is_uri(text: str) -> bool:
    """`URI` of RFC 3986, appendix A."""
    return text.isascii() and _is_identifier(text, relative=False)


def is_uri_reference(text: str) -> bool:
    """`URI-reference` of RFC 3986."""
    return text.isascii() and _is_identifier(text, relative=True)


def is_iri(text: str) -> bool:
    """`IRI` of RFC 3987, section 2.2."""
    return _is_identifier(text, relative=False)


def is_iri_reference(text: str) -> bool:
    """`IRI-reference` of RFC 3987."""
    return _is_identifier(text, relative=True)


def is_uri_template(text: str) -> bool:
    """`URI-Template` of RFC 6570, section 2, and the apostrophe that its errata allow."""
    while text:
        literal, opened, rest = text.partition("{")
        if not _is_made_of(literal, _is_literal):
            return False
        if not opened:
            return True
        expression, closed, text = rest.partition("}")
        if not closed or not _is_expression(expression):
            return False
    return True


def is_uuid(text: str) -> bool:
    """RFC 4122, section 3, of any version."""
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(
        _HEX.issuperset(part) for part in parts
    )


def is_json_pointer(text: str) -> bool:
    """RFC 6901, section 3."""
    return text[:1] in ("", "/") and all(after[:1] in ("0", "1") for after in text.split("~")[1:])


def is_relative_json_pointer(text: str) -> bool:
    """draft-bhutton-relative-json-pointer-00, section 3."""
    rest = _after_number(text)
    if rest is None or rest == "#":
        return rest is not None
    if rest[:1] in ("+", "-"):
        rest = _after_number(rest[1:])
    return rest is not None and is_json_pointer(rest)


# ----------------------------------------------------------------------------------------------


def _is_identifier(text: str, *, relative: bool) -> bool:
    """The split of RFC 3986, appendix B, then each part by its own characters."""
    text, _, fragment = text.partition("#")
    text, _, query = text.partition("?")
    scheme, colon, path = text.partition(":")
    absolute = bool(colon) and _is_scheme(scheme)
    if not absolute:
        if not relative:
            return False
        path = text
    if path.startswith("//"):
        authority, slash, path = path[2:].partition("/")
        path = slash + path
        if not _is_authority(authority):
            return False
    elif not absolute and ":" in path.partition("/")[0]:
        return False  # section 4.2: it would be taken for a scheme
    return (
        _is_made_of(path, lambda c: c in _PATH or _is_ucschar(c))
        and _is_made_of(query, lambda c: c in _QUERY or _is_ucschar(c) or _is_private(c))
        and _is_made_of(fragment, lambda c: c in _QUERY or _is_ucschar(c))
    )


def _is_scheme(text: str) -> bool:
    return text[:1] in _LETTERS and bool(text) and _SCHEME.issuperset(text)


def _is_authority(text: str) -> bool:
    user, at, host = text.rpartition("@")
    if at and not _is_made_of(user, lambda c: c in _USER or _is_ucschar(c)):
        return False
    if host.startswith("["):
        literal, closed, port = host[1:].partition("]")
        if not closed or not _is_ip_literal(literal):
            return False
        return port == "" or (port[0] == ":" and (port == ":" or digits(port[1:])))
    name, _, port = host.partition(":")
    return _is_made_of(name, lambda c: c in _NAME or _is_ucschar(c)) and (
        port == "" or digits(port)
    )


def _is_ip_literal(text: str) -> bool:
    if text[:1] not in ("v", "V"):
        return hosts.is_ipv6(text)
    version, dot, address = text[1:].partition(".")
    return bool(version and dot and address) and (
        _HEX.issuperset(version) and _USER.issuperset(address)
    )


def _is_made_of(text: str, allowed: Callable[[str], bool]) -> bool:
    """Whether every character is allowed or part of a percent-encoded octet."""
    first, *others = text.split("%")
    return all(map(allowed, first)) and all(
        len(part) >= 2 and _HEX.issuperset(part[:2]) and all(map(allowed, part[2:]))
        for part in others
    )


def _is_ucschar(character: str) -> bool:
    code = ord(character)
    if code < 0x10000:
        return 0xA0 <= code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF
    return code < 0xF0000 and code & 0xFFFF <= 0xFFFD and not 0xE0000 <= code < 0xE1000


def _is_private(character: str) -> bool:
    code = ord(character)
    return 0xE000 <= code <= 0xF8FF or (code >= 0xF0000 and code & 0xFFFF <= 0xFFFD)


def _is_literal(character: str) -> bool:
    if character < "\x80":
        return "\x21" <= character <= "\x7e" and character not in _NOT_LITERAL
    return _is_ucschar(character) or _is_private(character)


def _is_expression(text: str) -> bool:
    variables = text[1:] if text[:1] in _OPERATORS else text
    return all(map(_is_variable, variables.split(",")))


def _is_variable(text: str) -> bool:
    """`varspec`: a name, perhaps `*` or a length of at most four digits."""
    name, colon, length = text.partition(":")
    if not colon:
        name = name.removesuffix("*")
    elif not digits(length) or length.startswith("0") or len(length) > 4:
        return False
    return all(part and _is_made_of(part, _VARIABLE.__contains__) for part in name.split("."))


def _after_number(text: str) -> str | None:
    """What follows an integer without leading zeros; None where there is none."""
    rest = text.lstrip(_DIGITS)
    number = text[: len(text) - len(rest)]
    return None if not number or (number[0] == "0" and number != "0") else rest
