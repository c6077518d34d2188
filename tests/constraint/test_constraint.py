"""Masks and look-aheads of compiled constraints, over real and built vocabularies."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance import LLMatcher

from fucina_cli import Choice, JsonSchema, Lark, Regex
from fucina_cli.constraint import grammar
from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.grammar import Grammar, Tokens
from fucina_cli.constraint.kind import GrammarError, Prepared, Spec
from fucina_cli.constraint.schema.check import check_schema
from fucina_cli.llama.model import Model
from fucina_cli.sampling.mask import allowed_ids
from tests.support.grammars import RECURSIVE, SOURCES

Compile = Callable[[Spec], Grammar]
_MOST_TOKENS = 400


def unchecked_lark(text: str) -> Lark:
    """A grammar that Lark refuses, to see what the engine makes of it."""
    lark = Lark("start: /./")
    object.__setattr__(lark, "prepare", lambda: Prepared(text))
    return lark


class Vocabulary:
    """A loaded vocabulary with the engine's picture of it."""

    def __init__(self, path: Path) -> None:
        self.model = Model(path, vocab_only=True)
        vocabulary = self.model.vocabulary
        assert vocabulary.eos is not None
        self.tokens: Tokens = grammar.build_tokens(vocabulary, vocabulary.eos)

    def grammar(self, given_source: Spec, *, json_whitespace: bool = False) -> Grammar:
        if json_whitespace:
            assert isinstance(given_source, JsonSchema)
            given_source = dataclasses.replace(given_source, whitespace=True)
        return grammar.compile_grammar(given_source.prepare(), self.tokens)

    def constraint(self, given_source: Spec) -> Constraint:
        return self.grammar(given_source).constraint()

    def bytes_of(self, tokens: list[int]) -> bytes:
        return b"".join(self.model.vocabulary.token_bytes(t) for t in tokens)

    def producible(self, token: int) -> bool:
        """Neither control token nor marker nor padding, told by the tokens' own attributes."""
        attributes = self.model.vocabulary
        piece = attributes.token_bytes(token, special=True)
        return (
            not attributes.is_control(token)
            and not (piece.startswith(b"<|") and piece.endswith(b">"))
            and piece not in (b"", b"<think>", b"</think>", b"<tool_call>", b"</tool_call>")
        )

    @cached_property
    def unproducible(self) -> frozenset[int]:
        return frozenset(t for t in range(self.model.n_vocab) if not self.producible(t))


@pytest.fixture(
    scope="module",
    params=[
        "qwen3_path",
        "gemma4_path",
        "llama_path",
        "spm_path",
        pytest.param("smollm2", marks=pytest.mark.model),
    ],
)
def vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    return Vocabulary(request.getfixturevalue(request.param))


@pytest.fixture(scope="module")
def llama(llama_path: Path) -> Vocabulary:
    return Vocabulary(llama_path)


@pytest.fixture(scope="module")
def qwen3(qwen3_path: Path) -> Vocabulary:
    return Vocabulary(qwen3_path)


def walk(vocabulary: Vocabulary, constraint: Constraint, seed: int) -> list[int]:
    """A random sentence of the grammar, token by token; checks every mask on the way.

    The stop token is taken as soon as it is allowed and luck says so.
    """
    draw = random.Random(seed)
    tokens: list[int] = []
    stop = constraint.stop_token
    while len(tokens) < _MOST_TOKENS:
        allowed = allowed_ids(constraint.mask_words(), vocabulary.model.n_vocab).tolist()
        forced = constraint.forced_tokens(100)
        if forced:
            assert allowed == forced[:1], "where a token is forced the mask holds exactly it"
        assert allowed, "a healthy constraint always leaves a token"
        assert (stop in allowed) == constraint.complete
        strays = vocabulary.unproducible.intersection(allowed) - {stop}
        assert not strays, "control tokens, markers and padding can't be produced"
        if allowed == [stop] or (stop in allowed and draw.random() < 0.5):
            constraint.commit(stop)
            assert constraint.complete
            assert allowed_ids(constraint.mask_words(), vocabulary.model.n_vocab).tolist() == [stop]
            break
        token = draw.choice([t for t in allowed if t != stop])
        constraint.commit(token)
        tokens.append(token)
    return tokens


