"""`format`: right values of the RFCs, and the engine's patterns against the judge's reading."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llguidance import LLTokenizer
from llguidance._lib import LLMatcher

from fucina_cli import JsonSchema
from fucina_cli.constraint.schema.judging.formats import CHECKS
from fucina_cli.constraint.schema.rewrites.format_patterns import FORMATS

EXACT = sorted(name for name, form in FORMATS.items() if form.exact)
BYTES = LLTokenizer("byte")

#: Right and wrong values per format.
VALUES: dict[str, tuple[list[str], list[str]]] = {
    "date": (
        ["1985-04-12", "2024-02-29", "2000-02-29", "0000-02-29", "0000-01-01", "9999-12-31"],
        ["2023-02-29", "1900-02-29", "2024-02-30", "2024-04-31", "2024-00-10", "2024-13-10"]
        + ["2024-01-00", "2024-01-32", "24-01-01", "2024-1-1", "20240101", "2024-W01-1"]
        + ["2024-01-01\n", " 2024-01-01", "+2024-01-01", "2024-01-0\u0661", "12024-01-01", ""],
    ),
    "time": (
        ["23:20:50.52Z", "00:00:00z", "23:59:60Z", "23:59:60.9z", "15:59:60-08:00"]
        + ["00:59:60+01:00", "05:29:60+05:30", "23:58:60+23:59", "00:00:60-23:59", "00:00:60+00:01"]
        + ["23:59:60-00:00", "01:02:03+23:59", "12:00:00-00:00"],
        ["23:59:60+01:00", "22:59:60Z", "23:58:60Z", "15:59:60+08:00", "00:59:60-01:00"]
        + ["24:00:00Z", "12:60:00Z", "12:00:61Z", "12:00:00", "12:00Z", "12:00:00.Z", "1:00:00Z"]
        + ["12:00:00+24:00", "12:00:00+00:60", "12:00:00+0100", "12:00:00Z+01:00", "12:00:00,5Z"]
        + ["12:00:00 Z", "12:00:00\u22120:00", "12:00:00Z\n", "23:59:60+00:01", "00:00:60-00:01"],
    ),
    "date-time": (
        ["1985-04-12T23:20:50.52Z", "1990-12-31T15:59:60-08:00", "2024-02-29t00:00:00z"]
        + ["1937-01-01T12:00:27.87+00:20", "0000-01-01T00:00:00Z", "1990-12-31T23:59:60Z"],
        ["1990-12-31T15:59:60Z", "2023-02-29T00:00:00Z", "1985-04-12 23:20:50Z", "1985-04-12"]
        + ["1985-04-12T23:20:50", "1985-04-12T24:00:00Z", "1985-04-12T12:00Z", "T23:20:50Z"],
    ),
    "duration": (
        ["P3Y6M4DT12H30M5S", "PT36H", "P0D", "P4W", "P1Y2M", "PT1M2S", "P1MT1M", "P007D"],
        ["P", "PT", "P1", "P1YT", "P1Y2D", "PT1H2S", "P1W2D", "P1D2M", "PT1.5S", "p1d", "P-1D"]
        + ["P1S", "PT1Y", "P1D1D", "1D", "P1D ", "PW", "P1WT1H"],
    ),
    "email": (
        ["a@b", "joe.bloggs@example.com", '"joe bloggs"@example.com', '"a@\\"b"@x.org', "a@[1.2.3.4]"]
        + ["a@[IPv6:::1]", "a@[ipv6:1:2:3:4:5:6:7:8]", "a@[IPv6:::ffff:1.2.3.4]", "a+b~@c--d.e1"]
        + ["!#$%&'*+-/=?^_`{|}~@x", '""@x'],
        ["@b", "a@", "a", ".a@b", "a.@b", "a..b@c", "a@-b", "a@b-", "a@b..c", "a@b.", "a b@c", "a@b@c"]
        + ["a@[1.2.3]", "a@[1.2.3.256]", "a@[::1]", "a@[IPv6:1:2:3:4:5:6:7::]", '"a@b', '"a"b@c']
        + ["é@x", "a@é", '"é"@x', "a@[IPv6:fe80::1%1]", "a@b\n", "a@b_c", '"\\', '"a\\"@b'],
    ),
    "idn-email": (
        ["실례@실례.테스트", '"δ"@example.com', "a@b", "é@xn--4gbwdl"],
        ["실례", "a@\u3002b", "a@-é", "a@é-", "a@\u0300a", "\ud800@x", "a@\u2603", "@é"],
    ),
    "hostname": (
        ["example.com", "a", "1", "a-b", "3com.net", "a" * 63, "xn--4gbwdl.xn--wgbh1c", "te--st"]
        + [".".join(["a" * 63] * 3 + ["a" * 61]), "XN--4GBWDL"],
        ["", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a" * 64, "é", "xn--X", "xn--", "a b"]
        + ["XN--aa---o47jg78q", "xn--a", "xn--example-", ".".join(["a" * 63] * 4), "a\n"],
    ),
    "idn-hostname": (
        ["실례.테스트", "a\u3002b", "l\u00b7l", "\u05d0\u05f3\u05d1", "\u30fb\u4e08", "ß", "x.y"],
        ["a\u3002", "\u302e실", "a\u00b7l", "\u0300a", "\u30fb", "É", "a b", "실" * 64, "", "xn--X"],
    ),
    "ipv4": (
        ["0.0.0.0", "255.255.255.255", "192.168.0.1"],
        ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "0x1.2.3.4", "1.2.3.4/8", "1..2.3", " 1.2.3.4"],
    ),
    "ipv6": (
        ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "a:B::c"]
        + ["1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "1::2:3:4:5:1.2.3.4", "1:2:3:4:5::1.2.3.4"],
        ["1", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "1::2::3"]
        + ["12345::", "::g", ":1", "1:", "::1%eth0", "::1/64", "::01.2.3.4", "::1.2.3", "1.2.3.4::"]
        + ["1:2:3:4:5:6::1.2.3.4", "1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:1", "", "::1 "],
    ),
    "uri": (
        ["a:", "http://example.com", "urn:a:b", "mailto:x@y.z", "http://[::1]:80/?q#f", "x:/", "x:a/b"]
        + ["http://u:p@h:/", "http://%41/%2f", "http://[v1.a:b]", "http:///a", "file:///etc", "a:?/?#/?"]
        + ["http://999.1.1.1", "x://a@b", "A+-.1:b", "x:/a//b"],
        ["", "a", "/a", "//h", "1a:", ":a", "a b:", "http://a b", "http://h:8a", "a:%", "a:%4", "a:%4g"]
        + ["http://[::1", "http://[1]", "http://a[", "a:<", 'a:"', "a:\\", "a:^", "a:`", "a:{}", "a:|"]
        + ["http://é", "a:#b#c", "http://[v.a]", "http://[v1.]", "http://a@b@c", "http://::1"],
    ),
    "uri-reference": (
        ["", "a", "/a", "//h/p", "#f", "?q", "./a:b", "a/b:c", "/", "a:b", "..", "//", "//h?q"],
        [":a", "1:a", "a%", "\\a", "#a#", "é", "//a:b:c", " ", "%zz"],
    ),
    "iri": (
        ["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "a:é", "http://é@é/é", "a:?\ue000", "a:\U00010000"],
        ["é", "a:\ue000", "a:#\ue000", "a:\x80", "a:\ufdd0", "a:\ufffe", "a:\U0001fffe", "é:a", "a:?\U000e0001"],
    ),
    "iri-reference": (["é", "/é", "#é", "?\ue000", "//é"], ["\\é", "é|", "\ue000", "é:\x7f", " "]),
    "uri-template": (
        ["", "/{a}", "{+a,b*}/{c:3}", "{#a.b}", "{?x,y}", "é%41'", "{%41_}", "{a:9999}", "{|a}", "{,a}"],
        ["{", "}", "{}", "{a", "a}", "{a,}", "{a:0}", "{a:10000}", "{.}", "{a..b}", "{a*:1}", "%", "%4"]
        + ["a b", '"', "<", "\\", "^", "`", "|", "{{a}}", "{a-b}", "{é}", "%{a}41", "{a.}", "\x7f"],
    ),
    "uuid": (
        ["2eb8aa08-AA98-11ea-b4aa-73B441D16380", "00000000-0000-0000-0000-000000000000"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4ga-73b441d16380", "", "----"]
        + ["2eb8aa08-aa98-11ea-b4aa-73b441d1638", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}"],
    ),
    "json-pointer": (
        ["", "/", "/a/b", "/~0~1", "//", '/"\\', "/é\n", "/~01"],
        ["a", "#", "#/a", "/~", "/~2", "/a~", "/~~0", "/~~01"],
    ),
    "relative-json-pointer": (
        ["0", "1/a", "0#", "10/~0", "0+1/a", "2-10"],
        ["", "#", "/a", "01", "01#", "-1/a", "+1", "0##", "0#/a", "0a", "0+", "0+01/a", "0+1#", "1/~"],
    ),
    "regex": (["", "^a+$", "a{2,3}", "(?:a|b)"], ["(", "[", "*", "a)", "\\"]),
}


@functools.cache
def matcher(**schema: Any) -> LLMatcher:
    prepared = JsonSchema(schema).prepare()
    made = LLMatcher(BYTES, prepared.engine_text, log_level=0)
    assert not made.is_error(), made.get_error()
    return made


def allows(form: str, text: str) -> bool:
    """Whether the text's plainest spelling can be decoded."""
    spelled = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").encode()
    state = matcher(type="string", format=form).deep_copy()
    return state.try_consume_tokens(list(spelled)) == len(spelled) and state.is_accepting()


