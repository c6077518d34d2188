"""The recipe of the built-in models, where torch is installed: pip install '.[train]'."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the recipe needs: pip install '.[train]'")
pytest.importorskip("tokenizers", reason="the recipe needs: pip install '.[train]'")

from fucina_cli.builtin import builtin_path  # noqa: E402
from fucina_cli.llama.context import Context, Row  # noqa: E402
from fucina_cli.llama.model import Model  # noqa: E402
from fucina_cli.tiny.corpus.mixture import documents  # noqa: E402
from fucina_cli.tiny.recipe.batches import batches, written  # noqa: E402
from fucina_cli.tiny.recipe.export import load  # noqa: E402
from fucina_cli.tiny.recipe.formats import FORMATS  # noqa: E402
from fucina_cli.tiny.recipe.networks import CONFIGS, Network  # noqa: E402
from fucina_cli.tiny.recipe.training import train  # noqa: E402
from fucina_cli.tiny.recipe.vocabulary import Vocabulary, learn  # noqa: E402
from tests.support.reference import Reference  # noqa: E402

FAMILIES = ("qwen3", "gemma4")
ODD = [
    "  two  spaces\n\n\nand 12345 digits\t",
    "naïve café, 日本 🎉",
    "a\r\nb",
    "'s 're 'LL",
    "   ",
    "\n \n",
]


@pytest.fixture(scope="module", params=FAMILIES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF of the recipe after three steps, made by its command."""
    path = tmp_path_factory.mktemp("recipe") / f"{request.param}.gguf"
    command = [sys.executable, "-m", "fucina_cli.tiny.recipe", request.param, "--out", str(path)]
    done = subprocess.run([*command, "--steps", "3"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "step 2" in done.stderr
    assert done.stdout == ""
    return path


def vocabulary_of(family: str, size: int = 3000) -> Vocabulary:
    form = FORMATS[family]
    sample = itertools.islice(written(documents(0), form, 0), 6000)
    return learn(form, (part for pair in sample for part in pair), size)


def shipped(family: str) -> Path:
    path = builtin_path(family)
    assert path is not None
    return path


def test_the_command_makes_the_shipped_file_but_for_its_weights(made: Path) -> None:
    """Name, sizes, tokens, merges, template: all that the seed and the corpus decide at once."""
    fresh, ours = gguf.GGUFReader(made), gguf.GGUFReader(shipped(made.stem))
    assert list(fresh.fields) == list(ours.fields)
    for name, field in fresh.fields.items():
        assert field.contents() == ours.fields[name].contents(), name
    assert [(t.name, tuple(t.shape), t.tensor_type) for t in fresh.tensors] == [
        (t.name, tuple(t.shape), t.tensor_type) for t in ours.tensors
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_network_computes_what_llama_cpp_computes_from_the_shipped_file(family: str) -> None:
    path = shipped(family)
    model, network = Model(path), load(path)
    text = " ".join(given + answer for given, answer in _plain_texts(family, 60))
    tokens = model.vocabulary.tokenize(text)[:300]
    assert len(tokens) == 300
    context = Context(model, n_ctx=512, cache_type=("f32", "f32"), max_logits_rows=300)
    context.decode([Row(token, at, 0, True) for at, token in enumerate(tokens)])
    ours = np.array([context.logits(row) for row in range(len(tokens))])
    with torch.no_grad():
        expected = network(torch.tensor([tokens]))[0].numpy()
    # 8-bit activations are the only difference: a fiftieth of the logits' spread on average.
    assert np.abs(ours - expected).mean() < 0.02 * expected.std()
    assert (ours.argmax(1) == expected.argmax(1)).mean() > 0.97


@pytest.mark.parametrize("family", FAMILIES)
def test_the_network_and_the_numpy_reference_agree_to_float32(family: str) -> None:
    path = shipped(family)
    tokens = np.random.default_rng(0).integers(300, 5000, 160).tolist()
    with torch.no_grad():
        network = load(path)(torch.tensor([tokens]))[0].numpy()
    np.testing.assert_allclose(network, Reference(path).logits(tokens), atol=2e-3)


def _plain_texts(family: str, n: int) -> list[tuple[str, str]]:
    """Texts of the corpus without the family's markers."""
    form = FORMATS[family]
    pairs = itertools.islice(written(documents(77), form, 77), n)
    specials = {text for text, _ in form.specials}
    return [
        tuple("".join(p for p in form.pieces(part) if p not in specials) for part in pair)  # type: ignore[misc]
        for pair in pairs
    ]


def test_training_tokenizes_as_llama_cpp_does(made: Path) -> None:
    family = made.stem
    config, form = CONFIGS[family], FORMATS[family]
    sample = itertools.islice(written(documents(0), form, 0), 60_000)
    vocabulary = learn(form, (part for pair in sample for part in pair), config.vocab)
    model = Model(made)
    markers = model.vocabulary.marker_ids(model.chat_template or "", frozenset())
    texts = [part for pair in _plain_texts(family, 300) for part in pair] + ODD
    assert markers
    assert vocabulary.encode(texts) == [model.vocabulary.tokenize(text) for text in texts]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_few_steps_learn_something_and_the_same_again_from_the_same_seed(family: str) -> None:
    vocabulary = vocabulary_of(family)
    config = replace(CONFIGS[family], vocab=3000, layers=3, width=64, hidden=96)

    def losses() -> list[float]:
        torch.manual_seed(1)
        network = Network(config)
        texts = written(documents(1), FORMATS[family], 1)
        found: list[float] = []
        train(
            network,
            batches(texts, vocabulary, 1024, 1),
            90,
            lambda _s, loss, _r: found.append(loss),
        )
        return found

    first, again = losses(), losses()
    assert first == again
    assert sum(first[-5:]) / 5 < first[0] - 1.5  # nats


@pytest.mark.parametrize(
    ("flags", "named"), [(["--steps", "0", "--out", "x"], "--steps"), (["--out", "/no/x"], "--out")]
)
def test_bad_flags_are_told_before_anything_is_trained(flags: list[str], named: str) -> None:
    command = [sys.executable, "-m", "fucina_cli.tiny.recipe", "qwen3", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert named in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
