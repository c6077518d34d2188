r"""What the `format`s of JSON Schema allow, as patterns: data for the rewrites of `format`.

Each pattern is anchored at both ends and written in what ECMA-262 and Rust's regex read alike: no
shorthand classes, no negated ones, no `.`; characters beyond ASCII stand for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format: the strings that match all `patterns` and have at most `longest` characters.

    `exact` is false where strings that the format forbids match too.
    """

    patterns: tuple[str, ...] = ()
    longest: int | None = None
    exact: bool = True


def _any(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


_HEX = "[0-9A-Fa-f]"
_PERCENT = f"%{_HEX}{{2}}"

# -- RFC 3339: dates, times, durations ---------------------------------------------------------

#: Appendix C: divisible by 4, but not by 100 unless by 400; 0000 is one.
_LEAP_YEAR = _any(
    "[0-9]{2}" + _any("0[48]", "[2468][048]", "[13579][26]"),
    _any("[02468][048]", "[13579][26]") + "00",
)
_DATE = _any(
    "[0-9]{4}-"
    + _any(
        "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
        "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
        "02-(?:0[1-9]|1[0-9]|2[0-8])",
    ),
    f"{_LEAP_YEAR}-02-29",
)
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_CLOCK}:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-]{_CLOCK})"


def _leap_seconds(before: str) -> tuple[str, ...]:
    """Patterns that bar second 60 from all times but those at 23:59 in UTC.

    Local time less offset is 23:59 where a negative offset is the rest of the day to 23:59, and a
    positive one is a minute more than the local time. That ties digits of the offset to digits of
    the time; each pattern ties some, so that they stay small where one for all 1,440 minutes would
    be slow to compile. They hold only for text that is a time, after `before`. Each goes on from
    a second below 60 without memory of the time, so that such times need few states.
    """
    digit, sixty = "[0-9]", ":6[.-:]*"  # the class has digits, colon and point
    two = f"{digit}{{2}}"
    earlier = f"{two}:{two}:[0-5][+-Zz]*"
    zulu = f"23:59{sixty}[Zz]"
    units = "|".join(
        rf"{unit}{sixty}(?:-{two}:{digit}{9 - unit}|\+{two}:{digit}{(unit + 1) % 10})"
        for unit in range(10)
    )
    tens = "|".join(
        rf"{ten}(?:{digit}{sixty}-{two}:{5 - ten}"
        rf"|[0-8]{sixty}\+{two}:{ten}|9{sixty}\+{two}:{(ten + 1) % 6})"
        for ten in range(6)
    )
    hours = "|".join(
        rf"{hour:02}:{two}{sixty}(?:-{23 - hour:02}:{two}"
        rf"|\+(?:{hour:02}:(?:0[1-9]|[1-5]{digit})|{(hour + 1) % 24:02}:00))"
        for hour in range(24)
    )
    ties = (f"{two}:{digit}(?:{units})", f"{two}:(?:{tens}){digit}", hours)
    return tuple(_whole(f"{before}(?:{earlier}|{zulu}|{tie})") for tie in ties)


def _duration() -> str:
    """Appendix A: units are consecutive; weeks stand alone."""
    day = "[0-9]+D"
    month = f"[0-9]+M(?:{day})?"
    year = f"[0-9]+Y(?:{month})?"
    second = "[0-9]+S"
    minute = f"[0-9]+M(?:{second})?"
    hour = f"[0-9]+H(?:{minute})?"
    time = f"T{_any(hour, minute, second)}"
    return f"P{_any(f'{_any(day, month, year)}(?:{time})?', time, '[0-9]+W')}"


# -- RFC 2673 and RFC 4291: addresses ----------------------------------------------------------

_OCTET = _any("25[0-5]", "2[0-4][0-9]", "1[0-9]{2}", "[1-9]?[0-9]")
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"


def _ipv6(beside_gap: int, ipv4: str) -> str:
    """Eight groups, or at most `beside_gap` of them around `::`; `ipv4` may stand for the last two.

    Section 2.2 of RFC 4291. Groups of the left side are written with the colon that follows.
    """
    group = f"{_HEX}{{1,4}}"
    forms = [f"(?:{group}:){{6}}(?:{group}:{group}|{ipv4})"]
    for left in range(beside_gap + 1):
        right = beside_gap - left
        ends = [":"]
        if right:
            ends.append(f"(?::{group}){{1,{right}}}")
        if right >= 2:  # an address in the form of IPv4 takes the place of two
            ends.append(f"(?::{group}){{0,{right - 2}}}:{ipv4}")
        begin = f"(?:{group}:){{{left}}}" if left else ":"
        forms.append(begin + _any(*ends))
    return _any(*forms)


_IPV6 = _ipv6(7, _IPV4)

# -- RFC 1123 and RFC 5890: host names ---------------------------------------------------------

_LETTER_DIGIT = "[0-9A-Za-z]"
_LABEL = f"{_LETTER_DIGIT}(?:[0-9A-Za-z-]{{0,61}}{_LETTER_DIGIT})?"
_BEYOND_ASCII = "\x80-\ud7ff\ue000-\U0010ffff"
#: The dots of RFC 3490, section 3.1.
_DOTS = ".\u3002\uff0e\uff61"
_BEYOND_ASCII_NO_DOT = "\x80-\u3001\u3003-\ud7ff\ue000-\uff0d\uff0f-\uff60\uff62-\U0010ffff"
_U_LABEL = (
    f"[0-9A-Za-z{_BEYOND_ASCII_NO_DOT}]"
    f"(?:[0-9A-Za-z{_BEYOND_ASCII_NO_DOT}-]{{0,61}}[0-9A-Za-z{_BEYOND_ASCII_NO_DOT}])?"
)