def test_every_format_is_known_to_engine_and_judge() -> None:
    assert set(CHECKS) == set(FORMATS) == set(VALUES)


@pytest.mark.parametrize("form", VALUES)
def test_the_judge_reads_formats_by_their_rfcs(form: str) -> None:
    right, wrong = VALUES[form]
    assert [text for text in right if not CHECKS[form](text)] == []
    assert [text for text in wrong if CHECKS[form](text)] == []


@pytest.mark.parametrize("form", VALUES)
def test_the_engine_allows_all_that_is_right_and_nothing_wrong_where_exact(form: str) -> None:
    right, wrong = VALUES[form]
    assert [text for text in right if not allows(form, text)] == []
    if FORMATS[form].exact:
        assert [text for text in wrong if allows(form, text)] == []


def near(form: str) -> st.SearchStrategy[str]:
    """Values of the table with a few characters changed, so that most are almost right."""
    every = [text for part in VALUES[form] for text in part if not _surrogates(text)]
    characters = sorted({c for text in every for c in text})

    def edited(text: str, edits: list[tuple[float, str, int]]) -> str:
        for where, character, removed in edits:
            at = int(where * len(text))
            text = text[:at] + character + text[at + removed :]
        return text

    edit = st.tuples(
        st.floats(0, 1), st.sampled_from(["", *characters]), st.integers(0, 2)
    )
    return st.builds(edited, st.sampled_from(every), st.lists(edit, max_size=3))


