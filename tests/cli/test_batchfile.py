"""Requests of a batch: lines read one by one, their keys laid over the command line's options."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from fucina_cli.cli.options import Options
from fucina_cli.cli.session import Texts
from hypothesis import given, settings
from hypothesis import strategies as st

from fucina_cli import Choice, JsonSchema, Lark, Regex
from fucina_cli.cli import batchfile
from fucina_cli.cli.batch.lines import BadLine, BatchRequest, count_lines, parse, read_lines
from fucina_cli.cli.batch.results import Name
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.constraint.kind import Spec
from tests.support.options import options

NO_TEXTS = Texts(messages=None, prompt=None, source=None, stops=())
YES_NO = Regex("yes|no")


def texts(**given_texts: Any) -> Texts:
    return dataclasses.replace(NO_TEXTS, **given_texts)


def parsed(
    line: str | bytes | dict[str, Any],
    command_line: Options | None = None,
    defaults: Texts = NO_TEXTS,
) -> BatchRequest:
    """The request of line 7, asking for the prompt "a" if it is an object that asks for nothing."""
    if isinstance(line, dict):
        if not {"prompt", "messages", "chat"} & set(line):
            line = {"prompt": "a", **line}
        line = json.dumps(line)
    raw = line.encode() if isinstance(line, str) else line
    return parse(7, raw, command_line or options(), defaults)


def complaint(*args: Any) -> str:
    with pytest.raises(BadLine) as caught:
        parsed(*args)
    assert str(caught.value) == caught.value.message
    return caught.value.message


# -- lines ---------------------------------------------------------------------------------------


def test_lines_keep_their_numbers_when_blank_ones_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "batch"
    path.write_bytes(b"\xef\xbb\xbf\n  \t\r\n{}\r\n\n a \n\xef\xbb\xbfb\nlast")
    assert list(read_lines(str(path))) == [
        (3, b"{}"),
        (5, b" a "),
        (6, b"\xef\xbb\xbfb"),
        (7, b"last"),
    ]
    assert count_lines(str(path)) == 4


def test_a_byte_order_mark_before_the_first_line_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "batch"
    path.write_bytes(b"\xef\xbb\xbf{}\n")
    assert list(read_lines(str(path))) == [(1, b"{}")]


def test_a_dash_is_standard_input_which_is_not_counted_and_stays_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"a\nb\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert count_lines("-") is None
    assert list(read_lines("-")) == [(1, b"a"), (2, b"b")]
    assert not stdin.buffer.closed
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FlagError, match="--batch: there is no standard input"):
        read_lines("-")


def test_a_pipe_is_read_as_its_lines_come_and_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert count_lines(str(path)) is None
    writer = os.open(path, os.O_RDWR)
    lines = read_lines(str(path))
    for number in (1, 2, 3):  # the next line does not exist yet when this one is asked for
        os.write(writer, b"%d\n" % number)
        assert next(lines) == (number, b"%d" % number)
    os.close(writer)
    assert list(lines) == []


@pytest.mark.parametrize("name", ["missing", ".", "", "a\0b"])
def test_a_file_that_cannot_be_opened_is_told_before_a_line_is_asked_for(
    name: str, tmp_path: Path
) -> None:
    path = f"{tmp_path}/{name}" if name else ""
    with pytest.raises(FlagError, match=r"^--batch: can't read '"):
        read_lines(path)


def test_a_line_that_is_too_long_is_passed_over_within_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batchfile, "MAX_LINE_BYTES", 1 << 16)
    path = tmp_path / "batch"
    full, size = b"x" * (1 << 16), 1 << 23
    path.write_bytes(b"a\n" + full + b"\n" + b"y" * size + b"\nb\n" + b"z" * size)
    tracemalloc.start()
    got = list(read_lines(str(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got == [(1, b"a"), (2, full), (3, None), (4, b"b"), (5, None)]
    assert peak < 1 << 20
    assert count_lines(str(path)) == 5


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device of Unix")
def test_a_line_that_never_ends_is_no_batch() -> None:
    with pytest.raises(FlagError, match="line 1 never ends"):
        list(read_lines("/dev/zero"))


def test_a_line_that_was_too_long_is_a_bad_line() -> None:
    with pytest.raises(BadLine, match=r"^longer than 64 MiB$") as caught:
        parse(3, None, options(), NO_TEXTS)
    assert caught.value.name == Name(3, 3)


# -- what a request starts from ------------------------------------------------------------------


def test_a_prompt_is_a_raw_completion() -> None:
    request = parsed('{"prompt": "@file"}', options(system="@s"), texts(system="s"))
    assert (request.line, request.name) == (7, Name(7, 7))
    assert (request.prompt, request.messages) == ("@file", None)
    assert request.options.prompt is not None
    assert request.options.chat is None


@pytest.mark.parametrize(
    ("line", "default", "expected"),
    [
        ({"chat": "-"}, None, [("user", "-")]),
        ({"chat": "a"}, "d", [("system", "d"), ("user", "a")]),
        ({"chat": "a", "system": "s"}, "d", [("system", "s"), ("user", "a")]),
        ({"chat": "a", "system": ""}, "d", [("system", ""), ("user", "a")]),
        ({"chat": "a", "system": None}, "d", [("system", "d"), ("user", "a")]),
        ({"messages": [("user", "a")]}, None, [("user", "a")]),
        ({"messages": [("user", "a")]}, "d", [("system", "d"), ("user", "a")]),
        ({"messages": [("system", "m"), ("user", "a")]}, "d", [("system", "m"), ("user", "a")]),
        (
            {"messages": [("user", "a"), ("assistant", ""), ("user", "b")], "system": "s"},
            None,
            [("system", "s"), ("user", "a"), ("assistant", ""), ("user", "b")],
        ),
    ],
)
def test_a_chat_has_at_most_one_system_text_the_nearest_one(
    line: dict[str, Any], default: str | None, expected: list[tuple[str, str]]
) -> None:
    if "messages" in line:
        line = {**line, "messages": [{"role": r, "content": c} for r, c in line["messages"]]}
    request = parsed(line, None, texts(system=default))
    assert request.prompt is None
    assert request.messages == [{"role": role, "content": content} for role, content in expected]
    assert request.options.chat is not None
    assert request.options.prompt is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", 'needs one of "prompt", "messages", "chat"'),
        ('{"prompt": null}', 'needs one of "prompt", "messages", "chat"'),
        ('{"chat": "a", "prompt": "b"}', '"prompt" and "chat": can\'t be given together'),
        ('{"prompt": ""}', '"prompt": the text is empty; there is nothing to answer'),
        ('{"chat": ""}', '"chat": the text is empty; there is nothing to answer'),
        ('{"chat": 1}', '"chat": must be a string, not a number'),
        ('{"chat": "a", "system": []}', '"system": must be a string, not an array'),
        (
            '{"prompt": "a", "system": "b"}',
            '"system": needs "chat": only a chat has a system text',
        ),
        ('{"messages": []}', '"messages": must be a list of at least one message'),
        ('{"messages": "a"}', '"messages": must be a list of at least one message'),
        ('{"messages": ["a"]}', '"messages": message 1: must be an object of "role" and "content"'),
        (
            '{"messages": [{"role": "user", "content": "a", "name": "b"}]}',
            '"messages": message 1: must be an object of "role" and "content"',
        ),
        (
            '{"messages": [{"role": [], "content": "a"}]}',
            '"messages": message 1: "role" must be "system", "user" or "assistant"',
        ),
        (
            '{"messages": [{"role": "user", "content": null}]}',
            '"messages": message 1: "content": must be a string, not null',
        ),
        (
            '{"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": ""}]}',
            '"messages": message 2: a system text can only come first',
        ),
        (
            '{"messages": [{"role": "assistant", "content": "a"}]}',
            '"messages": the last message must be a user\'s',
        ),
        (
            '{"messages": [{"role": "user", "content": ""}]}',
            '"messages": message 1: the text is empty; there is nothing to answer',
        ),
        (
            '{"messages": [{"role": "system", "content": ""}, {"role": "user", "content": "a"}],'
            ' "system": "b"}',
            '"system": "messages" begins with a system text already',
        ),
    ],
)
def test_what_nothing_can_start_from_is_told_by_key(line: str, message: str) -> None:
    assert complaint(line) == message


# -- ids and JSON --------------------------------------------------------------------------------


@pytest.mark.parametrize("given_id", ["a", "", "1", 1, 0, -5, 10**30])
def test_an_id_keeps_its_type(given_id: str | int) -> None:
    request = parsed({"id": given_id})
    assert (request.name, type(request.name.id)) == (Name(given_id), type(given_id))


@pytest.mark.parametrize(
    ("line", "named", "message"),
    [
        ('{"id": "x"}', "x", 'needs one of "prompt", "messages", "chat"'),
        ('{"id": "x", "gne": 1}', "x", 'unknown key "gne"; did you mean "gen"?'),
        ('{"id": null, "temperture": 1}', 7, 'unknown key "temperture"; did you mean "temp"?'),
        ('{"temperature": null}', 7, 'unknown key "temperature"; did you mean "temp"?'),
        ('{"stoop": 1}', 7, 'unknown key "stoop"; did you mean "stop"?'),
        ('{"\\ud800": 1}', 7, 'unknown key "\\ud800"'),
        ('{"id": true}', 7, '"id": must be a string or an integer, not a boolean'),
        (
            '{"id": 1.0}',
            7,
            '"id": must be a string or an integer, not a number with a fraction or exponent',
        ),
        ('{"id": "\\uD800"}', 7, '"id": has half of a surrogate pair, which is no text'),
        ('{"id": 1, "gen": 2, "gen": 2}', 1, 'the key "gen" is given more than once'),
        ('{"id": 1, "id": 1}', 7, 'the key "id" is given more than once'),
        (
            '{"id": 1, "json_schema": {"type": "null", "type": "null"}}',
            1,
            'the key "type" is given more than once',
        ),
        (
            '{"id": 1, "chat": "\\udc00"}',
            1,
            '"chat": has half of a surrogate pair, which is no text',
        ),
        (
            '{"logit_bias": {"\\ud83d": 1}}',
            7,
            '"logit_bias": has half of a surrogate pair, which is no text',
        ),
        ('{"id": 1 "chat"', 7, "not valid JSON: Expecting ',' delimiter at column 10"),
        ('{"id": 1} x', 7, "not valid JSON: Extra data at column 11"),
        ('{"temp": NaN}', 7, "not valid JSON: NaN is not JSON"),
        ('{"temp": -Infinity}', 7, "not valid JSON: -Infinity is not JSON"),
        ("[]", 7, "must be a JSON object, not an array"),
        ("3", 7, "must be a JSON object, not a number"),
        ("null", 7, "must be a JSON object, not null"),
        (b'{"id": "\xff"}', 7, "not valid UTF-8 (byte 9)"),
        ('{"id": %s}' % ("1" * 5000), 7, "a number of 5000 digits is too long"),
        ('{"id": %s' % ("[" * 100_000), 7, "nested too deeply"),
        ('{"json_schema": ' + '{"not":' * 50_000 + "1" + "}" * 50_001, 7, "nested too deeply"),
    ],
)
def test_a_bad_line_has_its_id_if_it_can_be_read_and_its_number_if_not(
    line: str | bytes, named: str | int, message: str
) -> None:
    with pytest.raises(BadLine) as caught:
        parsed(line)
    name = Name(7, 7) if named == 7 else Name(named)
    assert (caught.value.name, caught.value.message) == (name, message)


def test_a_surrogate_pair_is_a_character() -> None:
    assert parsed('{"chat": "\\ud83c\\udf89"}').messages == [{"role": "user", "content": "🎉"}]


# -- values --------------------------------------------------------------------------------------


def test_every_value_goes_over_the_command_line_and_null_leaves_it() -> None:
    line = {
        "gen": 5,
        "think": False,
        "temp": 1,
        "top_k": 2,
        "top_p": 0.5,
        "min_p": 0,
        "repeat_penalty": 1.5,
        "repeat_last_n": -1,
        "freq_penalty": -1.0,
        "presence_penalty": 2,
        "seed": 2**64 - 1,
    }
    before = options(
        gen=1, think=True, temp=0.1, top_k=1, top_p=0.1, min_p=0.1, repeat_penalty=1.1,
        repeat_last_n=1, freq_penalty=0.1, presence_penalty=0.1, seed=1, ctx=99, stop=["@f"],
    )  # fmt: skip
    after = parsed(line, before).options
    assert {key: getattr(after, key) for key in line} == line
    assert type(after.temp) is float
    assert after.ctx == 99
    kept = parsed(dict.fromkeys(line), before).options
    assert {key: getattr(kept, key) for key in line} == {key: getattr(before, key) for key in line}


@pytest.mark.parametrize(
    ("command_line", "line", "greedy", "temp"),
    [
        ({"greedy": True}, {"temp": 0.5}, False, 0.5),
        ({"greedy": True}, {"temp": None}, True, None),
        ({"greedy": True}, {"greedy": False}, False, None),
        ({"temp": 0.5}, {"greedy": True}, True, None),
        ({"temp": 0.5}, {"greedy": False}, False, 0.5),
        ({"temp": 0.5}, {"greedy": True, "temp": 0}, True, 0.0),
        ({}, {"temp": 0.5, "greedy": False}, False, 0.5),
    ],
)
def test_of_greedy_and_temp_the_line_has_the_last_word(
    command_line: dict[str, Any], line: dict[str, Any], greedy: bool, temp: float | None
) -> None:
    after = parsed(line, options(**command_line)).options
    assert (after.greedy, after.temp) == (greedy, temp)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"gen": 0', '"gen": 0 is out of range; give 1 to 10000000'),
        ('"gen": -1', '"gen": -1 is out of range; give 1 to 10000000'),
        ('"gen": 3.0', '"gen": must be an integer, not a number with a fraction or exponent'),
        ('"gen": true', '"gen": must be an integer, not a boolean'),
        ('"gen": 10000001', '"gen": 10000001 is out of range; give 1 to 10000000'),
        ('"top_k": -1', '"top_k": -1 is out of range; give 0 to 10000000'),
        ('"top_p": 1.5', '"top_p": 1.5 is out of range; give 0 to 1'),
        ('"min_p": 2', '"min_p": 2 is out of range; give 0 to 1'),
        ('"repeat_last_n": -2', '"repeat_last_n": -2 is out of range; give -1 to 10000000'),
        ('"repeat_penalty": 0', '"repeat_penalty": 0 is out of range; give 0.01 to 100'),
        ('"freq_penalty": 1e3', '"freq_penalty": 1000 is out of range; give -100 to 100'),
        ('"presence_penalty": -101', '"presence_penalty": -101 is out of range; give -100 to 100'),
        ('"seed": -1', '"seed": -1 is out of range; give 0 to 2^64-1'),
        ('"temp": 1e-9', '"temp": 1e-09 is too small; give 0 for greedy'),
        ('"temp": 1e999', '"temp": the number is out of range'),
        ('"temp": %s' % ("9" * 400), '"temp": the number is out of range'),
        ('"temp": "1"', '"temp": must be a number, not a string'),
        ('"temp": false', '"temp": must be a number, not a boolean'),
        ('"think": 1', '"think": must be true or false, not a number'),
        ('"greedy": true, "temp": 1', '"greedy": contradicts "temp" 1; give one of them'),
        (
            '"json_whitespace": true',
            '"json_whitespace": needs "json_schema": only JSON has such a layout',
        ),
    ],
)
def test_a_value_that_no_flag_could_have_is_told_by_key(line: str, message: str) -> None:
    assert complaint('{"chat": "a", ' + line + "}") == message


@pytest.mark.parametrize(
    ("given_stop", "expected"),
    [
        ("13", (("13", False),)),
        ("@x", (("@x", False),)),
        (13, (("13", True),)),
        (["-", 0], (("-", False), ("0", True))),
        ([], ()),
        (None, (("d", True),)),
    ],
)
def test_a_stop_is_an_id_only_when_written_as_a_number(given_stop: Any, expected: Any) -> None:
    defaults = texts(stops=(("d", True),))
    request = parsed({"stop": given_stop}, options(stop=["d"]), defaults)
    assert request.stops == expected
    assert bool(request.options.stop) == bool(expected)


@pytest.mark.parametrize("bad", ["", -1, 1.0, True, {}, [""], [[1]], [None]])
def test_what_nothing_can_stop_at_is_refused(bad: Any) -> None:
    assert complaint({"stop": bad}) == '"stop": must be some text, a token id, or a list of them'


def test_biases_are_written_as_on_the_command_line() -> None:
    biases = {" yes": 2.5, "a=b": -1, "1879": "-inf", "@f": 1e-7}
    after = parsed({"logit_bias": biases}, options(logit_bias=["x=1"])).options
    assert after.logit_bias == [" yes=2.5", "a=b=-1.0", "1879=-inf", "@f=1e-07"]
    assert parsed({"logit_bias": {}}, options(logit_bias=["x=1"])).options.logit_bias is None
    assert parsed({}, options(logit_bias=["x=1"])).options.logit_bias == ["x=1"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("[]", "must be an object, not an array"),
        ('{"": 1}', "a token is empty"),
        ('{"a": "inf"}', '"a": must be a number, or "-inf" to ban the token'),
        ('{"a": -1e999}', '"a": the number is out of range'),
        ('{"a": null}', '"a": must be a number, not null'),
        ('{"a": 1e7}', "1e+07 is out of range; give -1e6 to 1e6, or -inf to ban"),
    ],
)
def test_a_bad_bias_is_told(bad: str, message: str) -> None:
    line = '{"chat": "a", "logit_bias": ' + bad + "}"
    assert complaint(line) == f'"logit_bias": {message}'


# -- constraints ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected", "flag"),
    [
        ({"regex": "@a|-"}, Regex("@a|-"), "--regex"),
        ({"lark": "start: /a/"}, Lark("start: /a/"), "--lark"),
        ({"choices": ["a", "@b", "a"]}, Choice(["a", "@b"]), "--choice"),
        ({"json_schema": True}, JsonSchema("true"), "--json-schema"),
        (
            {"json_schema": {"type": "null", "const": 1.0}},
            JsonSchema('{"type": "null", "const": 1.0}'),
            "--json-schema",
        ),
        ({"json_schema": ' {"a":1}'}, JsonSchema(' {"a":1}'), "--json-schema"),
    ],
)
def test_a_line_s_own_constraint_replaces_the_command_line_s(
    line: dict[str, Any], expected: Spec, flag: str
) -> None:
    for before in ({}, {"regex": "@f"}, {"json_schema": "@f"}, {"choice": ["@f"]}):
        request = parsed(line, options(**before), texts(source=YES_NO if before else None))
        assert request.source == expected
        assert request.options.constraint_flag == flag
        assert "@" not in str(dataclasses.asdict(request.options))


def test_a_line_without_a_constraint_has_the_command_line_s() -> None:
    before = options(regex="@f", forced_spans=False)
    request = parsed({}, before, texts(source=YES_NO))
    assert request.source is YES_NO
    assert (request.options.regex, request.options.forced_spans) == ("@f", False)


def test_flags_about_constraints_hold_for_lines_that_have_such_a_one() -> None:
    before = options(json_schema="{}", json_whitespace=True, forced_spans=False)
    defaults = texts(source=JsonSchema("{}"))
    assert parsed({}, before, defaults).options.json_whitespace
    assert parsed({"json_schema": True}, before, defaults).options.json_whitespace
    assert not parsed({"regex": "a"}, before, defaults).options.json_whitespace
    assert not parsed({"json_whitespace": False}, before, defaults).options.json_whitespace
    assert complaint({"regex": "a", "json_whitespace": True}, before, defaults).startswith(
        '"json_whitespace": needs "json_schema"'
    )
    assert parsed({}, options(forced_spans=False)).options.forced_spans


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"regex": "a", "choices": ["b"]},
            '"regex" and "choices": can\'t be given together: one constraint governs an answer',
        ),
        ({"regex": ""}, '"regex": the pattern is empty; it would allow only an empty answer'),
        ({"regex": ["a"]}, '"regex": must be a string, not an array'),
        ({"lark": 1}, '"lark": must be a string, not a number'),
        ({"lark": " "}, '"lark": the grammar is empty; it needs at least a rule `start: …`'),
        ({"choices": []}, '"choices": must be a list of at least one string'),
        ({"choices": "a"}, '"choices": must be a list of at least one string'),
        ({"choices": ["a", 1]}, '"choices": must be a string, not a number'),
        ({"choices": [""]}, '"choices": an answer is empty; give each choice some text'),
        ({"json_schema": False}, '"json_schema": the schema `false` allows no answer at all'),
        (
            {"json_schema": [1]},
            '"json_schema": a JSON schema is an object, not an array; see https://json-schema.org',
        ),
        (
            {"json_schema": "{"},
            '"json_schema": not valid JSON: Expecting property name enclosed in double quotes'
            " at line 1 column 2",
        ),
        (
            {"json_schema": "@f"},
            '"json_schema": not valid JSON: Expecting value at line 1 column 1',
        ),
    ],
)
def test_a_constraint_that_is_none_is_told_and_never_dropped(
    line: dict[str, Any], message: str
) -> None:
    assert complaint(line) == message


# -- whatever comes ------------------------------------------------------------------------------

_TEXTS = st.text(st.characters(), max_size=6) | st.sampled_from(["@f", "-", "\ud800", "-inf"])
_NUMBERS = st.integers() | st.floats() | st.sampled_from([0, 1, 0.5, 10**400])
_LEAVES = st.none() | st.booleans() | _NUMBERS | _TEXTS
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"])}).flatmap(
        lambda role: _JSON.map(lambda content: {**role, "content": content})
    ),
    max_size=3,
)
_OBJECTS = st.dictionaries(
    st.sampled_from(batchfile.KEYS) | _TEXTS, _JSON | _MESSAGES, max_size=5
).flatmap(lambda table: st.just(table) | st.just({**table, "chat": "a"}))


def _parses_or_is_a_bad_line(raw: bytes) -> None:
    command_line = options(greedy=True, regex="@f", json_whitespace=False)
    try:
        request = parse(7, raw, command_line, texts(source=YES_NO, system="d"))
    except BadLine as error:
        json.dumps([error.name.record(), error.message], ensure_ascii=False).encode()
        return
    assert (request.messages is None) != (request.prompt is None)
    assert request.source is not None
    assert request.options.constraint_flag is not None
    json.dumps(
        [request.name.record(), request.messages, request.prompt], ensure_ascii=False
    ).encode()


@settings(max_examples=300, deadline=None)
@given(_OBJECTS)
def test_any_object_is_a_request_or_a_bad_line(table: dict[str, Any]) -> None:
    _parses_or_is_a_bad_line(json.dumps(table).encode())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40) | _OBJECTS.map(lambda table: json.dumps(table).encode()[:-2]))
def test_any_bytes_are_a_request_or_a_bad_line(raw: bytes) -> None:
    _parses_or_is_a_bad_line(raw)