# -- RFC 5321, section 4.1.2, and RFC 6531: mail boxes -----------------------------------------


def _mailbox(beyond_ascii: str) -> str:
    atom = f"[!#-'*+/-9=?A-Z^-~{beyond_ascii}-]+"
    quoted = rf'"(?:[ !#-\[\]-~{beyond_ascii}]|\\[ -~])*"'
    inner = f"[0-9A-Za-z{beyond_ascii}]+"
    label = f"{inner}(?:-+{inner})*"
    number = _any("25[0-5]", "2[0-4][0-9]", "[01]?[0-9]{1,2}")
    ipv4 = rf"{number}(?:\.{number}){{3}}"
    address = _any(ipv4, f"[Ii][Pp][Vv]6:{_ipv6(6, ipv4)}")
    local = _any(rf"{atom}(?:\.{atom})*", quoted)
    domain = _any(rf"{label}(?:\.{label})*", rf"\[{address}\]")
    return f"{local}@{domain}"


# -- RFC 3986, RFC 3987 and RFC 6570: identifiers ----------------------------------------------

_UCSCHAR = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(plane << 16 | (0x1000 if plane == 0xE else 0))}-{chr(plane << 16 | 0xFFFD)}"
    for plane in range(0x1, 0xF)
)
_IPRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"


def _identifier(more: str, more_in_query: str, *, relative: bool) -> str:
    """Appendix A of RFC 3986; `more` characters are unreserved, as RFC 3987 has them."""

    def of(characters: str, extra: str = more) -> str:
        return f"(?:[{characters}{extra}]|{_PERCENT})"

    segment = of("!$&-.0-;=@-Z_a-z~")
    no_colon = of("!$&-.0-9;=@-Z_a-z~")
    path = of("!$&-;=@-Z_a-z~")
    user = of("!$&-.0-;=A-Z_a-z~")
    name = of("!$&-.0-9;=A-Z_a-z~")
    future = rf"[Vv]{_HEX}+\.[!$&-.0-;=A-Z_a-z~]+"
    address = _any(_IPV6, future)
    host = _any(rf"\[{address}\]", f"{name}*")
    authority = f"(?:{user}*@)?{host}(?::[0-9]*)?"
    with_authority = f"//{authority}(?:/{path}*)?"
    whole = f"[A-Za-z][0-9A-Za-z+.-]*:{_any(with_authority, f'/?(?:{segment}{path}*)?')}"
    if relative:
        beside = (with_authority, f"/(?:{segment}{path}*)?", f"(?:{no_colon}+(?:/{path}*)?)?")
        whole = _any(whole, *beside)
    query = of("!$&-;=?-Z_a-z~", more + more_in_query)
    fragment = of("!$&-;=?-Z_a-z~")
    return rf"{whole}(?:\?{query}*)?(?:#{fragment}*)?"


def _uri_template() -> str:
    literal = rf"[!#$&-;=?-\[\]_a-z~{_UCSCHAR}{_IPRIVATE}]"
    character = f"(?:[0-9A-Za-z_]|{_PERCENT})"
    variable = rf"{character}(?:\.?{character})*(?:\*|:[1-9][0-9]{{0,3}})?"
    expression = rf"\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}}"
    return f"{_any(literal, _PERCENT, expression)}*"


# -- RFC 6901 and draft-bhutton-relative-json-pointer-00 ---------------------------------------

_POINTER = "(?:/(?:[\0-.0-}\x7f-\ud7ff\ue000-\U0010ffff]|~[01])*)*"
_NUMBER = "(?:0|[1-9][0-9]*)"

#: Every format of drafts 4 to 2020-12.
FORMATS: dict[str, Format] = {
    "date": Format((_whole(_DATE),)),
    "time": Format((_whole(_TIME), *_leap_seconds(""))),
    "date-time": Format((_whole(f"{_DATE}[Tt]{_TIME}"), *_leap_seconds("[+-t]{11}"))),
    "duration": Format((_whole(_duration()),)),
    "email": Format((_whole(_mailbox("")),)),
    "idn-email": Format((_whole(_mailbox(_BEYOND_ASCII)),), exact=False),
    # Whether xn-- begins a label that IDNA allows is beyond patterns.
    "hostname": Format((_whole(rf"{_LABEL}(?:\.{_LABEL})*"),), longest=253, exact=False),
    "idn-hostname": Format(
        (_whole(f"{_U_LABEL}(?:[{_DOTS}]{_U_LABEL})*"),), longest=253, exact=False
    ),
    "ipv4": Format((_whole(_IPV4),)),
    "ipv6": Format((_whole(_IPV6),)),
    "uri": Format((_whole(_identifier("", "", relative=False)),)),
    "uri-reference": Format((_whole(_identifier("", "", relative=True)),)),
    "iri": Format((_whole(_identifier(_UCSCHAR, _IPRIVATE, relative=False)),)),
    "iri-reference": Format((_whole(_identifier(_UCSCHAR, _IPRIVATE, relative=True)),)),
    "uri-template": Format((_whole(_uri_template()),)),
    "uuid": Format((_whole(f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),)),
    "json-pointer": Format((_whole(_POINTER),)),
    "relative-json-pointer": Format((_whole(f"{_NUMBER}(?:#|(?:[+-]{_NUMBER})?{_POINTER})"),)),
    # Its parentheses nest.
    "regex": Format(exact=False),
}
