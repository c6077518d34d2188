"""Requests of a batch: lines read one by one, their keys laid over the command line's options."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fucina_cli import Choice, Gbnf, JsonSchema, Lark, Regex
from fucina_cli.cli.batch import lines as batchfile
from fucina_cli.cli.batch.lines import BadLine, count_lines, keys, parse, read_lines
from fucina_cli.cli.batch.results import Name
from fucina_cli.cli.jobs import Given
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.constraint.kind import Spec
from fucina_cli.job import Chat, Job, Text

YES_NO = Regex("yes|no")


def given_by_flags(
    constraint: Spec | None = None,
    system: str | None = None,
    layout: dict[str, Any] | None = None,
    **settings: Any,
) -> Given:
    return Given(settings, constraint, layout or {}, system)


def flags(part: str) -> str:
    """How the command line calls things here."""
    return f"flag {part}"


def parsed(line: str | bytes | dict[str, Any], before: Given | None = None) -> Job:
    """The job of line 7, asking for the prompt "a" if it is an object that asks for nothing."""
    if isinstance(line, dict):
        if not {"prompt", "messages", "chat"} & set(line):
            line = {"prompt": "a", **line}
        line = json.dumps(line)
    raw = line.encode() if isinstance(line, str) else line
    return parse(7, raw, before or given_by_flags(), flags)


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
        parse(3, None, given_by_flags(), flags)
    assert caught.value.name == Name(3, 3)


# -- what a request starts from ------------------------------------------------------------------


def test_a_prompt_is_a_raw_completion() -> None:
    job = parsed('{"prompt": "@file"}', given_by_flags(system="s"))
    assert job.start == Text("@file")


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
    job = parsed(line, given_by_flags(system=default))
    assert job.start == Chat(tuple({"role": role, "content": text} for role, text in expected))


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
    name = parsed({"id": given_id}).id.name
    assert (name, type(name.id)) == (Name(given_id), type(given_id))


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
    job = parsed('{"chat": "\\ud83c\\udf89"}')
    assert job.start == Chat(({"role": "user", "content": "🎉"},))


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
    names = {"temp": "temperature", "freq_penalty": "frequency_penalty"}
    expected = {names.get(key, key): value for key, value in line.items()}
    before: dict[str, Any] = dict.fromkeys(expected, 1) | {"think": True}
    before |= {"top_p": 0.1, "min_p": 0.1}
    after = parsed(line, given_by_flags(**before, stop=("f",))).settings
    assert after == {**expected, "stop": ("f",)}
    assert type(after["temperature"]) is float
    assert parsed(dict.fromkeys(line), given_by_flags(**before)).settings == before


@pytest.mark.parametrize(
    ("command_line", "line", "greedy", "temp"),
    [
        ({"greedy": True}, {"temp": 0.5}, False, 0.5),
        ({"greedy": True}, {"temp": None}, True, None),
        ({"greedy": True}, {"greedy": False}, False, None),
        ({"temperature": 0.5}, {"greedy": True}, True, None),
        ({"temperature": 0.5}, {"greedy": False}, False, 0.5),
        ({"temperature": 0.5}, {"greedy": True, "temp": 0}, True, 0.0),
        ({}, {"temp": 0.5, "greedy": False}, False, 0.5),
    ],
)
def test_of_greedy_and_temp_the_line_has_the_last_word(
    command_line: dict[str, Any], line: dict[str, Any], greedy: bool, temp: float | None
) -> None:
    after = parsed(line, given_by_flags(**command_line)).settings
    assert (after.get("greedy", False), after.get("temperature")) == (greedy, temp)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"gen": 0', '"gen": 0 is out of range; give 1 to 10000000'),
        ('"gen": -1', '"gen": -1 is out of range; give 1 to 10000000, or leave it out for 2048'),
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
        (
            '"seed": -1',
            '"seed": -1 is out of range; give 0 to 2^64-1, or leave it out for a random one',
        ),
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
        ("13", ("13",)),
        ("@x", ("@x",)),
        (13, (13,)),
        (["-", 0], ("-", 0)),
        ([], ()),
        (None, (5,)),
    ],
)
def test_a_stop_is_an_id_only_when_written_as_a_number(given_stop: Any, expected: Any) -> None:
    job = parsed({"stop": given_stop}, given_by_flags(stop=(5,)))
    assert job.settings["stop"] == expected


@pytest.mark.parametrize("bad", ["", -1, 1.0, True, {}, [""], [[1]], [None]])
def test_what_nothing_can_stop_at_is_refused(bad: Any) -> None:
    assert complaint({"stop": bad}) == '"stop": must be some text, a token id, or a list of them'


def test_biases_are_written_as_on_the_command_line() -> None:
    biases = {" yes": 2.5, "a=b": -1, "1879": "-inf", "@f": 1e-7}
    before = given_by_flags(logit_bias=(("x", 1.0),))
    after = parsed({"logit_bias": biases}, before).settings["logit_bias"]
    assert after == ((" yes", 2.5), ("a=b", -1.0), (1879, -math.inf), ("@f", 1e-7))
    assert parsed({"logit_bias": {}}, before).settings["logit_bias"] == ()
    assert parsed({}, before).settings["logit_bias"] == (("x", 1.0),)


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
    ("line", "expected"),
    [
        ({"regex": "@a|-"}, Regex("@a|-")),
        ({"lark": "start: /a/"}, Lark("start: /a/")),
        ({"gbnf": "root ::= [a]"}, Gbnf("root ::= [a]")),
        ({"choices": ["a", "@b", "a"]}, Choice(["a", "@b"])),
        ({"json_schema": True}, JsonSchema("true")),
        (
            {"json_schema": {"type": "null", "const": 1.0}},
            JsonSchema('{"type": "null", "const": 1.0}'),
        ),
        ({"json_schema": ' {"a":1}'}, JsonSchema(' {"a":1}')),
    ],
)
def test_a_line_s_own_constraint_replaces_the_command_line_s(
    line: dict[str, Any], expected: Spec
) -> None:
    for before in (None, YES_NO, JsonSchema({}), Choice(["@f"])):
        job = parsed(line, given_by_flags(before))
        assert job.constraint == expected
        assert job.id.names("constraint") == f'"{next(iter(line))}"'


def test_a_line_without_a_constraint_has_the_command_line_s() -> None:
    job = parsed({}, given_by_flags(YES_NO))
    assert job.constraint is YES_NO
    assert job.id.names("constraint") == "flag constraint"


def test_flags_about_constraints_hold_for_lines_that_have_such_a_one() -> None:
    before = given_by_flags(JsonSchema({}, whitespace=True), layout={"whitespace": True})

    def whitespace(line: dict[str, Any]) -> object:
        return getattr(parsed(line, before).constraint, "whitespace", None)

    assert whitespace({})
    assert whitespace({"json_schema": True})
    assert whitespace({"regex": "a"}) is None
    assert whitespace({"json_whitespace": False}) is False
    assert complaint({"regex": "a", "json_whitespace": True}, before).startswith(
        '"json_whitespace": needs "json_schema"'
    )


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
        (
            {"lark": "root ::= [a]"},
            '"lark": this is GBNF, the notation of llama.cpp; give it as "gbnf"',
        ),
        ({"gbnf": "root ::= b"}, '"gbnf": line 1 column 10: there is no rule `b`'),
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
_OBJECTS = st.dictionaries(st.sampled_from(keys()) | _TEXTS, _JSON | _MESSAGES, max_size=5).flatmap(
    lambda table: st.just(table) | st.just({**table, "chat": "a"})
)


def _parses_or_is_a_bad_line(raw: bytes) -> None:
    try:
        job = parse(7, raw, given_by_flags(YES_NO, system="d", greedy=True), flags)
    except BadLine as error:
        json.dumps([error.name.record(), error.message], ensure_ascii=False).encode()
        return
    assert job.constraint is not None
    json.dumps([job.id.name.record(), dataclasses.asdict(job.start)], ensure_ascii=False).encode()


@settings(max_examples=300, deadline=None)
@given(_OBJECTS)
def test_any_object_is_a_request_or_a_bad_line(table: dict[str, Any]) -> None:
    _parses_or_is_a_bad_line(json.dumps(table).encode())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40) | _OBJECTS.map(lambda table: json.dumps(table).encode()[:-2]))
def test_any_bytes_are_a_request_or_a_bad_line(raw: bytes) -> None:
    _parses_or_is_a_bad_line(raw)
