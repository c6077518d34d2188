"""Whatever users write stays text: no spelling of a marker becomes a control token or a marker."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from gguf import TokenType
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fucina_cli.families.family import Family
from fucina_cli.families.gemma4 import GEMMA4
from fucina_cli.families.generic import GENERIC
from fucina_cli.families.qwen3 import QWEN3
from fucina_cli.llama import native
from fucina_cli.llama.model import Model
from fucina_cli.llama.vocabulary import Vocabulary
from fucina_cli.prompts import chat_prompt, text_prompt
from fucina_cli.prompts.template import Marker, render
from tests.support import ggufs

_NOT_TEXT = 1 << 0 | 1 << 3 | 1 << 4  # unknown, control and user-defined tokens of llama.h

QWEN3_MARKERS = list(ggufs.QWEN3_SPECIALS)
GEMMA4_MARKERS = sorted(GEMMA4.markers | {"<bos>", "<eos>", "<pad>", "<unk>", "<mask>"})
CHATML_MARKERS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SPM_MARKERS = ["<s>", "</s>", "<unk>", "<think>", "</think>", "[INST]", "[/INST]"]
ALL_MARKERS = sorted({*QWEN3_MARKERS, *GEMMA4_MARKERS, *CHATML_MARKERS, *SPM_MARKERS})


@dataclass(frozen=True)
class Chat:
    """A model with the family that runs it; the prompt that its template writes by hand."""

    model: Model
    family: Family
    expected: Callable[[str, str], str]

    @property
    def vocabulary(self) -> Vocabulary:
        return self.model.vocabulary

    def prompt(self, user: str, system: str) -> list[int]:
        return chat_prompt(self.model, self.family, user, system=system, thinking=False).tokens


def _expected_qwen3(user: str, system: str) -> str:
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


def _expected_gemma4(user: str, system: str) -> str:
    return (
        f"<bos><|turn>system\n{system.strip()}<turn|>\n<|turn>user\n{user.strip()}<turn|>\n"
        "<|turn>model\n<|channel>thought\n<channel|>"
    )


def _expected_chatml(user: str, system: str) -> str:
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def _vocabulary_of(path: Path) -> Model:
    return Model(path, vocab_only=True)


@pytest.fixture(scope="module")
def qwen3(qwen3_path: Path) -> Iterator[Chat]:
    model = _vocabulary_of(qwen3_path)
    yield Chat(model, QWEN3, _expected_qwen3)
    model.close()


@pytest.fixture(scope="module")
def gemma4(gemma4_path: Path) -> Iterator[Chat]:
    model = _vocabulary_of(gemma4_path)
    yield Chat(model, GEMMA4, _expected_gemma4)
    model.close()


@pytest.fixture(scope="module")
def chatml(llama_path: Path) -> Iterator[Chat]:
    model = _vocabulary_of(llama_path)
    yield Chat(model, GENERIC, _expected_chatml)
    model.close()


@pytest.fixture(params=["qwen3", "gemma4", "chatml"])
def chat(request: pytest.FixtureRequest) -> Chat:
    chosen: Chat = request.getfixturevalue(request.param)
    return chosen


def _spm_file(path: Path, *, template: str | None = None, name: str = "Tiny Llama") -> Path:
    """A SentencePiece model with markers of all kinds, in the place of rare letters.

    As in Llama 2 the pieces `</` and `s>` merge into the control token `</s>`. `<think>`, `[INST]`
    and their closing halves are user-defined markers, `<table>` and a run of spaces user-defined
    text, `@@use@@` a user-defined token that is a marker only where a template uses it.
    """
    vocabulary = ggufs.spm_vocabulary()
    tokens, types = list(vocabulary.tokens), list(vocabulary.types)
    scores = list(vocabulary.scores)
    user_defined = ["<think>", "</think>", "[INST]", "[/INST]", "<table>", "@@use@@"]
    user_defined += ["  ", "<|endoftext|>"]  # llama.cpp asks a Phi-3 for the latter
    for i, text in enumerate(["</", "s>", *user_defined], start=1):
        tokens[-i], scores[-i] = text, -0.5
        types[-i] = TokenType.USER_DEFINED if text in user_defined else TokenType.NORMAL
    return ggufs.build_llama_spm(
        path,
        template=template,
        overrides={
            "general.name": name,
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.scores": scores,
            "tokenizer.ggml.token_type": [int(kind) for kind in types],
        },
    )


@pytest.fixture(scope="module")
def spm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    template = "{{ bos_token }}[INST] {{ messages[-1].content }} [/INST]"
    path = _spm_file(tmp_path_factory.mktemp("spm") / "spm.gguf", template=template)
    model = _vocabulary_of(path)
    yield model
    model.close()


def markers_in(vocabulary: Vocabulary, tokens: Sequence[int]) -> list[str]:
    """Texts of the tokens that are no plain text, by the file's own types."""
    lib = native.library()
    return [
        vocabulary.text(token)
        for token in tokens
        if lib.llama_vocab_get_attr(vocabulary.handle, token) & _NOT_TEXT
    ]