@pytest.mark.parametrize("name", SOURCES)
def test_random_walks_end_in_answers_that_an_independent_validator_accepts(
    vocabulary: Vocabulary, name: str
) -> None:
    compiled = vocabulary.grammar(SOURCES[name])
    finished = 0
    for seed in range(12):
        constraint = compiled.constraint()
        tokens = walk(vocabulary, constraint, seed)
        if len(tokens) == _MOST_TOKENS:
            continue  # a recursive grammar may go on for ever
        finished += 1
        text = vocabulary.bytes_of(tokens).decode("utf-8")
        verdict = SOURCES[name].judge(text)
        assert verdict.valid is not False, (text, verdict.errors)
        if SOURCES[name].kind != "lark":
            assert verdict.valid
    assert finished >= 6


def test_padding_ids_of_qwen3_are_never_allowed(qwen3: Vocabulary) -> None:
    assert qwen3.model.n_vocab == 151_936
    constraint = qwen3.constraint(JsonSchema('{"type": "string"}'))
    for token in constraint.forced_tokens(5) or [qwen3.model.vocabulary.tokenize('"')[0]]:
        constraint.commit(token)
    allowed = allowed_ids(constraint.mask_words(), 151_936)
    assert len(allowed) > 100_000
    assert allowed.max() < 151_643, "no control token and no padding above the ordinary ids"


def test_a_lark_grammar_that_names_a_control_token_can_not_produce_it(llama: Vocabulary) -> None:
    # Refused at the door; these are built past it, for the mask must not rely on that.
    with pytest.raises(GrammarError, match="unsatisfiable"):
        llama.grammar(unchecked_lark("start: <|im_start|>"))
    constraint = llama.constraint(unchecked_lark('start: "a" <|im_start|> | "ab"'))
    constraint.commit(llama.model.vocabulary.tokenize("a")[0])
    marker = llama.model.vocabulary.marker_id("<|im_start|>")
    assert marker is not None
    assert not constraint.is_allowed(marker)
    assert marker not in constraint.forced_tokens(9)
    assert constraint.valid_prefix_len([marker]) == 0


def test_text_that_spells_a_control_token_is_an_ordinary_string(qwen3: Vocabulary) -> None:
    constraint = qwen3.constraint(JsonSchema('{"const": "a<|im_end|>b"}'))
    tokens = walk(qwen3, constraint, 1)
    assert qwen3.bytes_of(tokens) == b'"a<|im_end|>b"'
    assert all(t < 151_643 for t in tokens)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_choices_accept_every_tokenization_wherever_there_is_a_choice(
    llama_path: Path, data: st.DataObject
) -> None:
    vocabulary = _cached(llama_path)
    answers = data.draw(
        st.lists(
            st.text(
                st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8
            ),
            min_size=1,
            max_size=6,
        )
    )
    compiled = vocabulary.grammar(Choice(answers))
    answer = data.draw(st.sampled_from(answers))
    constraint = compiled.constraint()
    left = answer.encode()
    by_bytes = _tokens_by_bytes(llama_path)
    while left:
        # Any token that spells a beginning of what is left must be allowed; where all answers
        # left agree on what comes next, the tokenizer's own tokens for it are forced instead.
        fitting = [by_bytes[left[:n]] for n in range(1, len(left) + 1) if left[:n] in by_bytes]
        forced = constraint.forced_tokens(1)
        assert set(forced) <= set(fitting)
        assert forced or all(constraint.is_allowed(t) for t in fitting)
        token = data.draw(st.sampled_from(forced or fitting))
        constraint.commit(token)
        left = left[len(vocabulary.model.vocabulary.token_bytes(token)) :]
    assert constraint.complete
    assert constraint.is_allowed(constraint.stop_token)


_CACHE: dict[Path, Vocabulary] = {}


def _cached(path: Path) -> Vocabulary:
    if path not in _CACHE:
        _CACHE[path] = Vocabulary(path)
    return _CACHE[path]


def _tokens_by_bytes(path: Path) -> dict[bytes, int]:
    vocabulary = _cached(path)
    return {
        vocabulary.model.vocabulary.token_bytes(t): t
        for t in range(vocabulary.model.n_vocab)
        if vocabulary.producible(t)
    }


def test_only_the_whole_choice_may_end(llama: Vocabulary) -> None:
    constraint = llama.constraint(Choice(["ab", "abc"]))
    stop = constraint.stop_token
    tokenize = llama.model.vocabulary.tokenize
    assert not constraint.is_allowed(stop)
    for token in tokenize("ab"):
        constraint.commit(token)
    assert constraint.complete
    assert not constraint.finished
    assert constraint.is_allowed(stop)
    constraint.commit(tokenize("c")[0])
    assert constraint.finished
    assert constraint.forced_tokens(3) == [stop]


