"""Loads models by path or built-in name, and what drafts for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fucina_cli import builtin
from fucina_cli.errors import InputError
from fucina_cli.families.family import Family
from fucina_cli.families.registry import WrongFamily, check_family, families, family_of
from fucina_cli.llama import header, native
from fucina_cli.llama.context import CACHE_TYPES, Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.runtime import Blame, Runtime, no_blame

if TYPE_CHECKING:
    from fucina_cli.drafting.automaton import Reference
    from fucina_cli.drafting.speculation import Speculation

#: Most tokens of one reference, which bounds the memory of its index.
_MOST_TOKENS = 2_000_000


def model_path(part: str, name: str, family: Family | None) -> Path:
    """The file that a model's name stands for.

    Raises InputError about `part` where the name is that of the built-in model and the family has
    none, or is not known.
    """
    if not name:
        raise InputError(part, "the path is empty; give a .gguf file")
    if name != builtin.NAME:
        return Path(name)
    path = None if family is None else builtin.builtin_path(family.name)
    if path is None:
        with_one = [f for f in families() if builtin.builtin_path(f.name)]
        path_of_one = f"the path of a .gguf file (./{name} for one of that name)"
        if family is None:
            ways = [*(f'family="{f.name}"' for f in with_one), path_of_one]
            raise InputError(
                part, f"every family has a model of its own built in; give {_or(ways)}"
            )
        ways = [*(f"{f.command} {name}" for f in with_one), path_of_one]
        raise InputError(part, f"{family.command} has no built-in model; give {_or(ways)}")
    return path


def load_model(
    name: str,
    family: Family | None,
    runtime: Runtime,
    *,
    vocab_only: bool = False,
    blame: Blame = no_blame,
) -> tuple[Model, Family]:
    """Load a model for `family`, or for the family of its architecture.

    Raises InputError that names the file.
    """
    part = f"'{name}'"
    path = model_path(part, name, family)
    try:
        architecture = header.architecture(path)
        if family is not None and architecture is not None:
            check_family(family, architecture)
        with blame(part):
            native.library(exact=runtime.exact)
            model = Model(
                path,
                exact=runtime.exact,
                gpu_layers=_gpu_layers(runtime),
                vocab_only=vocab_only,
            )
        if family is not None:
            check_family(family, model.architecture)
    except (ModelError, WrongFamily) as error:
        raise InputError(part, str(error)) from None
    return model, family or family_of(model.architecture)


def cache_types(runtime: Runtime) -> tuple[str, str] | None:
    """Element types of K and V from `K,V` or one name for both; None for those of exactness.

    Raises InputError for a name that is not known.
    """
    if runtime.cache_type is None:
        return None
    names = [part.strip() for part in runtime.cache_type.split(",")]
    if len(names) == 1:
        names *= 2
    known = sorted(CACHE_TYPES)
    if len(names) != 2 or any(name not in known for name in names):
        raise InputError(
            "cache_type",
            f"'{runtime.cache_type[:40]}' is not a type or K,V pair of: {', '.join(known)}",
        )
    return names[0], names[1]


class Drafting:
    """Draft model and documents of a model, loaded once for all of its contexts.

    Args:
        model: whose tokens are drafted.
        runtime: names the draft model and how it runs.
        texts: documents to draft from, by name.
        blame: as in `load_model`.

    Raises InputError for a draft model or a document that can't be used.
    """

    def __init__(
        self, model: Model, runtime: Runtime, texts: Mapping[str, str], blame: Blame = no_blame
    ) -> None:
        self._runtime, self._blame = runtime, blame
        self._draft_model = self._load(model)
        #: Whether the model can forget rejected drafts; otherwise there are none.
        self.possible = model.can_rewind
        self._references = {name: _index(model, name, text) for name, text in texts.items()}

    def of(self, context: Context) -> Speculation | None:
        """A Speculation for `context`; None where drafts are not possible. Raises InputError."""
        from fucina_cli.drafting.speculation import Speculation

        if not self.possible:
            return None
        return Speculation(
            cascade=self._runtime.spec or bool(self._references),
            references=self._references,
            draft_context=self._draft_context(context),
        )

    def close(self) -> None:
        """Free the draft model."""
        if self._draft_model is not None:
            self._draft_model.close()

    def _load(self, model: Model) -> Model | None:
        """The draft model, checked against `model`."""
        from fucina_cli.drafting.draft_model import check_draft_model

        runtime = self._runtime
        if runtime.draft_model is None:
            return None
        path = model_path("draft_model", runtime.draft_model, family_of(model.architecture))
        try:
            with self._blame("draft_model"):
                draft_model = Model(path, exact=runtime.exact, gpu_layers=_gpu_layers(runtime))
                check_draft_model(model, draft_model)
        except ModelError as error:
            raise InputError("draft_model", str(error)) from None
        return draft_model

    def _draft_context(self, context: Context) -> Context | None:
        if self._draft_model is None:
            return None
        try:
            with self._blame("draft_model"):
                return Context(
                    self._draft_model,
                    n_ctx=context.n_ctx,
                    n_slots=context.n_slots,
                    threads=self._runtime.threads,
                )
        except ModelError as error:
            raise InputError("draft_model", str(error)) from None


def check_references(names: Iterable[str]) -> None:
    """Raise InputError for a document without a name or with that of a source of drafts."""
    from fucina_cli.drafting.cascade import OWN_NAMES

    for name in names:
        if not name:
            raise InputError("spec_ref", "the path is empty; give a file")
        if name in OWN_NAMES:
            raise InputError("spec_ref", f"'{name}' is a name of the sources; write './{name}'")


def _index(model: Model, name: str, text: str) -> Reference:
    from fucina_cli.drafting.automaton import Reference

    tokens = model.vocabulary.tokenize(text)
    if len(tokens) > _MOST_TOKENS:
        raise InputError(
            "spec_ref",
            f"'{name}' has {len(tokens)} tokens, {_MOST_TOKENS} can be indexed; give a part of it",
        )
    return Reference(tokens)


def _gpu_layers(runtime: Runtime) -> int:
    return -1 if runtime.gpu_layers is None else runtime.gpu_layers


def _or(ways: list[str]) -> str:
    return ", or ".join(ways)