def text_of(vocabulary: Vocabulary, tokens: Sequence[int]) -> str:
    return b"".join(vocabulary.token_bytes(t, special=True) for t in tokens).decode()


def native_ids(vocabulary: Vocabulary, text: str) -> list[int]:
    """What llama.cpp makes of `text` in one go, markers included."""
    data = text.encode()
    buffer = (ctypes.c_int32 * (len(data) + 8))()
    count = native.library().llama_tokenize(
        vocabulary.handle, data, len(data), buffer, len(buffer), False, True
    )
    return list(buffer[:count])


# -- texts that try ------------------------------------------------------------------------------


def _slices(markers: Sequence[str]) -> st.SearchStrategy[str]:
    """Parts of markers: `<|im_`, `end|>`, `<`, `|`, …"""
    return st.sampled_from(markers).flatmap(
        lambda m: st.tuples(st.integers(0, len(m)), st.integers(0, len(m))).map(
            lambda ends: m[min(ends) : max(ends)]
        )
    )


def _inside(markers: Sequence[str]) -> st.SearchStrategy[str]:
    """A marker written into the middle of a marker: `<|im_<|im_end|>end|>`."""
    marker = st.sampled_from(markers)
    return st.tuples(marker, marker, st.integers(0, 20)).map(
        lambda t: t[0][: t[2]] + t[1] + t[0][t[2] :]
    )


_GUARDS = st.sampled_from(["\ufdd0", "\ufdd1", "\ufdd2", "\ufdef", "\U000f0000"])
#: U+2581 is how SentencePiece writes a space, so it comes back as one.
_PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581"), max_size=4)


def texts(markers: Sequence[str]) -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.sampled_from(markers),
        _slices(markers),
        _inside(markers),
        _GUARDS,
        st.sampled_from(["<", "<<", ">", "|", "<|", "|>", "[", " ", "\n", "\r\n", "/", "s"]),
        _PLAIN,
    )
    return st.lists(piece, max_size=6).map("".join)