@pytest.mark.parametrize("name", SOURCES)
def test_look_aheads_change_nothing(llama: Vocabulary, name: str) -> None:
    constraint = llama.constraint(SOURCES[name])
    draw = random.Random(5)
    for _ in range(12):
        before = constraint.mask_words().copy()
        state = (constraint.complete, constraint.finished)
        forced = constraint.forced_tokens(50)
        constraint.valid_prefix_len([*forced, 5, 9, 11, *range(40)])
        constraint.is_allowed(17)
        constraint.draft_begin()
        constraint.draft_mask_words()
        for token in forced:
            constraint.draft_advance(token)
        fresh = constraint.fork()
        assert np.array_equal(fresh.mask_words(), before)
        assert np.array_equal(constraint.mask_words(), before)
        assert constraint.forced_tokens(50) == forced
        assert (constraint.complete, constraint.finished) == state
        if constraint.finished:
            break
        token = draw.choice(allowed_ids(before, llama.model.n_vocab).tolist())
        if token == constraint.stop_token:
            break
        constraint.commit(token)


def test_forks_are_independent_and_reset_returns_to_the_start(llama: Vocabulary) -> None:
    constraint = llama.constraint(SOURCES["triage"])
    start = constraint.mask_words().copy()
    for token in constraint.forced_tokens(3):
        constraint.commit(token)
    twin = constraint.fork()
    here = twin.mask_words().copy()
    walk(llama, constraint, 3)
    assert np.array_equal(twin.mask_words(), here)
    assert not twin.complete
    walk(llama, twin, 4)
    assert twin.complete
    constraint.reset()
    assert np.array_equal(constraint.mask_words(), start)
    assert not constraint.complete


def test_committing_a_forbidden_token_is_an_error(llama: Vocabulary) -> None:
    constraint = llama.constraint(SOURCES["triage"])
    with pytest.raises(ConstraintError):
        constraint.commit(llama.model.vocabulary.tokenize("z")[0])


def test_valid_prefix_len_counts_tokens_up_to_the_first_illegal_one(llama: Vocabulary) -> None:
    constraint = llama.constraint(Regex("[0-9]{3}"))
    tokenize = llama.model.vocabulary.tokenize
    digits = [tokenize(d)[0] for d in "1234"]
    assert constraint.valid_prefix_len(digits) == 3
    assert constraint.valid_prefix_len([digits[0], tokenize("x")[0], digits[1]]) == 1
    assert constraint.valid_prefix_len([constraint.stop_token]) == 0
    assert constraint.valid_prefix_len([]) == 0


def test_the_draft_hook_masks_advances_and_ends_without_touching_the_committed_state(
    llama: Vocabulary,
) -> None:
    constraint = llama.constraint(Regex("ab[0-9]"))
    committed = constraint.mask_words().copy()
    a, b, five = (llama.model.vocabulary.tokenize(c)[0] for c in "ab5")
    with pytest.raises(ConstraintError):
        llama.constraint(Regex("x")).draft_mask_words()
    constraint.draft_begin()
    assert np.array_equal(constraint.draft_mask_words(), committed)
    assert constraint.draft_advance(a)
    assert not constraint.draft_advance(a), "an illegal proposal ends the chain"
    constraint.draft_begin()
    assert constraint.draft_advance(a)
    assert constraint.draft_advance(b)
    allowed = allowed_ids(constraint.draft_mask_words(), llama.model.n_vocab).tolist()
    assert five in allowed
    assert a not in allowed
    assert constraint.draft_advance(five)
    assert not constraint.draft_advance(constraint.stop_token)
    assert np.array_equal(constraint.mask_words(), committed)