@pytest.mark.parametrize("form", EXACT)
def test_the_engine_allows_what_the_judge_takes(form: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(text=near(form))
    def agree(text: str) -> None:
        assert allows(form, text) == CHECKS[form](text)

    agree()


@settings(max_examples=400, deadline=None)
@given(
    year=st.integers(0, 9999),
    month=st.integers(0, 13),
    day=st.integers(27, 32),
)
@example(year=0, month=2, day=29)
@example(year=100, month=2, day=29)
@example(year=400, month=2, day=29)
def test_dates_agree(year: int, month: int, day: int) -> None:
    text = f"{year:04}-{month:02}-{day:02}"
    assert allows("date", text) == CHECKS["date"](text)


@settings(max_examples=400, deadline=None)
@given(
    minute=st.integers(0, 1439),
    second=st.sampled_from([0, 59, 60, 61]),
    offset=st.integers(-1439, 1439),
    near_midnight=st.sampled_from([None, 0, 1, -1, 60, 600]),
    form=st.sampled_from(["time", "date-time"]),
)
def test_leap_seconds_agree(
    minute: int, second: int, offset: int, near_midnight: int | None, form: str
) -> None:
    if near_midnight is not None:  # else few would be leap seconds
        minute = (1439 + offset + near_midnight) % 1440
    sign, size = "-" if offset < 0 else "+", abs(offset)
    text = f"{minute // 60:02}:{minute % 60:02}:{second:02}{sign}{size // 60:02}:{size % 60:02}"
    if form == "date-time":
        text = f"2016-12-31T{text}"
    right = second < 60 or (second == 60 and (minute - offset) % 1440 == 1439)
    assert allows(form, text) == CHECKS[form](text) == right


def _surrogates(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)