def examples(count: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`count` random cases; fixtures are only read, so sharing them is sound."""
    shared = [HealthCheck.function_scoped_fixture]
    return settings(max_examples=count, deadline=None, suppress_health_check=shared)


# -- chats ---------------------------------------------------------------------------------------


@examples(150)
@given(user=texts(ALL_MARKERS), system=texts(ALL_MARKERS))
def test_no_text_of_a_chat_becomes_a_marker_and_all_of_it_survives(
    chat: Chat, user: str, system: str
) -> None:
    tokens = chat.prompt(user, system)
    harmless = chat.prompt("x", "y")
    assert markers_in(chat.vocabulary, tokens) == markers_in(chat.vocabulary, harmless)
    assert text_of(chat.vocabulary, tokens) == chat.expected(user, system)


@pytest.mark.parametrize("marker", ALL_MARKERS)
def test_a_marker_as_the_whole_text_stays_text(chat: Chat, marker: str) -> None:
    tokens = chat.prompt(marker, marker)
    assert markers_in(chat.vocabulary, tokens) == markers_in(chat.vocabulary, chat.prompt("x", "y"))
    assert text_of(chat.vocabulary, tokens) == chat.expected(marker, marker)


@examples(300)
@example(before="<", text="", after="|im_end|>")
@given(before=_slices(CHATML_MARKERS), text=texts(CHATML_MARKERS), after=_slices(CHATML_MARKERS))
def test_text_makes_no_marker_together_with_the_template(
    before: str, text: str, after: str
) -> None:
    def rendered(content: str, printed: str = "{{ messages[0].content }}") -> list[str]:
        message = {"role": "user", "content": content}
        template = "\u2602" + before + printed + after
        parts = render(template, [message], markers=CHATML_MARKERS).parts
        return [part.text for part in parts if isinstance(part, Marker)]

    # Around an empty text all that stands there is the template's own, and so is its marker.
    assert rendered(text) == (rendered("\u2603") if text else rendered("", printed=""))


# -- raw text ------------------------------------------------------------------------------------


@examples(150)
@given(text=texts(ALL_MARKERS))
def test_no_raw_prompt_becomes_a_marker_and_all_of_it_survives(chat: Chat, text: str) -> None:
    tokens = chat.vocabulary.tokenize(text)
    assert markers_in(chat.vocabulary, tokens) == []
    assert text_of(chat.vocabulary, tokens) == text


@examples(300)
@given(text=texts(SPM_MARKERS).filter(lambda text: text and not re.search("  |<table>", text)))
def test_cut_spellings_get_no_space_in_a_vocabulary_that_puts_one_first(
    spm: Model, text: str
) -> None:
    tokens = spm.vocabulary.tokenize(text)
    assert markers_in(spm.vocabulary, tokens) == []
    assert text_of(spm.vocabulary, tokens) == " " + text


def test_pieces_that_merge_into_a_control_token_are_kept_apart(spm: Model, qwen3: Chat) -> None:
    # The tokenizer itself writes the control token here, without being asked for special tokens.
    for vocabulary in (spm.vocabulary, qwen3.vocabulary):
        assert markers_in(vocabulary, native_ids(vocabulary, "a</s>")) == ["</s>"]
        assert markers_in(vocabulary, vocabulary.tokenize("a</s>b")) == []
        assert text_of(vocabulary, vocabulary.tokenize("a</s>b")).lstrip() == "a</s>b"


def test_user_defined_tokens_that_structure_nothing_are_ordinary_text(spm: Model) -> None:
    for text in ("a<table>b", "<table>", "a    b"):
        assert spm.vocabulary.tokenize(text) == native_ids(spm.vocabulary, text)


def test_a_user_defined_token_is_a_marker_where_the_template_uses_it(spm: Model) -> None:
    vocabulary = spm.vocabulary
    assert "@@use@@" in markers_in(vocabulary, vocabulary.tokenize("a@@use@@b"))
    assert "@@use@@" not in vocabulary.marker_ids("[INST]")
    markers = vocabulary.marker_ids("{{ '@@use@@' }}")
    tokens = vocabulary.tokenize("a@@use@@b", markers)
    assert markers_in(vocabulary, tokens) == []
    assert text_of(vocabulary, tokens) == " a@@use@@b"
    assert vocabulary.encode([markers["@@use@@"], "@@use@@"], markers)[0] == markers["@@use@@"]
    assert markers_in(vocabulary, vocabulary.encode(["@@use@@"], markers)) == []


def test_text_of_a_chat_spells_no_marker_that_only_the_template_makes_one(tmp_path: Path) -> None:
    template = "@@use@@{{ messages[-1].content }}@@use@@"
    model = _vocabulary_of(_spm_file(tmp_path / "u.gguf", template=template))
    try:
        tokens = chat_prompt(model, GENERIC, "a@@use@@b", system=None, thinking=None).tokens
        assert markers_in(model.vocabulary, tokens) == ["<s>", "@@use@@", "@@use@@"]
        assert text_of(model.vocabulary, tokens) == "<s>@@use@@ a@@use@@b@@use@@"
    finally:
        model.close()


def test_marker_id_knows_markers_only(spm: Model, qwen3: Chat, gemma4: Chat) -> None:
    assert qwen3.vocabulary.marker_id("<think>") == ggufs.QWEN3_SPECIALS["<think>"]
    assert qwen3.vocabulary.marker_id("<|im_end|>") == ggufs.QWEN3_SPECIALS["<|im_end|>"]
    assert gemma4.vocabulary.marker_id('<|"|>') is not None
    assert spm.vocabulary.marker_id("[INST]") is not None
    for text in ("<table>", "  ", "a", "", "<think", "<think><think>"):
        assert spm.vocabulary.marker_id(text) is None
        assert qwen3.vocabulary.marker_id(text) is None


def test_markers_and_nothing_else_are_barred_from_grammars(spm: Model, gemma4: Chat) -> None:
    for vocabulary in (spm.vocabulary, gemma4.vocabulary):
        table = vocabulary.trie_bytes()
        # The prefix alone is the token of the byte 0xff, which no text contains either.
        barred = {data[1:].decode() for data in table if data.startswith(b"\xff")} - {""}
        assert barred == set(vocabulary.marker_ids())


# -- harmless text -------------------------------------------------------------------------------

HARMLESS = [
    "Why is the sky blue?",
    " leading and trailing ",
    "\nstarts on a new line\n\n",
    "one\r\ntwo\r\n",
    "però 日本語 🎉 नमस्ते\u0301",
    "if (a < b && c > d) { return '<' + x[0] + '>'; }",
    "<b>bold</b> and <html> and a|b||c",
    "{{ braces }} {% and %} more",
    "   spaces\t\ttabs      ",
    "12345 6.78e-9",
    "/no_think",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_tokenized_as_llama_cpp_does_it_in_one_go(chat: Chat, text: str) -> None:
    for system in (text, "y"):
        expected = native_ids(chat.vocabulary, chat.expected(text, system))
        assert chat.prompt(text, system) == expected
    assert chat.vocabulary.tokenize(text) == native_ids(chat.vocabulary, text)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_between_markers_of_a_sentencepiece_vocabulary(spm: Model, text: str) -> None:
    prompt = chat_prompt(spm, GENERIC, text, system=None, thinking=None)
    assert prompt.tokens == native_ids(spm.vocabulary, f"<s>[INST] {text} [/INST]")


def test_raw_prompts_begin_with_bos_where_the_model_wants_it(
    qwen3: Chat, gemma4: Chat, spm: Model
) -> None:
    assert text_of(qwen3.vocabulary, text_prompt(qwen3.model, "<bos>hi").tokens) == "<bos>hi"
    tokens = text_prompt(gemma4.model, "<bos>hi").tokens
    assert text_of(gemma4.vocabulary, tokens) == "<bos><bos>hi"
    assert markers_in(gemma4.vocabulary, tokens) == ["<bos>"]
    tokens = text_prompt(spm, "<s>hi").tokens
    assert text_of(spm.vocabulary, tokens) == "<s> <s>hi"
    assert markers_in(spm.vocabulary, tokens) == ["<s>"]


def test_a_template_without_bos_gets_one_and_a_template_with_it_no_second(
    tmp_path: Path, spm: Model
) -> None:
    without = ggufs.build_gemma4(tmp_path / "g.gguf", template="{{ messages[-1].content }}<turn|>")
    model = _vocabulary_of(without)
    try:
        tokens = chat_prompt(model, GEMMA4, "<bos>", system=None, thinking=None).tokens
        assert text_of(model.vocabulary, tokens) == "<bos><bos><turn|>"
        assert markers_in(model.vocabulary, tokens) == ["<bos>", "<turn|>"]
    finally:
        model.close()
    tokens = chat_prompt(spm, GENERIC, "a", system=None, thinking=None).tokens
    assert markers_in(spm.vocabulary, tokens) == ["<s>", "[INST]", "[/INST]"]


@pytest.mark.parametrize("text", ["\n hi \n", "hi", " ", "<s>hi"])
def test_markers_that_swallow_white_space_do_so_as_in_llama_cpp(tmp_path: Path, text: str) -> None:
    template = "[INST]{{ messages[-1].content }}[/INST]{{ '\\n' }}[INST]"
    path = _spm_file(tmp_path / "phi.gguf", template=template, name="Phi-3 mini")
    model = _vocabulary_of(path)
    try:
        vocabulary = model.vocabulary
        opens, closes = vocabulary.marker_id("[INST]"), vocabulary.marker_id("[/INST]")
        assert opens is not None
        assert closes is not None
        tokens = vocabulary.encode([opens, text, closes, "\n", opens])
        if "<s>" not in text:
            assert tokens == native_ids(vocabulary, f"[INST]{text}[/INST]\n[INST]")
        assert markers_in(vocabulary, tokens) == ["[INST]", "[/INST]", "[INST]"]
        prompt = chat_prompt(model, GENERIC, text, system=None, thinking=None)
        assert prompt.tokens == [vocabulary.bos, *tokens]
    finally:
        model.close()
