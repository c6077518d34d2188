"""What each family knows: whose files it runs, how they are sampled, where they stop and think."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from gguf import TokenType

from fucina_cli.decoding.reply import ThinkingTokens
from fucina_cli.families.family import Advice, Family
from fucina_cli.families.gemma4 import GEMMA4
from fucina_cli.families.generic import GENERIC
from fucina_cli.families.qwen3 import QWEN3
from fucina_cli.families.registry import WrongFamily, check_family, families, family_of
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.prompts import chat_prompt, stop_token, thinking_tokens
from fucina_cli.prompts.errors import TemplateError
from tests.support import ggufs


@pytest.fixture
def load() -> Iterator[Callable[[Path], Model]]:
    """Load the vocabulary and metadata of a file, and free it after the test."""
    loaded: list[Model] = []

    def get(path: Path) -> Model:
        loaded.append(Model(path, vocab_only=True))
        return loaded[-1]

    yield get
    for model in loaded:
        model.close()


# -- whose file it is ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("architecture", "family"),
    [
        ("qwen3", QWEN3),
        ("qwen3moe", QWEN3),
        ("gemma4", GEMMA4),
        ("llama", GENERIC),
        ("gemma3", GENERIC),
        ("qwen2", GENERIC),
        ("qwen3next", GENERIC),
        ("", GENERIC),
        ("Qwen3", GENERIC),
    ],
)
def test_each_architecture_has_one_family(architecture: str, family: Family) -> None:
    assert family_of(architecture) is family
    check_family(family, architecture)
    for other in families():
        if other is not family:
            with pytest.raises(WrongFamily, match=f"use {family.command} for this file"):
                check_family(other, architecture)


def test_the_wrong_entry_point_is_told_what_it_runs_and_what_the_file_is() -> None:
    with pytest.raises(WrongFamily) as refusal:
        check_family(QWEN3, "gemma4")
    assert str(refusal.value) == (
        "its architecture is 'gemma4'; fucina-qwen3 runs qwen3 and qwen3moe models, "
        "use fucina-gemma4 for this file"
    )
    with pytest.raises(WrongFamily) as refusal:
        check_family(GENERIC, "qwen3moe")
    assert str(refusal.value) == (
        "its architecture is 'qwen3moe'; fucina-run runs models without an entry point of their "
        "own, use fucina-qwen3 for this file"
    )


def test_no_architecture_is_claimed_twice_and_every_command_is_installed() -> None:
    claimed = [name for family in families() for name in family.architectures]
    assert len(claimed) == len(set(claimed))
    assert {family.command for family in families()} == {
        "fucina-qwen3",
        "fucina-gemma4",
        "fucina-run",
    }


# -- sampling ------------------------------------------------------------------------------------


def advice(temperature: float, top_k: float, top_p: float, min_p: float | None = None) -> Advice:
    found = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    return found if min_p is None else {**found, "min_p": min_p}


def defaults(
    family: Family, *, thinking: bool = False, file: Mapping[str, float] | None = None
) -> Advice:
    return family.sampling(thinking, (file or {}).get)


def test_qwen3_samples_cooler_when_it_thinks() -> None:
    assert defaults(QWEN3, thinking=True) == advice(0.6, 20, 0.95)
    assert defaults(QWEN3, thinking=False) == advice(0.7, 20, 0.8)


def test_qwen3_knows_better_than_the_file() -> None:
    file = {"general.sampling.temp": 0.1, "general.sampling.top_k": 1.0}
    assert defaults(QWEN3, thinking=True, file=file) == advice(0.6, 20, 0.95)


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize(
    ("family", "fallback"),
    [(GEMMA4, advice(1.0, 64, 0.95)), (GENERIC, advice(0.8, 40, 0.95))],
)
def test_other_families_take_each_key_of_the_file_and_fall_back_for_the_rest(
    family: Family, fallback: Advice, thinking: bool
) -> None:
    def got(file: Mapping[str, float]) -> Advice:
        return defaults(family, thinking=thinking, file=file)

    assert got({}) == fallback
    everything = {
        "general.sampling.temp": 0.3,
        "general.sampling.top_k": 7.0,
        "general.sampling.top_p": 0.5,
        "general.sampling.min_p": 0.05,
    }
    assert got(everything) == advice(0.3, 7, 0.5, 0.05)
    assert got({"general.sampling.temp": 0.3}) == advice(0.3, fallback["top_k"], 0.95)
    assert got({"general.sampling.top_k": 0.0}) == advice(fallback["temperature"], 0, 0.95)
    assert got({"general.sampling.temp": 0.0}) == advice(0.0, fallback["top_k"], 0.95)


def test_sampling_keys_are_read_from_a_real_file(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    keys = {"temp": 0.5, "top_k": 33}
    model = load(ggufs.build_gemma4(tmp_path / "g.gguf", sampling=keys))
    assert GEMMA4.sampling(False, model.number) == advice(0.5, 33, 0.95)


def test_sampling_keys_that_are_no_numbers_count_as_absent(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    overrides = {"general.sampling.temp": "hot", "general.sampling.top_k": [1, 2]}
    model = load(ggufs.build_llama(tmp_path / "l.gguf", overrides=overrides))
    assert GENERIC.sampling(False, model.number) == advice(0.8, 40, 0.95)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_sampling_keys_that_are_not_finite_count_as_absent(
    tmp_path: Path, load: Callable[[Path], Model], value: float
) -> None:
    overrides = {"general.sampling.temp": value, "general.sampling.top_k": value}
    model = load(ggufs.build_llama(tmp_path / "l.gguf", overrides=overrides))
    assert GENERIC.sampling(False, model.number) == advice(0.8, 40, 0.95)


# -- where a reply ends --------------------------------------------------------------------------


def test_stop_tokens_of_chats_and_of_raw_completions(
    qwen3_path: Path, gemma4_path: Path, llama_path: Path, load: Callable[[Path], Model]
) -> None:
    for path, family, chat, raw in (
        (qwen3_path, QWEN3, "<|im_end|>", "<|im_end|>"),
        (gemma4_path, GEMMA4, "<turn|>", "<eos>"),
        (llama_path, GENERIC, "<|im_end|>", "<|im_end|>"),
    ):
        model = load(path)
        assert model.vocabulary.text(stop_token(model, family, chat=True)) == chat
        assert model.vocabulary.text(stop_token(model, family, chat=False)) == raw
        assert model.vocabulary.is_end(stop_token(model, family, chat=True))


def test_a_raw_completion_ends_on_eos_also_where_a_chat_does_not(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    eos = ggufs.QWEN3_SPECIALS["<|endoftext|>"]
    path = ggufs.build_qwen3(tmp_path / "q.gguf", overrides={"tokenizer.ggml.eos_token_id": eos})
    model = load(path)
    assert stop_token(model, QWEN3, chat=False) == eos
    assert stop_token(model, QWEN3, chat=True) == ggufs.QWEN3_SPECIALS["<|im_end|>"]


def test_a_vocabulary_without_any_end_is_refused(
    llama_path: Path, load: Callable[[Path], Model]
) -> None:
    vocabulary = (model := load(llama_path)).vocabulary
    vocabulary.eos = vocabulary.eot = None  # llama.cpp makes one up for most tokenizers
    with pytest.raises(ModelError, match="no end-of-text token"):
        stop_token(model, GENERIC, chat=True)
    vocabulary.eot = 7
    assert stop_token(model, GENERIC, chat=True) == stop_token(model, GENERIC, chat=False) == 7


# -- thoughts ------------------------------------------------------------------------------------


def test_thinking_tokens_are_those_of_the_family_and_absent_where_the_vocabulary_lacks_them(
    qwen3_path: Path, gemma4_path: Path, llama_path: Path, load: Callable[[Path], Model]
) -> None:
    qwen3, gemma4, llama = load(qwen3_path), load(gemma4_path), load(llama_path)
    think = ThinkingTokens(ggufs.QWEN3_SPECIALS["<think>"], ggufs.QWEN3_SPECIALS["</think>"])
    assert thinking_tokens(qwen3, QWEN3) == think
    assert thinking_tokens(qwen3, GENERIC) == think
    ids = ggufs.gemma4_vocabulary().ids
    assert thinking_tokens(gemma4, GEMMA4) == ThinkingTokens(
        ids["<|channel>"], ids["<channel|>"], "thought\n"
    )
    assert thinking_tokens(llama, GENERIC) is None


OPEN = "{{ messages[-1].content }}<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("end", "inside"),
    [
        ("<think>\n", True),
        ("<think>", True),
        ("</think>", False),
        ("<think>\n\n</think>\n\n", False),
        ("<think>a</think><think>", True),
        ("", False),
    ],
)
def test_a_prompt_may_end_inside_an_open_thought(
    tmp_path: Path, load: Callable[[Path], Model], end: str, inside: bool
) -> None:
    # Only the tokenizer is needed, so the smallest file with the tokens will do.
    model = load(_small_thinker(tmp_path / "t.gguf", OPEN + end))
    prompt = chat_prompt(model, GENERIC, "hi", system=None, thinking=None)
    assert prompt.inside_thinking is inside
    assert prompt.thinking is not None


def test_a_thought_that_the_template_opens_although_told_not_to_is_closed(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    model = load(_small_thinker(tmp_path / "t.gguf", OPEN + "<think>{{ '\\n' }}"))
    prompt = chat_prompt(model, GENERIC, "hi", system=None, thinking=False)
    assert not prompt.inside_thinking
    text = "".join(model.vocabulary.text(token) for token in prompt.tokens)
    assert text.endswith("assistant\n<think>\n</think>\n\n")


def test_a_user_that_spells_the_marker_opens_no_thought(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    model = load(_small_thinker(tmp_path / "t.gguf", OPEN))
    prompt = chat_prompt(model, GENERIC, "<think>", system="<think>", thinking=None)
    assert not prompt.inside_thinking
    model = load(_small_thinker(tmp_path / "u.gguf", OPEN + "<think>"))
    prompt = chat_prompt(model, GENERIC, "</think>", system=None, thinking=None)
    assert prompt.inside_thinking


def test_the_families_own_templates_open_no_thought(
    qwen3_path: Path, gemma4_path: Path, load: Callable[[Path], Model]
) -> None:
    for path, family in ((qwen3_path, QWEN3), (gemma4_path, GEMMA4)):
        model = load(path)
        for thinking in (None, True, False):
            prompt = chat_prompt(model, family, "hi", system="s", thinking=thinking)
            assert not prompt.inside_thinking


def _small_thinker(path: Path, template: str) -> Path:
    """A ChatML llama whose last pieces are `<think>` and `</think>`, user-defined."""
    vocabulary = ggufs.llama_vocabulary()
    tokens, types = list(vocabulary.tokens), list(vocabulary.types)
    for at, text in ((-5, "<think>"), (-4, "</think>")):
        tokens[at], types[at] = text, TokenType.USER_DEFINED
    merges = [m for m in vocabulary.merges if "".join(m.split(" ")) in tokens]
    return ggufs.build_llama(
        path,
        template=template,
        overrides={
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [int(kind) for kind in types],
            "tokenizer.ggml.merges": merges,
        },
    )


# -- templates of files --------------------------------------------------------------------------


def test_a_file_without_a_template_can_not_chat(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    model = load(ggufs.build_llama(tmp_path / "l.gguf", template=None))
    with pytest.raises(TemplateError, match="no chat template"):
        chat_prompt(model, GENERIC, "hi", system=None, thinking=None)


def test_a_file_with_a_hostile_template_can_not_chat(
    tmp_path: Path, load: Callable[[Path], Model]
) -> None:
    hostile = "{{ cycler.__init__.__globals__.os.system('true') }}"
    model = load(ggufs.build_llama(tmp_path / "l.gguf", template=hostile))
    with pytest.raises(TemplateError, match="not safe"):
        chat_prompt(model, GENERIC, "hi", system=None, thinking=None)