def test_one_compilation_serves_any_number_of_streams(
    llama: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = llama.grammar(SOURCES["deep"])
    made: list[object] = []
    original = LLMatcher

    def counting(*args: object, **kwargs: object) -> object:
        made.append(args)
        return original(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(grammar, "LLMatcher", counting)
    streams = [compiled.constraint() for _ in range(8)]
    texts = {llama.bytes_of(walk(llama, s, i)) for i, s in enumerate(streams)}
    assert not made
    assert len(texts) > 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[1]", "is an object, not an array"),
        ('"string"', "is an object, not a string"),
        ("null", "is an object, not null"),
        ("3", "is an object, not a number"),
        ("false", "allows no answer"),
        ('{"minimum": NaN}', "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_schema_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        JsonSchema(text)


@pytest.mark.parametrize(
    "schema",
    [
        '{"type": "string", "minLength": 5, "maxLength": 2}',
        '{"type": "integer", "minimum": 5, "maximum": 3}',
        '{"allOf": [{"type": "string"}, {"type": "integer"}]}',
        '{"enum": []}',
        '{"not": {}}',
        '{"type": "object", "properties": {"a": false}, "required": ["a"]}',
        '{"x-guidance": {"lenient": true}, "type": "string", "minLength": 5, "maxLength": 2}',
    ],
)
def test_an_unsatisfiable_schema_never_compiles(schema: str) -> None:
    with pytest.raises(GrammarError, match="nsatisfiable"):
        JsonSchema(schema).prepare()


@pytest.mark.parametrize(
    "schema", ['{"type": "strin"}', '{"type": 3}', '{"required": "a"}', '{"minimum": "x"}']
)
def test_a_schema_that_is_not_a_schema_is_refused(schema: str) -> None:
    with pytest.raises(GrammarError, match="not a JSON schema"):
        JsonSchema(schema).prepare()


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?=a)b", r"(a)\1", "*"])
def test_a_bad_pattern_is_refused_on_one_line(pattern: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Regex(pattern).prepare()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pattern", ["\\", "ab\\", "a\\\\\\", "(?x)a #c\nb", "(?ix)a"])
def test_a_pattern_that_the_engine_would_misread_is_refused(pattern: str) -> None:
    with pytest.raises(GrammarError, match=r"backslash|\(\?x\)"):
        Regex(pattern)


@pytest.mark.parametrize("pattern", ["(?i-x)a", "a\\\\", "(?i)x", "(?s).x"])
def test_a_pattern_that_only_looks_like_that_is_taken(pattern: str) -> None:
    assert Regex(pattern).pattern == pattern


@pytest.mark.parametrize(
    "text", ['start: "a" <|im_end|>', "start: <[0-9]>", 'start: a\na: <think> // "<b>"']
)
def test_a_grammar_that_names_tokens_of_the_vocabulary_is_refused(text: str) -> None:
    with pytest.raises(GrammarError, match="names the token"):
        Lark(text)


@pytest.mark.parametrize("text", ['start: "<b>" /<i>/', 'start: "a" // <|x|>', 'start: "\\"<c>"'])
def test_angle_brackets_in_strings_patterns_and_comments_name_no_token(text: str) -> None:
    assert Lark(text).grammar == text


@pytest.mark.parametrize(
    "given",
    [Lark("start:"), Regex("()"), Regex("$"), Lark('start: ""')],
)
def test_a_grammar_of_nothing_but_the_empty_answer_is_refused(
    llama: Vocabulary, given: Spec
) -> None:
    with pytest.raises(GrammarError, match="only an empty answer"):
        llama.grammar(given)


@pytest.mark.parametrize(
    "given",
    [Lark("start: start"), Lark("start: a\na: b\nb: a"), Regex("[a&&b]")],
)
def test_a_grammar_without_any_answer_is_called_unsatisfiable(
    llama: Vocabulary, given: Spec
) -> None:
    with pytest.raises(GrammarError, match="unsatisfiable") as caught:
        llama.grammar(given)
    assert len(str(caught.value)) < 200


def test_what_the_engine_gives_up_on_while_decoding_is_told_in_one_sentence(
    llama: Vocabulary,
) -> None:
    constraint = llama.constraint(Regex("a{99999999}"))
    token = llama.model.vocabulary.tokenize("a")[0]

    def decode() -> None:
        for _ in range(100):
            constraint.mask_words()
            constraint.commit(token)

    with pytest.raises(ConstraintError) as caught:
        decode()
    assert "too many expressions" in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "schema",
    [
        r'{"type": "string", "pattern": "^\\p{Lu}{3}$"}',
        r'{"type": "string", "pattern": "^(?<y>\\d{4})$"}',
        '{"$id": "not a uri", "type": "boolean"}',
    ],
)
def test_a_schema_is_not_refused_for_what_only_python_can_not_read(schema: str) -> None:
    check_schema(JsonSchema(schema).schema)


@pytest.mark.parametrize("uri", ["http://json-schema.org/schema#", "https://example.com/mine"])
def test_an_unknown_dialect_is_read_as_the_latest_with_a_warning(uri: str) -> None:
    text = json.dumps({"$schema": uri, "type": "boolean"})
    prepared = JsonSchema(text).prepare()
    assert len(prepared.warnings) == 1
    assert uri in prepared.warnings[0]
    known = text.replace(uri, "http://json-schema.org/draft-07/schema#")
    assert JsonSchema(known).prepare().warnings == ()


@pytest.mark.parametrize("text", ["start: B", 'foo: "a"', 'start "a"', "start: /(/"])
def test_a_bad_grammar_is_refused_with_the_engines_diagnostic(text: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Lark(text).prepare()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) > 10


def test_a_grammar_without_a_sentence_is_refused(llama: Vocabulary) -> None:
    with pytest.raises(GrammarError):
        llama.grammar(Lark('start: start "a"'))


def test_relaxed_keywords_are_reported_and_judged_by_the_validator(llama: Vocabulary) -> None:
    given_source = JsonSchema(
        '{"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2,'
        ' "uniqueItems": true}'
    )
    compiled = llama.grammar(given_source)
    assert compiled.relaxed
    assert [w.count("uniqueItems") for w in given_source.prepare().warnings] == [1]
    assert given_source.judge("[1,2]").valid
    assert given_source.judge("[1,1]").valid is False


def test_json_is_compact_unless_white_space_is_asked_for(llama: Vocabulary) -> None:
    given_source = JsonSchema(
        '{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}},'
        ' "required": ["a"]}'
    )
    tokenize = llama.model.vocabulary.tokenize
    compact = llama.grammar(given_source).constraint()
    spaced = llama.grammar(given_source, json_whitespace=True).constraint()
    text = tokenize('{ "a": [1, 2] }')
    assert spaced.valid_prefix_len(text) == len(text)
    assert compact.valid_prefix_len(text) < 3
    text = tokenize('{"a":[1,2]}')
    assert compact.valid_prefix_len(text) == len(text)


def test_digits_words_and_spaces_of_a_pattern_are_ascii(llama: Vocabulary) -> None:
    for pattern, good, bad in (
        (r"\d", "7", "٣"),
        (r"[\d_]", "_", "٣"),
        (r"\w", "z", "é"),
        (r"a\s", "a ", "a\u00a0"),
        (r"\\d", "\\d", "7"),
    ):
        constraint = llama.constraint(Regex(pattern))
        tokenize = llama.model.vocabulary.tokenize
        assert constraint.valid_prefix_len(tokenize(good)) == len(tokenize(good)), pattern
        assert constraint.valid_prefix_len(tokenize(bad)) < len(tokenize(bad)), pattern


def test_every_real_world_schema_compiles_or_is_refused(
    llama: Vocabulary, real_schemas: list[object]
) -> None:
    compiled = relaxed = 0
    for schema in real_schemas:
        try:
            given_source = JsonSchema(json.dumps(schema))
            result = llama.grammar(given_source)
        except GrammarError:
            continue
        compiled += 1
        relaxed += bool(given_source.prepare().warnings)
        constraint = result.constraint()
        assert constraint.mask_words().any()
    assert compiled >= 0.95 * len(real_schemas)
    assert relaxed < 0.15 * len(real_schemas)


def test_a_recursive_grammar_counts_its_parentheses(llama: Vocabulary) -> None:
    constraint = llama.constraint(Lark(RECURSIVE))
    tokenize = llama.model.vocabulary.tokenize
    assert constraint.valid_prefix_len(tokenize("((1+22)-(3))")) == len(tokenize("((1+22)-(3))"))
    unbalanced = [t for c in "(1))" for t in tokenize(c)]
    assert constraint.valid_prefix_len(unbalanced) == 3


@pytest.mark.parametrize("answer", ["0.1", "1.5", "19"])
def test_floats_of_a_schema_given_as_python_values_are_the_numbers_of_answers(answer: str) -> None:
    assert JsonSchema({"enum": [0.1, 1.5, 19.0]}).judge(answer).valid is True
    assert JsonSchema({"minimum": 0.1, "maximum": 19.0}).judge(answer).valid is True
    assert JsonSchema({"multipleOf": 0.5}).judge("1.5").valid is True
